"""A staged scenario as plain Python data, in the form that the harness plays."""

import json
from typing import Any

from truehit.adapters.vllm.inside.driver.repairs import STATE_GRID
from truehit.adapters.vllm.write_tests.finding import Staged, UnwritableError
from truehit.spec.geometry import BlockDrop, Dense, Geometry, Group, Interval, Lookahead
from truehit.spec.scenario import Abort, Action, After, AtStep, Request, ResetCache

WIDTH = 96


def plain(staged: Staged) -> dict[str, Any]:
    """The data. A repair that is a number of the configuration is told as that number.

    Raises:
        UnwritableError: an action that no engine can be told to take.
    """
    scenario = staged.scenario
    geometry = scenario.geometry
    data = _numbers(geometry) | {
        "policy": scenario.policy.value,
        "max_steps": scenario.max_steps,
        "groups": [_group(group) for group in geometry.groups],
        "requests": [_request(request) for request in scenario.requests],
        "actions": [_action(action) for action in scenario.actions],
    }
    if isinstance(geometry.drop, Lookahead) and geometry.drop.tokens > 1:
        data["drafter_modules"] = geometry.drop.tokens
    if STATE_GRID in staged.repairs and geometry.grid_tokens is not None:
        data["configured_block_tokens"] = geometry.grid_tokens
    return data


def changes(before: dict[str, Any], now: dict[str, Any]) -> dict[str, Any]:
    """What has to be laid over `before` to play as `now`."""
    gone = before.keys() - now.keys()
    if gone:
        raise UnwritableError(f"{', '.join(sorted(gone))}: a repair cannot be taken back")
    return {name: value for name, value in now.items() if before.get(name, ...) != value}


def _numbers(geometry: Geometry) -> dict[str, Any]:
    match geometry.drop:
        case Lookahead():
            drop = "lookahead"
        case BlockDrop():
            drop = "block"
        case _:
            drop = "none"
    match geometry.retention:
        case Dense():
            retention = None
        case Interval(tokens):
            retention = tokens
        case _:
            retention = 0
    return {
        "budget_tokens": geometry.budget_tokens,
        "long_prefill_threshold_tokens": geometry.long_prefill_threshold_tokens or 0,
        "max_model_tokens": geometry.max_model_tokens,
        "max_running": geometry.max_running,
        "pool_blocks": geometry.pool_blocks,
        "reserve_full_sequence": geometry.reserve_full_sequence,
        "prefix_match_unit": geometry.hash_unit_tokens if geometry.fine_hits else None,
        "retention_interval": retention,
        "checkpoint_alignment_tokens": geometry.checkpoint_alignment_tokens,
        "drafts": geometry.drafts,
        "drop": drop,
    }


def _group(group: Group) -> dict[str, Any]:
    data: dict[str, Any] = {
        "name": group.name,
        "kind": group.kind.value,
        "block_tokens": group.block_tokens,
    }
    if group.window_tokens is not None:
        data["window_tokens"] = group.window_tokens
    return data | ({"drafted": True} if group.drafted else {})


def _request(request: Request) -> dict[str, Any]:
    data: dict[str, Any] = {
        "name": request.name,
        "prompt": [(segment.name, segment.tokens) for segment in request.segments],
        "output": request.output_name,
        "output_tokens": request.output_tokens,
    }
    match request.arrival:
        case AtStep(step):
            data["at"] = step
        case After(other, moment, delay):
            data["after"] = (other, moment.value, delay)
    if request.salt:
        data["salt"] = request.salt
    if request.priority:
        data["priority"] = request.priority
    if request.accepted:
        data["accepted"] = list(request.accepted)
    return data


def _action(action: Action) -> tuple[int, str, str]:
    match action:
        case Abort(step, request):
            return step, "abort", request
        case ResetCache(step):
            return step, "reset_cache", ""
        case _:
            raise UnwritableError(f"an engine cannot be told to {type(action).__name__.lower()}")


def literal(value: Any, indent: int = 0, used: int = 0) -> str:
    """Python source of plain data: on one line where it fits behind `used` columns."""
    short = _short(value)
    if len(short) + used <= WIDTH or not isinstance(value, dict | list):
        return short
    inner, pad = indent + 4, " " * (indent + 4)
    if isinstance(value, dict):
        lines = [
            f'{pad}"{name}": {literal(part, inner, inner + len(name) + 5)},'
            for name, part in value.items()
        ]
        return "{\n" + "\n".join(lines) + "\n" + " " * indent + "}"
    lines = [f"{pad}{literal(part, inner, inner + 1)}," for part in value]
    return "[\n" + "\n".join(lines) + "\n" + " " * indent + "]"


def quoted(text: str) -> str:
    """A string in double quotes."""
    return json.dumps(text, ensure_ascii=False)


def _short(value: Any) -> str:
    match value:
        case str():
            return quoted(value)
        case dict():
            return "{" + ", ".join(f'"{k}": {_short(v)}' for k, v in value.items()) + "}"
        case list():
            return "[" + ", ".join(_short(part) for part in value) + "]"
        case tuple():
            return "(" + ", ".join(_short(part) for part in value) + ")"
        case _:
            return repr(value)

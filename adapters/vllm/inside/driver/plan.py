"""A scenario as the driver needs it: plain data read from the public file form.

The file was checked by whoever sent it; what a real engine cannot be told (budgets of single steps,
pressure, failures of the device) is named in `refusal`.
"""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Group:
    """`window_tokens`: None unless it is a sliding window."""

    name: str
    kind: str
    block_tokens: int
    drafted: bool
    window_tokens: int | None


@dataclass(frozen=True, slots=True)
class Sent:
    """A request. `segments`: (stream, tokens) of the prompt. `after`: (request, moment, steps) or
    None; `at`: its step otherwise. `accepted`: drafts a decode step keeps; the last one repeats."""

    name: str
    segments: tuple[tuple[str, int], ...]
    output: str
    output_tokens: int
    salt: str
    priority: int
    at: int
    after: tuple[str, str, int] | None
    accepted: tuple[int, ...]

    @property
    def prompt_tokens(self) -> int:
        return sum(tokens for _, tokens in self.segments)


@dataclass(frozen=True, slots=True)
class Plan:
    """`actions`: (step, kind, request or None). `repairs`: defects to mend in memory before the
    run, by the names of `repairs.py`."""

    name: str
    geometry: dict[str, Any]
    groups: tuple[Group, ...]
    requests: tuple[Sent, ...]
    actions: tuple[tuple[int, str, str | None], ...]
    policy: str
    max_steps: int
    repairs: frozenset[str] = frozenset()


NOT_FOR_ENGINES = ("fail", "pressure", "preempt")


def refusal(data: dict[str, Any]) -> str | None:
    """What in the scenario cannot be asked of a real engine, or None."""
    if data.get("budgets"):
        return "budgets: an engine has one budget for all steps; leave them out"
    for action in data.get("actions", ()):
        if action["kind"] in NOT_FOR_ENGINES:
            return f"actions: an engine cannot be told to {action['kind']}; abort works"
    for request in data["requests"]:
        for field in ("shares", "external_tokens", "encoder_items"):
            if request.get(field):
                return f"request {request['name']}: {field} cannot be asked for; leave it out"
    return None


def plan_of(data: dict[str, Any]) -> Plan:
    """Read one scenario."""
    geometry = data["geometry"]
    return Plan(
        name=data["name"],
        geometry=geometry,
        groups=tuple(_group(one) for one in geometry["groups"]),
        requests=tuple(_request(one) for one in data["requests"]),
        actions=tuple((a["step"], a["kind"], a.get("request")) for a in data.get("actions", ())),
        policy=data.get("policy", "fcfs"),
        max_steps=data.get("max_steps", 10_000),
        repairs=frozenset(data.get("options", {}).get("repairs", ())),
    )


def _group(data: dict[str, Any]) -> Group:
    return Group(
        data["name"],
        data["kind"],
        data["block_tokens"],
        data.get("drafted", False),
        data.get("window_tokens"),
    )


def _request(data: dict[str, Any]) -> Sent:
    name = data["name"]
    return Sent(
        name=name,
        segments=tuple(_segment(text) for text in data["segments"]),
        output=data.get("output") or f"output:{name}",
        output_tokens=data.get("output_tokens", 1),
        salt=data.get("salt", ""),
        priority=data.get("priority", 0),
        at=data.get("at") or 0,
        after=_after(data["after"]) if data.get("after") else None,
        accepted=tuple(data.get("accepted", ())),
    )


def _segment(text: str) -> tuple[str, int]:
    name, _, tokens = text.rpartition(":")
    return name, int(tokens)


def _after(text: str) -> tuple[str, str, int]:
    """`a.finished` or `a.finished+2`."""
    whole, _, steps = text.partition("+")
    request, _, moment = whole.rpartition(".")
    return request, moment, int(steps or 0)

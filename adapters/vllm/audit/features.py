"""What a run exercised: features of its scenario and near misses of its trace.

Pairs of them that were not seen before make a scenario worth mutating, and they are the rows of the
coverage table.
"""

from collections.abc import Iterator
from itertools import combinations

from truehit.spec.geometry import BlockDrop, Dense, Interval, Kind, Lookahead
from truehit.spec.scenario import Abort, AtStep, Policy, ResetCache, Scenario
from truehit.spec.trace import (
    Complete,
    Copy,
    CopyWhy,
    End,
    EndWhy,
    EngineError,
    Event,
    Lookup,
    Schedule,
    Unpublish,
)


def features(scenario: Scenario, trace: tuple[Event, ...]) -> frozenset[str]:
    """Names of what is switched on, and of what nearly went wrong."""
    return frozenset((*_of_scenario(scenario), *_of_trace(scenario, trace)))


def pairs(names: frozenset[str]) -> frozenset[tuple[str, str]]:
    """Every two of them, each once."""
    return frozenset(combinations(sorted(names), 2))


def _of_scenario(scenario: Scenario) -> Iterator[str]:
    geometry = scenario.geometry
    kinds = [group.kind for group in geometry.groups]
    sizes = {group.block_tokens for group in geometry.groups}
    checks = {
        "unequal blocks": len(sizes) > 1,
        "two state groups": kinds.count(Kind.RECURRENT_STATE) > 1,
        "two attention groups": kinds.count(Kind.FULL_ATTENTION) > 1,
        "circular buffer": Kind.CIRCULAR_BUFFER in kinds,
        "several drafter modules": geometry.lookahead_tokens > 1,
        "sliding window": Kind.SLIDING_WINDOW in kinds,
        "fine hits": geometry.fine_hits,
        "drafts": geometry.drafts > 0,
        "block drop": isinstance(geometry.drop, BlockDrop),
        "lookahead keys": isinstance(geometry.drop, Lookahead),
        "rejected drafts": any(
            r.accepted and min(r.accepted) < geometry.drafts for r in scenario.requests
        ),
        "retention dense": isinstance(geometry.retention, Dense),
        "retention interval": isinstance(geometry.retention, Interval),
        "checkpoints": geometry.checkpoints,
        "threshold": geometry.long_prefill_threshold_tokens is not None,
        "no reservation": not geometry.reserve_full_sequence,
        "priorities": scenario.policy is Policy.PRIORITY,
        "abort": any(isinstance(action, Abort) for action in scenario.actions),
        "reset": any(isinstance(action, ResetCache) for action in scenario.actions),
        "salts": len({request.salt for request in scenario.requests}) > 1,
        "same-step arrival": sum(r.arrival == AtStep(0) for r in scenario.requests) > 1,
        "conversation": any(
            any(segment.name.startswith("output:") for segment in request.segments)
            for request in scenario.requests
        ),
        "one at a time": geometry.max_running == 1,
        "budget below a block": geometry.budget_tokens < (geometry.grid_tokens or 0),
    }
    return (name for name, holds in checks.items() if holds)


def _of_trace(scenario: Scenario, trace: tuple[Event, ...]) -> Iterator[str]:
    size = scenario.geometry.grid_tokens or 1
    for event in trace:
        match event:
            case Schedule():
                yield from _of_chunk(event, size)
            case End(why=EndWhy.PREEMPT):
                yield "preemption"
            case Copy(why=why):
                yield f"copy: {CopyWhy(why).value}"
            case Unpublish(why=why):
                yield f"keys go: {why}"
            case Lookup() if 0 < event.hit_tokens < event.cap_tokens - size:
                yield "hit far below the cap"
            case Lookup() if event.hit_tokens:
                yield "hit"
            case Complete() if event.empty_free_blocks == 0:
                yield "nothing empty is free"
            case EngineError():
                yield "engine error"


def _of_chunk(event: Schedule, size: int) -> Iterator[str]:
    if event.start == event.end:
        yield f"offer unused: {event.cut}"
        return
    if event.start % size and event.end // size > event.start // size:
        yield "a chunk from the middle of a block passes its end"
    if event.end // size - event.start // size > 1:
        yield "a chunk passes several blocks"
    if event.start < event.prefill_end and event.end % size:
        yield "a chunk ends inside a block"

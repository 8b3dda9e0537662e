"""Make a symptom small, and see what it depends on."""

from collections.abc import Callable
from dataclasses import replace

from truehit.adapters.vllm.audit.draw import can_start
from truehit.adapters.vllm.audit.reading import Symptom
from truehit.proofs.shrink import shrink
from truehit.spec.scenario import After, Scenario
from truehit.spec.trace import Event, Schedule

Run = Callable[[Scenario], tuple[tuple[Event, ...], tuple[Symptom, ...]]]
"""A scenario -> its trace and its symptoms."""

SHRINK_TRIES = 200


def prefill_chunks(trace: tuple[Event, ...]) -> int:
    """Chunks of prefill in a trace."""
    return sum(
        1
        for event in trace
        if isinstance(event, Schedule)
        and event.start < event.end
        and event.start < event.prefill_end
    )


def has_shape(found: tuple[Symptom, ...], shape: str, class_: str) -> bool:
    """A symptom of this shape and class is among them."""
    return any(one.shape == shape and one.violation_class == class_ for one in found)


def smallest(scenario: Scenario, symptom: Symptom, run: Run, tries: int = SHRINK_TRIES) -> Scenario:
    """The smallest scenario found in which a symptom of this shape and class is still there."""

    def chunks_if_failing(candidate: Scenario) -> int | None:
        if not can_start(candidate):
            return None
        trace, found = run(candidate)
        if not has_shape(found, symptom.shape, symptom.violation_class):
            return None
        return prefill_chunks(trace)

    return shrink(scenario, chunks_if_failing, tries)


def trimmed(scenario: Scenario, symptom: Symptom, run: Run) -> Scenario:
    """Without the requests and actions that the symptom does not need, and no longer than it takes
    to show it: cheap, where `smallest` is thorough."""
    best = replace(scenario, max_steps=symptom.step + 1)
    if not _still_there(best, symptom, run):
        best = scenario
    for request in reversed(scenario.requests):
        candidate = without_request(best, request.name)
        if candidate.requests and _still_there(candidate, symptom, run):
            best = candidate
    for action in scenario.actions:
        candidate = replace(best, actions=tuple(a for a in best.actions if a != action))
        if candidate != best and _still_there(candidate, symptom, run):
            best = candidate
    return best


def _still_there(scenario: Scenario, symptom: Symptom, run: Run) -> bool:
    return can_start(scenario) and has_shape(
        run(scenario)[1], symptom.shape, symptom.violation_class
    )


def without_request(scenario: Scenario, name: str) -> Scenario:
    """Those that waited for it wait for what it waited for."""
    gone = next((r for r in scenario.requests if r.name == name), None)
    if gone is None:
        return scenario
    rest = tuple(
        replace(r, arrival=gone.arrival)
        if isinstance(r.arrival, After) and r.arrival.request == name
        else r
        for r in scenario.requests
        if r.name != name
    )
    actions = tuple(a for a in scenario.actions if getattr(a, "request", None) != name)
    return replace(scenario, requests=rest, actions=actions)

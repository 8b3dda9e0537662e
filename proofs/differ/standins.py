"""Subjects made from the oracle: itself, and itself with one planted fault a function.

A check that cannot fail is a defect: the differential has to pass the first and to find every
other. Each fault is small and honest about when it shows."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import cast

from truehit.proofs.differ.subject import Traced
from truehit.reference.ruleset import RULE_SETS
from truehit.reference.run import run
from truehit.spec.scenario import Scenario
from truehit.spec.trace import Complete, End, Event, Header, Publish, Schedule, Table, Write

Change = Callable[[list[Event]], Iterator[Event]]


def oracle(scenario: Scenario, rules: str) -> Traced:
    """No fault."""
    result = run(scenario, RULE_SETS[rules])
    return Traced(result.events, result.steps)


def follows_other_rules(scenario: Scenario, rules: str, followed: str) -> Traced:
    """Follows other rules than it is told to, and does not say so."""
    result = run(scenario, RULE_SETS[followed])
    header, *rest = result.events
    assert isinstance(header, Header)
    return Traced((replace(header, rules=rules), *rest), result.steps)


def keeps_boundary_only(scenario: Scenario, rules: str) -> Traced:
    """A real defect in retention."""
    return follows_other_rules(scenario, rules, "boundary-only")


def stops_from_misaligned(scenario: Scenario, rules: str) -> Traced:
    """A real defect in the splitter."""
    return follows_other_rules(scenario, rules, "stop-from-misaligned")


def shows_keys_early(scenario: Scenario, rules: str) -> Traced:
    """A real defect in when keys are visible."""
    return follows_other_rules(scenario, rules, "schedule-time-keys")


def _changed(scenario: Scenario, rules: str, change: Change) -> Traced:
    traced = oracle(scenario, rules)
    return Traced(tuple(change(list(traced.events))), traced.steps)


def drops_publish(scenario: Scenario, rules: str) -> Traced:
    """The second publication of a request is lost."""

    def change(events: list[Event]) -> Iterator[Event]:
        seen: set[str] = set()
        dropped = False
        for event in events:
            if isinstance(event, Publish) and event.request in seen and not dropped:
                dropped = True
                continue
            if isinstance(event, Publish):
                seen.add(event.request)
            yield event

    return _changed(scenario, rules, change)


def writes_twice(scenario: Scenario, rules: str) -> Traced:
    """A write that begins inside a block is said twice."""

    def change(events: list[Event]) -> Iterator[Event]:
        for event in events:
            yield event
            if isinstance(event, Write) and event.source is not None and event.start % 2:
                yield event

    return _changed(scenario, rules, change)


def miscounts_pool(scenario: Scenario, rules: str) -> Traced:
    """The count of referenced blocks is one too many once somebody has finished."""

    def change(events: list[Event]) -> Iterator[Event]:
        ended = False
        for event in events:
            ended = ended or isinstance(event, End)
            if isinstance(event, Complete) and ended and event.referenced_blocks is not None:
                event = replace(event, referenced_blocks=event.referenced_blocks + 1)
            yield event

    return _changed(scenario, rules, change)


def ends_early(scenario: Scenario, rules: str) -> Traced:
    """The last step is missing from the trace of a run of five steps and more."""
    traced = oracle(scenario, rules)
    if traced.steps < 5:
        return traced
    kept = tuple(event for event in traced.events if event.step < traced.steps - 1)
    return Traced(kept, traced.steps)


def goes_on(scenario: Scenario, rules: str) -> Traced:
    """A run of several requests is said to have taken one step more than its trace shows."""
    traced = oracle(scenario, rules)
    more = 1 if len(scenario.requests) > 1 else 0
    return Traced(traced.events, traced.steps + more)


def counts_in_floats(scenario: Scenario, rules: str) -> Traced:
    """Numbers that are equal and are not whole numbers: a trace file would differ."""

    def change(events: list[Event]) -> Iterator[Event]:
        for event in events:
            if isinstance(event, Table) and event.tokens:
                event = replace(event, tokens=cast(int, float(event.tokens)))
            yield event

    return _changed(scenario, rules, change)


def raises(scenario: Scenario, rules: str) -> Traced:
    """Gives up when a chunk is cut by the splitter."""
    traced = oracle(scenario, rules)
    for event in traced.events:
        if isinstance(event, Schedule) and event.cut == "split":
            raise IndexError(f"column {event.end} of the table of {event.request}")
    return traced


FAULTY = (
    keeps_boundary_only,
    stops_from_misaligned,
    shows_keys_early,
    drops_publish,
    writes_twice,
    miscounts_pool,
    ends_early,
    goes_on,
    counts_in_floats,
    raises,
)
"""Every one must be found, whatever the differential draws first."""


def place_of(function: Callable[[Scenario, str], Traced]) -> str:
    """The name under which a stand-in is a subject."""
    return f"{function.__module__}:{function.__name__}"

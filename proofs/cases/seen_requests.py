"""What became of each request: its lookups, its chunks, its end; and how the run ended."""

import re
from collections.abc import Iterator, Sequence

from truehit.spec.trace import (
    Complete,
    End,
    EndWhy,
    EngineError,
    Event,
    Lookup,
    Schedule,
    Submit,
)


def _admissions(events: Sequence[Event]) -> dict[str, list[Lookup]]:
    """The lookup of every admission: the last one before the first chunk of a residency."""
    asked: dict[str, Lookup] = {}
    admitted: dict[str, list[Lookup]] = {}
    for event in events:
        match event:
            case Lookup():
                asked[event.request] = event
            case Schedule() if event.end > event.start and event.request in asked:
                admitted.setdefault(event.request, []).append(asked.pop(event.request))
            case _:
                pass
    return admitted


def _first(events: Sequence[Event]) -> Iterator[tuple[str, Lookup]]:
    return ((name, lookups[0]) for name, lookups in _admissions(events).items())


def hits(events: Sequence[Event]) -> dict[str, int]:
    """Request -> tokens of its first admission that came from the cache or from outside."""
    return {name: lookup.hit_tokens for name, lookup in _first(events)}


def later_hits(events: Sequence[Event]) -> dict[str, list[int]]:
    """Request -> the hits of its admissions after preemptions."""
    admitted = _admissions(events).items()
    return {name: [each.hit_tokens for each in lookups[1:]] for name, lookups in admitted}


def reasons(events: Sequence[Event]) -> dict[str, str | None]:
    """Request -> why its first admission hit less than it shares; None: it did not."""
    return {name: _reason(lookup) for name, lookup in _first(events)}


def _reason(lookup: Lookup) -> str | None:
    if lookup.vetoed_by is not None:
        return f"{lookup.reason}({lookup.vetoed_by})"
    return lookup.reason


def junctions(events: Sequence[Event]) -> dict[str, int | None]:
    """Request -> what attention offered beyond its first hit; None: nothing."""
    return {name: lookup.junction_tokens for name, lookup in _first(events)}


def reaches(events: Sequence[Event]) -> dict[str, dict[str, int]]:
    """Request -> group -> the largest position it could resume at, at the first admission."""
    return {
        name: {reach.group: reach.reach_tokens for reach in lookup.reaches}
        for name, lookup in _first(events)
    }


def carve(events: Sequence[Event]) -> dict[str, list[int]]:
    """Request -> the ends of its prefill chunks, of all residencies."""
    found: dict[str, list[int]] = {}
    for event in events:
        if isinstance(event, Schedule) and event.start < min(event.end, event.prefill_end):
            found.setdefault(event.request, []).append(event.end)
    return found


def waited(events: Sequence[Event]) -> dict[str, list[str]]:
    """Request -> why it got nothing, for each step in which it was asked and got nothing."""
    found: dict[str, list[str]] = {}
    for event in events:
        match event:
            case Submit():
                found.setdefault(event.request, [])
            case Schedule() if event.end == event.start:
                found[event.request].append(event.reason or "")
            case _:
                pass
    return found


def finished(events: Sequence[Event]) -> dict[str, int]:
    """Request -> the step that finished it."""
    ends = [event for event in events if isinstance(event, End)]
    return {event.request: event.step for event in ends if event.why == EndWhy.FINISH}


def preempted(events: Sequence[Event]) -> dict[str, int]:
    """Request -> how often its blocks were taken back."""
    found: dict[str, int] = {}
    for event in events:
        match event:
            case Submit():
                found.setdefault(event.request, 0)
            case End() if event.why == EndWhy.PREEMPT:
                found[event.request] += 1
            case _:
                pass
    return found


def refused(events: Sequence[Event]) -> dict[str, list[int]]:
    """Request -> the numbers in the sentence that refuses it."""
    ends = [event for event in events if isinstance(event, End)]
    return {
        event.request: [int(number) for number in re.findall(r"\d+", event.message)]
        for event in ends
        if event.why == EndWhy.REFUSED
    }


def pool(events: Sequence[Event]) -> dict[str, int | None]:
    """The engine's own count of its pool when the trace ended."""
    last = [event for event in events if isinstance(event, Complete)][-1]
    return {
        "referenced": last.referenced_blocks,
        "keyed_free": last.keyed_free_blocks,
        "empty_free": last.empty_free_blocks,
    }


def run(events: Sequence[Event]) -> dict[str, int | list[str]]:
    """Steps of the run, tokens that came from the cache or from outside over all admissions, and
    what the device complained of."""
    admitted = _admissions(events).values()
    return {
        "steps": sum(1 for event in events if isinstance(event, Complete)),
        "hit_tokens": sum(lookup.hit_tokens for lookups in admitted for lookup in lookups),
        "errors": [event.message for event in events if isinstance(event, EngineError)],
    }

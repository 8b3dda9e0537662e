"""What the tests of the oracle share: small geometries, requests, and runs judged by all laws."""

from collections.abc import Iterable
from dataclasses import replace
from math import gcd
from typing import TypeVar

from truehit.reference.ruleset import RULE_SETS
from truehit.reference.run import Run, Served
from truehit.reference.run import run as run_scenario
from truehit.spec.geometry import BlockDrop, Drop, DropCap, Geometry, Group, Kind, NoDrop
from truehit.spec.laws.judge import Verdict, check_trace
from truehit.spec.scenario import Action, After, Arrival, AtStep, Moment, Request, Scenario
from truehit.spec.tokens import Segment
from truehit.spec.trace import (
    Complete,
    End,
    Lookup,
    Publish,
    Schedule,
    Table,
    TableOp,
)

AnyEvent = TypeVar("AnyEvent")

CLAMPED = BlockDrop(DropCap.CLAMPED)
MARGIN = BlockDrop(DropCap.MARGIN)


def hybrid(state: int, attention: int | None = None, drop: Drop | None = None) -> Geometry:
    """One full-attention group (drafted if something drops) and one state group; coarse hits."""
    pages = state if attention is None else attention
    groups = (
        Group("attention", Kind.FULL_ATTENTION, pages, drafted=isinstance(drop, BlockDrop)),
        Group("state", Kind.RECURRENT_STATE, state),
    )
    return Geometry(groups, gcd(pages, state), drop=NoDrop() if drop is None else drop)


def fine(geometry: Geometry, unit: int) -> Geometry:
    """The same with hits at every `unit` tokens."""
    return replace(geometry, fine_hits=True, hash_unit_tokens=unit)


def request(name: str, *parts: str, arrival: Arrival | None = None, output: int = 1) -> Request:
    """A request whose prompt is `doc:48`, `tail:5`, …; it arrives at step 0 by default."""
    segments = tuple(
        Segment(name, int(tokens)) for name, tokens in (p.rsplit(":", 1) for p in parts)
    )
    return Request(name, segments, output_tokens=output, arrival=arrival or AtStep(0))


def in_turn(*requests: Request) -> tuple[Request, ...]:
    """Each arrives after the one before has finished."""
    first, *rest = requests
    turns = [first]
    for later in rest:
        turns.append(replace(later, arrival=After(turns[-1].name, Moment.FINISHED)))
    return tuple(turns)


def sends(prompt: int, count: int, output: int = 1) -> tuple[Request, ...]:
    """The same prompt, again and again: `send-1`, `send-2`, …"""
    return in_turn(
        *(request(f"send-{n + 1}", f"doc:{prompt}", output=output) for n in range(count))
    )


def scenario(
    geometry: Geometry, requests: Iterable[Request], *actions: Action, budgets: tuple[int, ...] = ()
) -> Scenario:
    """First come first served, without encoder."""
    return Scenario("test", geometry, tuple(requests), actions=actions, budgets=budgets)


def run(asked: Scenario, rules: str = "default") -> Run:
    """Run under a named rule set; nothing is judged."""
    return run_scenario(asked, RULE_SETS[rules])


def judged(asked: Scenario, rules: str = "default") -> Verdict:
    """What the laws say of the run."""
    return check_trace(run(asked, rules).events)


def lawful(asked: Scenario) -> Run:
    """Run under the default rules; every law holds and every request that arrived has ended."""
    result = run(asked)
    verdict = check_trace(result.events)
    assert [v.sentence for v in verdict.violations] == []
    assert verdict.open_requests == ()
    return result


def served(result: Run) -> dict[str, Served]:
    """What became of each request, by name."""
    return {one.name: one for one in result.served}


def hits(result: Run) -> list[int | None]:
    """The hit of each request, in order of submission."""
    return [one.hit for one in result.served]


def events(result: Run, kind: type[AnyEvent], name: str | None = None) -> list[AnyEvent]:
    """The events of one kind, of one request if a name is given."""
    found = [event for event in result.events if isinstance(event, kind)]
    return [e for e in found if name is None or getattr(e, "request", None) == name]


def chunks(result: Run, name: str) -> list[tuple[int, int, int]]:
    """(step, start, end) of every chunk of a request that got a token."""
    scheduled = events(result, Schedule, name)
    return [(e.step, e.start, e.end) for e in scheduled if e.end > e.start]


def tables(result: Run, name: str, op: TableOp, group: str = "state") -> list[Table]:
    """Table changes of one kind in one group of a request."""
    return [e for e in events(result, Table, name) if e.op == op and e.group == group]


def keys(result: Run, name: str, group: str = "state") -> list[tuple[int, int]]:
    """(step, position) of every key a request published in a group."""
    published = [e for e in events(result, Publish, name) if e.group == group]
    return [(e.step, tokens) for e in published for tokens, _ in e.keys]


def reasons(result: Run) -> list[str | None]:
    """The reason of every lookup, in order of the trace."""
    return [event.reason for event in events(result, Lookup)]


def ends(result: Run, name: str) -> list[str]:
    """Why a request left, each time."""
    return [event.why for event in events(result, End, name)]


def last_counts(result: Run) -> tuple[int | None, int | None, int | None]:
    """Referenced, keyed free and empty free blocks at the end of the trace."""
    last = events(result, Complete)[-1]
    return last.referenced_blocks, last.keyed_free_blocks, last.empty_free_blocks

"""Features by laws: in how many drawn runs a feature was on and a law had something to judge.

A run in which nothing is evicted says nothing about eviction, however equal its traces are. Each
law has one predicate over the oracle's events for the rare thing it is about, not for what happens
in every step; a feature that never met it is a hole, and is said."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from truehit.proofs.differ.draw import SWITCHES, Extra, Switches
from truehit.proofs.sweep.features import Feature
from truehit.spec.laws import LAWS
from truehit.spec.trace import (
    Complete,
    End,
    EndWhy,
    Event,
    Lookup,
    Miss,
    Publish,
    Read,
    Schedule,
    Table,
    TableOp,
    Unpublish,
    UnpublishWhy,
    Write,
)

MATTERS: Mapping[str, str] = {
    "provenance": "a chunk that starts inside a prefill publishes keys",
    "commit": "a key is awaited, or a request fails, is aborted or preempted",
    "uniqueness": "two requests publish a key of one length in one group",
    "grid": "the splitter ends a chunk, or a chunk exports a checkpoint",
    "seed": "a request resumes from a state that another one left",
    "reach": "a lookup matches something",
    "joint": "a hit above 0 is below what one of several groups could resume at",
    "admission": "a request does not fit yet, or is refused",
    "progress": "a request gets nothing, or less than is left of its prefill",
    "ownership": "a shared block is copied before it is written",
    "retirement": "columns of a running request become null",
    "conservation": "keys are evicted",
    "neutrality": "rejected drafts are overwritten, or a hit is read",
}
"""Law -> when it has something to judge."""

IMPOSSIBLE: Mapping[tuple[str, str], str] = {
    (Extra.NO_STATE, "grid"): "the grid is that of states",
    (Extra.NO_STATE, "seed"): "there is no state to resume from",
    (Feature.SLIDING_WINDOW, "ownership"): "hits end at whole blocks, which nobody writes to",
    (Extra.SECOND_WINDOW, "ownership"): "hits end at whole blocks, which nobody writes to",
}
"""(Feature, law) -> why the law has nothing to judge there."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """`runs`: by switch; `judged`: by switch and law."""

    runs: Counter[str]
    judged: Counter[tuple[str, str]]

    def holes(self) -> tuple[tuple[str, str], ...]:
        """Possible pairs of a switch and a law that no run had."""
        pairs = ((str(switch), law.name) for switch in SWITCHES for law in LAWS)
        return tuple(p for p in pairs if not self.judged[p] and p not in IMPOSSIBLE)


def covered(on: Switches, events: Iterable[Event]) -> Coverage:
    """The coverage of one run."""
    laws = matters(events)
    runs = Counter(str(switch) for switch in on)
    return Coverage(runs, Counter((str(switch), law) for switch in on for law in laws))


def summed(parts: Iterable[Coverage]) -> Coverage:
    """Over many runs."""
    runs: Counter[str] = Counter()
    judged: Counter[tuple[str, str]] = Counter()
    for part in parts:
        runs.update(part.runs)
        judged.update(part.judged)
    return Coverage(runs, judged)


def matters(events: Iterable[Event]) -> frozenset[str]:
    """The laws that had something to judge in a run."""
    found: set[str] = set()
    memory = _Memory({}, {}, set())
    for event in events:
        look = _LOOK.get(type(event))
        if look is not None:
            found.update(look(event, memory))
    return frozenset(found)


@dataclass(frozen=True, slots=True)
class _Memory:
    """`chunks`: the latest of each request; `publishers`: who published first, by group and length;
    `adopted`: requests whose next read of a state is of a hit."""

    chunks: dict[str, Schedule]
    publishers: dict[tuple[str, int], str]
    adopted: set[str]


def _lookup(event: Lookup, memory: _Memory) -> Iterator[str]:
    if event.reason == Miss.UNCOMMITTED:
        yield "commit"
    if any(reach.match_tokens for reach in event.reaches):
        yield "reach"
    if 0 < event.local_tokens < max(reach.reach_tokens for reach in event.reaches):
        yield "joint"


def _schedule(event: Schedule, memory: _Memory) -> Iterator[str]:
    memory.chunks[event.request] = event
    if event.cut == "split" or event.checkpoint_tokens:
        yield "grid"
    if event.reason == "does not fit yet":
        yield "admission"
    if event.start == event.end or event.end < event.prefill_end:
        yield "progress"


def _table(event: Table, memory: _Memory) -> Iterator[str]:
    match event.op:
        case TableOp.ADOPT:
            memory.adopted.add(event.request)
        case TableOp.COPY_ON_WRITE:
            yield "ownership"
        case TableOp.NULL:
            yield "retirement"


def _publish(event: Publish, memory: _Memory) -> Iterator[str]:
    chunk = memory.chunks.get(event.request)
    if chunk is not None and 0 < chunk.start < chunk.prefill_end:
        yield "provenance"
    for tokens, _ in event.keys:
        first = memory.publishers.setdefault((event.group, tokens), event.request)
        if first != event.request:
            yield "uniqueness"


def _unpublish(event: Unpublish, memory: _Memory) -> Iterator[str]:
    if event.why == UnpublishWhy.EVICTED:
        yield "conservation"


def _read(event: Read, memory: _Memory) -> Iterator[str]:
    if event.request in memory.adopted and event.tokens:
        yield "neutrality"
        if event.block:
            memory.adopted.discard(event.request)
            yield "seed"


def _write(event: Write, memory: _Memory) -> Iterator[str]:
    if event.rejected_tokens:
        yield "neutrality"


def _complete(event: Complete, memory: _Memory) -> Iterator[str]:
    if event.failed:
        yield "commit"


def _end(event: End, memory: _Memory) -> Iterator[str]:
    memory.adopted.discard(event.request)
    match event.why:
        case EndWhy.ABORT | EndWhy.PREEMPT:
            yield "commit"
        case EndWhy.REFUSED:
            yield "admission"


_LOOK: Mapping[type, Callable[[Any, _Memory], Iterator[str]]] = {
    Lookup: _lookup,
    Schedule: _schedule,
    Table: _table,
    Publish: _publish,
    Unpublish: _unpublish,
    Read: _read,
    Write: _write,
    Complete: _complete,
    End: _end,
}

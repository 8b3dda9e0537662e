"""How many parsed events a second the thirteen laws check on one core.

Run as `python tests/spec/laws/bench_laws.py`. Clean traces of a correct engine: requests that
decode beside each other with one draft; prefills in chunks of one state block, each sent twice; the
same with pages of 16 tokens, where an event holds many columns; and one request that decodes behind
a table of 60,000 columns. One line a trace; asserts only that no law is broken.
"""

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count

from truehit.spec.geometry import Geometry, Group, Kind
from truehit.spec.laws.judge import Judge
from truehit.spec.tokens import Segment
from truehit.spec.trace import (
    Complete,
    Copy,
    CopyWhy,
    Event,
    Header,
    Lookup,
    Plane,
    Publish,
    Read,
    Schedule,
    Submit,
    Table,
    TableOp,
    Write,
)


@dataclass(frozen=True, slots=True)
class Shape:
    """Tokens of a page and of a state block, and drafts a step."""

    page: int
    grid: int
    drafts: int

    def geometry(self) -> Geometry:
        full = Group("full", Kind.FULL_ATTENTION, self.page)
        state = Group("state", Kind.RECURRENT_STATE, self.grid)
        return Geometry(
            groups=(full, state),
            hash_unit_tokens=self.page,
            drafts=self.drafts,
            pool_blocks=200_000,
            reserve_full_sequence=False,
            budget_tokens=262_144,
        )


class Writer:
    """Writes what a correct engine would have done; fresh blocks for ever."""

    def __init__(self, shape: Shape) -> None:
        self.page, self.grid, self.drafts = shape.page, shape.grid, shape.drafts
        self.events: list[Event] = []
        self.step = 0
        self._fresh = count(1)
        self._order = count()
        self._pages: dict[str, list[int]] = {}
        self._states: dict[str, dict[int, int]] = {}
        self._last: dict[str, int] = {}
        self._filed: dict[tuple[str, int], int] = {}

    def take(self, blocks: int) -> tuple[int, ...]:
        return tuple(next(self._fresh) for _ in range(blocks))

    def submit(self, name: str, stream: str, tokens: int, output: int) -> None:
        segments = (Segment(stream, tokens),)
        self.events.append(Submit(self.step, name, segments, f"output:{name}", output))
        self._pages[name], self._states[name] = [], {}

    def adopt(self, name: str, source: str, tokens: int) -> None:
        """A hit at `tokens` on what `source` has filed."""
        pages = self._pages[source][: tokens // self.page]
        column, state = tokens // self.grid - 1, self._filed[(source, tokens)]
        self._pages[name], self._states[name] = list(pages), {column: state}
        self._last[name] = column
        for group, first, blocks in (("full", 0, tuple(pages)), ("state", column, (state,))):
            op = TableOp.ADOPT
            self.events.append(Table(self.step, name, group, op, first, blocks, tokens=tokens))

    def schedule(self, name: str, start: int, end: int, prefill_end: int) -> None:
        drafts = self.drafts if start >= prefill_end else 0
        event = Schedule(self.step, name, start, end, end - start, prefill_end, drafts)
        self.events.append(event)

    def grow(self, name: str, end: int) -> None:
        """The tables of a chunk that ends at `end`."""
        step, events = self.step, self.events
        pages, states = self._pages[name], self._states[name]
        new_pages = max(0, -(-end // self.page) - len(pages))
        running = -(-end // self.grid) - 1
        wanted = [c for c in range(running, running + 1 + self.drafts) if c not in states]
        events.append(Table(step, name, "", TableOp.ESTIMATE, count=new_pages + len(wanted)))
        if new_pages:
            blocks = self.take(new_pages)
            events.append(Table(step, name, "full", TableOp.PLACE, len(pages), blocks))
            pages.extend(blocks)
        for column in wanted:
            (block,) = self.take(1)
            states[column] = block
            events.append(Table(step, name, "state", TableOp.PLACE, column, (block,)))

    def run(self, name: str, start: int, end: int, accepted: int) -> None:
        """Reads, copies and writes of one chunk; the last `end - accepted` entries were
        rejected."""
        step, events, order = self.step, self.events, self._order
        pages, states = self._pages[name], self._states[name]
        running = -(-end // self.grid) - 1
        source = None
        if start:
            last = self._last[name]
            column = -(-start // self.page) - 1
            events.append(Read(step, next(order), name, "full", column, 0, start))
            events.append(Read(step, next(order), name, "state", last, states[last], start))
            source = states[last]
            if last != running:
                why = CopyWhy.PRE
                source = states[running]
                events.append(Copy(step, next(order), name, "state", states[last], source, why))
        first = start // self.page
        blocks = tuple(pages[first : -(-end // self.page)])
        rejected = end - accepted
        events.append(
            Write(
                step,
                next(order),
                name,
                "full",
                first,
                blocks,
                start,
                accepted,
                rejected_tokens=rejected,
            )
        )
        decode = self.drafts and end - start == 1 + self.drafts
        for ahead in reversed(range(end - start if decode else 1)):
            stop = min(start + 1 + ahead, accepted) if decode else end
            lost = start + 1 + ahead - stop if decode else 0
            block = states[running + ahead]
            events.append(
                Write(
                    step,
                    next(order),
                    name,
                    "state",
                    running + ahead,
                    (block,),
                    start,
                    stop,
                    source,
                    lost,
                )
            )
        self._last[name] = running + (accepted - start - 1 if decode else 0)

    def file(self, name: str, start: int, end: int) -> None:
        """Publish full pages, and the state at a boundary; give back what is behind it."""
        step, events = self.step, self.events
        pages, states = self._pages[name], self._states[name]
        keys = tuple(
            ((c + 1) * self.page, pages[c]) for c in range(start // self.page, end // self.page)
        )
        if keys:
            events.append(Publish(step, name, "full", keys))
        if end % self.grid == 0:
            self._filed[(name, end)] = states[end // self.grid - 1]
            events.append(Publish(step, name, "state", ((end, states[end // self.grid - 1]),)))
        for column in [c for c in states if c < (end - 1) // self.grid]:
            del states[column]
            events.append(Table(step, name, "state", TableOp.NULL, column, count=1))

    def close(self) -> None:
        self.events.append(Complete(self.step, self.step))
        self.step += 1
        self._order = count()

    def work(self, name: str, start: int, end: int, prefill_end: int) -> None:
        """A prefill chunk, or a decode step of one token, from schedule to keys."""
        self.schedule(name, start, end, prefill_end)
        self.grow(name, end)
        self.run(name, start, end, end)
        self.file(name, start, end)


def decoding(shape: Shape) -> list[Event]:
    """64 requests of 448 tokens decode to 748; every second draft is rejected."""
    writer = Writer(shape)
    names = [f"r{i}" for i in range(64)]
    for name in names:
        writer.submit(name, f"doc-{name}", 448, 3000)
        writer.events.append(Lookup(writer.step, name, 447, (), 0, 0, 0))
        writer.work(name, 0, 448, 448)
    writer.close()
    position = 448
    while position < 748:
        accepted = position + 1 + writer.step % 2
        for name in names:
            writer.schedule(name, position, position + 2, 448)
            writer.grow(name, position + 2)
        for name in names:
            writer.run(name, position, position + 2, accepted)
            writer.file(name, position, accepted)
        writer.close()
        position = accepted
    return writer.events


def prefilling(shape: Shape) -> list[Event]:
    """96 prompts of 16 state blocks each, one block a chunk; then each again, which hits 15."""
    writer = Writer(shape)
    total, hit = 16 * shape.grid, 15 * shape.grid
    for i in range(96):
        name = f"r{i}-1"
        writer.submit(name, f"doc-{i}", total, 4)
        writer.events.append(Lookup(writer.step, name, total - 1, (), 0, 0, 0))
        for start in range(0, total, shape.grid):
            writer.work(name, start, start + shape.grid, total)
            writer.close()
    for i in range(96):
        name = f"r{i}-2"
        writer.submit(name, f"doc-{i}", total, 4)
        writer.events.append(Lookup(writer.step, name, total - 1, (), hit, 0, hit))
        writer.schedule(name, hit, total, total)
        writer.adopt(name, f"r{i}-1", hit)
        writer.grow(name, total)
        writer.run(name, hit, total, total)
        writer.close()
    return writer.events


def long_table(shape: Shape) -> list[Event]:
    """One request behind 60,000 pages: a step looks at one page, not at all of them."""
    writer = Writer(shape)
    total = 60_000 * shape.page
    writer.submit("long", "doc", total, 20_000)
    writer.events.append(Lookup(0, "long", total - 1, (), 0, 0, 0))
    for start in range(0, total, shape.grid):
        writer.work("long", start, start + shape.grid, total)
        writer.close()
    for start in range(total, total + 12_000):
        writer.work("long", start, start + 1, total)
        writer.close()
    return writer.events


def measure(name: str, write: Callable[[Shape], list[Event]], shape: Shape) -> None:
    """Judge one trace; print events and columns a second of this process's CPU time."""
    events = write(shape)
    columns = sum(len(getattr(e, "blocks", ())) + len(getattr(e, "keys", ())) for e in events)
    judge = Judge(shape.geometry(), Header("bench", "none", {}, tuple(Plane)))
    gc.collect()
    start = time.process_time()
    for event in events:
        judge.feed(event)
    verdict = judge.finish()
    seconds = time.process_time() - start
    assert verdict.violations == (), verdict.violations[:3]
    rates = f"{len(events) / seconds:10,.0f} events/s {columns / seconds:12,.0f} columns/s"
    print(f"{name:32} {len(events):8,} events {seconds:6.2f} s {rates}")


if __name__ == "__main__":
    measure("decoding, 1600/1600, k = 1", decoding, Shape(1600, 1600, 1))
    measure("decoding, 16/512, k = 1", decoding, Shape(16, 512, 1))
    measure("prefilling, 1600/1600", prefilling, Shape(1600, 1600, 0))
    measure("prefilling, 16/512", prefilling, Shape(16, 512, 0))
    measure("60,000 columns, 16/512", long_table, Shape(16, 512, 0))

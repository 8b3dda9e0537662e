"""A trace written by hand: one method an event, in the words of the tests.

The default geometry has one attention group `full` and one state group `state`, blocks of 4 tokens,
in a pool of 32 blocks. `finish` judges what was written.
"""

from dataclasses import replace
from typing import Self

from truehit.spec.geometry import Geometry, Group, Kind
from truehit.spec.laws.judge import Judge, Verdict
from truehit.spec.tokens import Segment
from truehit.spec.trace import (
    Complete,
    Copy,
    End,
    Event,
    Header,
    Hold,
    Lookup,
    Plane,
    Publish,
    Read,
    Reset,
    Schedule,
    Submit,
    Table,
    TableOp,
    Transfer,
    Unpublish,
    Write,
)

FULL = Group("full", Kind.FULL_ATTENTION, 4)
STATE = Group("state", Kind.RECURRENT_STATE, 4)
GEOMETRY = Geometry(groups=(FULL, STATE), hash_unit_tokens=4, pool_blocks=32, budget_tokens=64)


def geometry(**changes: object) -> Geometry:
    """The default geometry with some fields changed."""
    return replace(GEOMETRY, **changes)  # type: ignore[arg-type]


class Script:
    """Events in order; `step` is the step that is being written."""

    def __init__(
        self, geometry: Geometry = GEOMETRY, planes: tuple[Plane, ...] = tuple(Plane)
    ) -> None:
        self.geometry = geometry
        self.header = Header("script", "by hand", {}, planes)
        self.events: list[Event] = []
        self.step = 0
        self._order = 0

    def add(self, event: Event) -> Self:
        self.events.append(event)
        return self

    def order(self) -> int:
        self._order += 1
        return self._order

    def submit(
        self, name: str, *segments: tuple[str, int], output: int = 4, salt: str = ""
    ) -> Self:
        parts = tuple(Segment(stream, tokens) for stream, tokens in segments)
        return self.add(Submit(self.step, name, parts, f"output:{name}", output, salt))

    def lookup(self, name: str, cap: int, hit: int, junction: int | None = None) -> Self:
        return self.add(Lookup(self.step, name, cap, (), hit, 0, hit, junction))

    def schedule(
        self,
        name: str,
        start: int,
        end: int,
        prefill_end: int,
        *,
        offered: int | None = None,
        checkpoint: int | None = None,
        cut: str = "none",
        reason: str | None = None,
    ) -> Self:
        tokens = end - start if offered is None else offered
        event = Schedule(
            self.step, name, start, end, tokens, prefill_end, 0, cut, checkpoint, reason
        )
        return self.add(event)

    def estimate(self, name: str, count: int) -> Self:
        return self.add(Table(self.step, name, "", TableOp.ESTIMATE, count=count))

    def place(self, name: str, group: str, column: int, *blocks: int) -> Self:
        return self.add(Table(self.step, name, group, TableOp.PLACE, column, blocks))

    def adopt(self, name: str, group: str, column: int, *blocks: int, tokens: int) -> Self:
        event = Table(self.step, name, group, TableOp.ADOPT, column, blocks, tokens=tokens)
        return self.add(event)

    def move(self, name: str, group: str, source: int, column: int, block: int) -> Self:
        event = Table(self.step, name, group, TableOp.MOVE, column, (block,), (source,))
        return self.add(event)

    def null(self, name: str, group: str, column: int, count: int = 1) -> Self:
        return self.add(Table(self.step, name, group, TableOp.NULL, column, count=count))

    def copy_on_write(self, name: str, group: str, column: int, block: int) -> Self:
        return self.add(Table(self.step, name, group, TableOp.COPY_ON_WRITE, column, (block,)))

    def hold(self, group: str, *blocks: int, held: bool = True) -> Self:
        return self.add(Hold(self.step, group, blocks, "copy", held))

    def publish(self, name: str, group: str, *keys: tuple[int, int]) -> Self:
        return self.add(Publish(self.step, name, group, keys))

    def unpublish(self, group: str, *blocks: int, why: str = "evicted") -> Self:
        return self.add(Unpublish(self.step, group, blocks, why))

    def copy(self, name: str, group: str, source: int, target: int, why: str = "pre") -> Self:
        return self.add(Copy(self.step, self.order(), name, group, source, target, why))

    def read(self, name: str, group: str, column: int, block: int, tokens: int) -> Self:
        return self.add(Read(self.step, self.order(), name, group, column, block, tokens))

    def write(
        self,
        name: str,
        group: str,
        column: int,
        *blocks: int,
        start: int,
        end: int,
        source: int | None = None,
        rejected: int = 0,
    ) -> Self:
        event = Write(
            self.step, self.order(), name, group, column, blocks, start, end, source, rejected
        )
        return self.add(event)

    def transfer(
        self, name: str, group: str, column: int, *blocks: int, tokens: int, start: int = 0
    ) -> Self:
        event = Transfer(self.step, self.order(), name, group, column, blocks, start, tokens)
        return self.add(event)

    def complete(
        self, *, failed: tuple[str, ...] = (), counts: tuple[int, int, int] | None = None
    ) -> Self:
        """Close the step; with steps in flight the one known complete is an earlier one."""
        of = self.step - self.geometry.steps_in_flight + 1
        known = of if of >= 0 else None
        referenced, keyed, empty = counts if counts else (None, None, None)
        self.add(Complete(self.step, known, (), failed, referenced, keyed, empty))
        self.step += 1
        self._order = 0
        return self

    def end(self, name: str, why: str = "finish", message: str = "") -> Self:
        return self.add(End(self.step, name, why, message))

    def reset(self) -> Self:
        return self.add(Reset(self.step))

    def prefill(
        self, name: str, tokens: int, pages: tuple[int, ...], states: tuple[int, ...]
    ) -> Self:
        """A clean prefill from nothing, one block of 4 tokens a step, published as it completes.

        `pages[i]` and `states[i]` are the blocks of column i; the last chunk may be shorter.
        """
        for column, (page, state) in enumerate(zip(pages, states, strict=True)):
            start, end = 4 * column, min(4 * column + 4, tokens)
            self.schedule(name, start, end, tokens)
            self.place(name, "full", column, page).place(name, "state", column, state)
            if start:
                self.read(name, "full", column - 1, 0, start)
                self.read(name, "state", column - 1, states[column - 1], start)
                self.copy(name, "state", states[column - 1], state)
            source = state if start else None
            self.write(name, "full", column, page, start=start, end=end)
            self.write(name, "state", column, state, start=start, end=end, source=source)
            if end % 4 == 0:
                self.publish(name, "full", (end, page)).publish(name, "state", (end, state))
            if column:
                self.null(name, "state", column - 1)
            self.complete()
        return self

    def resume(
        self,
        name: str,
        hit: int,
        end: int,
        pages: tuple[int, ...],
        state: int,
        fresh: tuple[int, int],
    ) -> Self:
        """Adopt a hit and schedule one chunk [hit, end) into a fresh page and a fresh state
        block."""
        columns = hit // 4
        self.schedule(name, hit, end, end)
        self.adopt(name, "full", 0, *pages, tokens=hit)
        self.adopt(name, "state", columns - 1, state, tokens=hit)
        self.place(name, "full", columns, fresh[0]).place(name, "state", columns, fresh[1])
        self.read(name, "full", columns - 1, 0, hit)
        self.read(name, "state", columns - 1, state, hit)
        self.copy(name, "state", state, fresh[1])
        self.write(name, "full", columns, fresh[0], start=hit, end=end)
        source = fresh[1]
        self.write(name, "state", columns, fresh[1], start=hit, end=end, source=source)
        return self

    def judge(self) -> Verdict:
        """Feed everything to the laws."""
        judge = Judge(self.geometry, self.header)
        for event in self.events:
            judge.feed(event)
        return judge.finish()

    def sentences(self, law: str) -> list[str]:
        """What one law says of the trace."""
        return [violation.sentence for violation in self.judge().of_law(law)]

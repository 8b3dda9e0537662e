"""Follows an engine event by event: turns the numbers of its log into the trace of `spec.trace`."""

from collections.abc import Callable

import numpy as np

from truehit.engine import entry
from truehit.engine import fields as f
from truehit.engine.host import Host
from truehit.engine.misses import Misses
from truehit.spec.trace import (
    Cut,
    End,
    EndWhy,
    Event,
    GroupReach,
    Hold,
    Lookup,
    Publish,
    Schedule,
    Table,
    TableOp,
    Unpublish,
    UnpublishWhy,
)

CUTS = (
    Cut.NONE,
    Cut.BUDGET,
    Cut.THRESHOLD,
    Cut.SPLIT,
    Cut.ENCODER,
    Cut.LOOKAHEAD,
    Cut.POOL,
    Cut.MAXIMUM_LENGTH,
)
WHY_NOTHING = (
    None,
    "nothing was left to offer",
    "deferred by the splitter",
    "does not fit yet",
)
ENDS = (EndWhy.PREEMPT, EndWhy.FINISH, EndWhy.ABORT)
Numbers = list[int]


class Tracer:
    """Implements `host.Watch`. `names`: request number to name; `events`: the trace so far."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self.events: list[Event] = []
        self.names: list[str] = []
        self.misses = Misses(host)
        self._ahead = 1
        # The last one is no group: blocks that somebody outside takes.
        self._groups = [*(group.name for group in host.geometry.groups), ""]
        self._readers: dict[int, Callable[[Numbers], Event | None]] = {
            f.L_SCHEDULE: self._schedule,
            f.L_ESTIMATE: self._estimate,
            f.L_PLACE: self._place,
            f.L_ADOPT: self._adopt,
            f.L_MOVE: self._move,
            f.L_NULL: self._null,
            f.L_COPY_ON_WRITE: self._copy_on_write,
            f.L_HOLD: self._hold,
            f.L_PUBLISH: self._publish,
            f.L_EVICTED: self._evicted,
            f.L_END: self._end,
            f.L_LOST: self._lost,
            f.L_MASKED: self._masked,
        }
        host.watch = self

    @property
    def step(self) -> int:
        """The step that is open, or the next one when none is."""
        return int(self._host.core.now[f.N_STEP]) + self._ahead

    def in_step(self, is_open: bool) -> None:
        """Between steps, what happens belongs to the next one."""
        self._ahead = 0 if is_open else 1

    def make_room(self) -> None:
        """A step says at most a few numbers a column, a key and a request."""
        core = self._host.core
        needed = (1 << 14) + 64 * core.table.shape[0] * (core.table.shape[1] + 2)
        needed += 12 * (core.column.shape[0] + core.record.shape[0] + core.key.shape[0])
        if core.log.shape[0] < needed:
            self._host.use(core._replace(log=np.zeros(2 * needed, np.int64)))

    def drain(self) -> None:
        """Append what the log says."""
        core = self._host.core
        said = core.log[: core.now[f.N_LOG]].tolist()
        core.now[f.N_LOG] = 0
        at = 0
        while at < len(said):
            kind, length = said[at], said[at + 1]
            event = self._readers[kind](said[at + 2 : at + 2 + length])
            if event is not None:
                self.events.append(event)
            at += 2 + length

    def looked_up(self, slot: int) -> None:
        """A lookup, and why it hit no more than it did."""
        core, geometry = self._host.core, self._host.geometry
        entry.reach_alone(self._host.handle, slot)
        found, seek = core.found.tolist(), core.seek.tolist()
        kinds = core.group[:, f.G_KIND].tolist()
        order = [g for g, kind in enumerate(kinds) if kind in (f.FULL, f.WINDOW)]
        order += [g for g, kind in enumerate(kinds) if kind == f.STATE]
        reaches = tuple(
            GroupReach(
                self._groups[g],
                seek[g][f.A_MATCHED],
                geometry.drop_tokens(geometry.groups[g]),
                seek[g][f.A_REACH],
            )
            for g in order
        )
        reason, vetoed_by = self.misses.explain(slot)
        self.events.append(
            Lookup(
                self.step,
                self.names[int(core.request[slot, f.R_ORDER])],
                found[f.M_CAP],
                reaches,
                found[f.M_HIT],
                found[f.M_EXTERNAL],
                found[f.M_START],
                found[f.M_JUNCTION] or None,
                reason,
                vetoed_by,
            )
        )

    # --- one reader a kind ------------------------------------------------------------------

    def _schedule(self, said: Numbers) -> Event:
        number, start, end, offered, final, drafts, cut, checkpoint, why = said
        return Schedule(
            self.step,
            self.names[number],
            start,
            end,
            offered,
            final,
            drafts,
            CUTS[cut],
            checkpoint or None,
            WHY_NOTHING[why],
        )

    def _table(
        self,
        number: int,
        group: int,
        op: TableOp,
        column: int,
        blocks: Numbers,
        sources: tuple[int, ...] = (),
        count: int = 0,
        tokens: int = 0,
    ) -> Event:
        name = self._groups[group]
        return Table(
            self.step, self.names[number], name, op, column, tuple(blocks), sources, count, tokens
        )

    def _estimate(self, said: Numbers) -> Event:
        number, count = said
        return Table(self.step, self.names[number], "", TableOp.ESTIMATE, count=count)

    def _place(self, said: Numbers) -> Event:
        number, group, column, _, *blocks = said
        return self._table(number, group, TableOp.PLACE, column, blocks)

    def _adopt(self, said: Numbers) -> Event:
        number, group, column, tokens, *blocks = said
        return self._table(number, group, TableOp.ADOPT, column, blocks, tokens=tokens)

    def _move(self, said: Numbers) -> Event:
        number, group, column, source, *blocks = said
        sources = tuple(range(source, source + len(blocks)))
        return self._table(number, group, TableOp.MOVE, column, blocks, sources)

    def _null(self, said: Numbers) -> Event:
        number, group, column, count = said
        return self._table(number, group, TableOp.NULL, column, [], count=count)

    def _copy_on_write(self, said: Numbers) -> Event:
        number, group, column, _, *blocks = said
        return self._table(number, group, TableOp.COPY_ON_WRITE, column, blocks)

    def _hold(self, said: Numbers) -> Event:
        group, block, held = said
        return Hold(self.step, self._groups[group], (block,), "copy", bool(held))

    def _publish(self, said: Numbers) -> Event:
        number, group, *pairs = said
        keys = tuple(zip(pairs[::2], pairs[1::2], strict=True))
        self.misses.published(number, group, [tokens for tokens, _ in keys])
        return Publish(self.step, self.names[number], self._groups[group], keys)

    def _evicted(self, said: Numbers) -> Event:
        group, *blocks = said
        return Unpublish(self.step, self._groups[group], tuple(blocks), UnpublishWhy.EVICTED)

    def _end(self, said: Numbers) -> Event:
        number, why = said
        return End(self.step, self.names[number], ENDS[why])

    def _lost(self, said: Numbers) -> None:
        self.misses.lost.add(tuple(said))

    def _masked(self, said: Numbers) -> None:
        self.misses.masked.add(tuple(said))

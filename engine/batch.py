"""One scheduled step, as the one who runs it needs it: arrays, Python lists, or an object per
request (a named tuple: a step makes hundreds of them).

The arrays are views of the engine's memory: they hold until the engine schedules again. Rows are in
the order in which the requests were scheduled."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from truehit.engine import fields as f
from truehit.engine.memory import Core, Int32, Int64


class TableChange(NamedTuple):
    """From `column` on, a request's table in one group has these blocks now; what was there has
    moved or is not read any more."""

    group: int
    column: int
    blocks: list[int]


class Work(NamedTuple):
    """One row: tokens [start, end) of a request, the last `drafts` of them drafts.
    `checkpoint_tokens`: the position exported from the middle (0: none)."""

    request: int
    start: int
    end: int
    drafts: int
    checkpoint_tokens: int
    changes: list[TableChange]


@dataclass(frozen=True, slots=True)
class BatchLists:
    """The step as Python lists, one entry a row. `changes[i]`: table changes of row i."""

    requests: list[int]
    starts: list[int]
    ends: list[int]
    drafts: list[int]
    checkpoints_tokens: list[int]
    changes: list[list[TableChange]]
    copies: list[tuple[int, int, int]]


class Batch:
    """A view of one step. Empty steps have no rows."""

    __slots__ = ("_core", "_slice", "rows")

    def __init__(self, core: Core, slice_: int, rows: int) -> None:
        self._core = core
        self._slice = slice_
        self.rows = rows

    def _chunks(self, field: int) -> Int64:
        return self._core.chunk[self._slice, : self.rows, field]

    @property
    def slots(self) -> Int64:
        """Row of each request in the engine's tables, int64[rows]."""
        return self._chunks(f.C_SLOT)

    @property
    def requests(self) -> Int64:
        """Request numbers, int64[rows]."""
        return self._core.request[self.slots, f.R_ORDER]

    @property
    def starts(self) -> Int64:
        """First token, int64[rows]; drafts of earlier steps in flight count as accepted."""
        return self._chunks(f.C_START)

    @property
    def ends(self) -> Int64:
        """One past the last token, int64[rows]."""
        return self._chunks(f.C_END)

    @property
    def drafts(self) -> Int64:
        """Drafts among the tokens, int64[rows]."""
        return self._chunks(f.C_DRAFTS)

    @property
    def checkpoints_tokens(self) -> Int64:
        """Positions exported from the middle (0: none), int64[rows]."""
        return self._chunks(f.C_CHECKPOINT)

    @property
    def is_prefill(self) -> Int64:
        """1: the row is of a prefill; 0: it decodes or verifies, int64[rows]."""
        return self._chunks(f.C_IS_PREFILL)

    @property
    def is_sampling(self) -> Int64:
        """1: the row ends in a token to sample, int64[rows]."""
        return self._chunks(f.C_SAMPLING)

    @property
    def residencies(self) -> Int64:
        """Counts the residencies of a slot: another number, and the request starts (or starts
        again) at `starts`, int64[rows]."""
        return self._chunks(f.C_RESIDENCY)

    @property
    def table_changes(self) -> Int32:
        """(slot, group, first column, columns) of every change of a table, int32[changes, 4]; the
        blocks are in the table itself (`Engine.table`)."""
        return self._core.update[: self._core.now[f.N_UPDATES], : f.U_IS_FRESH]

    @property
    def copies(self) -> Int32:
        """(slot, group, source block, target block), int32[copies, 4]: they run first."""
        return self._core.copy[: self._core.now[f.N_COPIES]]

    def _changes(self) -> dict[int, list[TableChange]]:
        by_slot: dict[int, list[TableChange]] = {}
        core = self._core
        changes = self.table_changes
        firsts = (core.table[changes[:, 0], changes[:, 1], f.T_AT] + changes[:, 2]).tolist()
        for (slot, group, column, count), first in zip(changes.tolist(), firsts, strict=True):
            blocks = core.column[first : first + count].tolist()
            by_slot.setdefault(slot, []).append(TableChange(group, column, blocks))
        return by_slot

    def as_lists(self) -> BatchLists:
        """The step as Python lists."""
        by_slot, slots = self._changes(), self.slots.tolist()
        return BatchLists(
            requests=self.requests.tolist(),
            starts=self.starts.tolist(),
            ends=self.ends.tolist(),
            drafts=self.drafts.tolist(),
            checkpoints_tokens=self.checkpoints_tokens.tolist(),
            changes=[by_slot.get(slot, []) for slot in slots],
            copies=[(group, source, target) for _, group, source, target in self.copies.tolist()],
        )

    def as_objects(self) -> list[Work]:
        """One object per request."""
        lists = self.as_lists()
        rows = zip(
            lists.requests,
            lists.starts,
            lists.ends,
            lists.drafts,
            lists.checkpoints_tokens,
            lists.changes,
            strict=True,
        )
        return list(map(Work._make, rows))


def changed_blocks(core: Core, change: Int32) -> Int32:
    """The blocks of one row of `table_changes`, int32[columns]."""
    slot, group, column, count = (int(number) for number in change)
    first = int(core.table[slot, group, f.T_AT]) + column
    return np.asarray(core.column[first : first + count])

"""The worker, without tensors: which block each step copies, reads and writes, and in what order.

Restates what the model runner and the state kernels of vLLM do in "align" mode (the rules are
listed in docs/audit.md). Nothing is decided here that the scheduler could have decided: tables come
from its output, positions from its token counts. Copies that the scheduler asks for come first,
then the states that change their column, then per request the pages, the states and the checkpoint,
and after sampling the states at boundaries that acceptance crossed. Operations of one of these
phases that meet in a block are said to be unordered.
"""

from collections.abc import Callable
from typing import Any

from .meetings import Meetings, Operation
from .out import Recorder
from .plan import Group
from .rows import Row, Rows

Checkpoint = Callable[[int, int], tuple[int, int] | None]
"""(start, end) of a prefill chunk -> (position, column) of the checkpoint it exports."""


class Mirror:
    """Plays the worker of one scheduler. `seed_block_tokens`: the block by which it finds the
    column of a resumed state."""

    def __init__(
        self,
        recorder: Recorder,
        groups: tuple[Group, ...],
        checkpoint: Checkpoint,
        seed_block_tokens: int,
    ) -> None:
        self._recorder = recorder
        self._groups = groups
        self._states = [i for i, g in enumerate(groups) if g.kind == "recurrent_state"]
        self._pages = [
            i for i, g in enumerate(groups) if g.kind in ("full_attention", "sliding_window")
        ]
        self._checkpoint = checkpoint
        self._seed = seed_block_tokens
        self._meetings = Meetings(recorder)
        self.rows = Rows()
        self.asked: dict[int, tuple[str, int]] = {}
        """Target of a copy of this step -> request and group it is for. Only names the event."""

    def run(self, output: Any, kept: dict[str, int], sampled: dict[str, int]) -> None:
        """A step. `kept`: of each request, how many of its tokens stay (all of a prefill chunk, 1 +
        the accepted drafts of a decode step); `sampled`: how many it samples."""
        self.rows.follow(output)
        counts = output.num_scheduled_tokens
        self._meetings.begin("copy_on_write")
        self._copies(output)
        self._meetings.begin("pre")
        sources = {name: self._precopy(name, self.rows.of[name], counts[name]) for name in counts}
        self._meetings.begin("forward")
        for name, tokens in counts.items():
            drafts = len(output.scheduled_spec_decode_tokens.get(name, ()))
            self._forward(name, self.rows.of[name], tokens, drafts, kept[name], sources[name])
        self._meetings.begin("boundary")
        for name in counts:
            self._after_sampling(name, self.rows.of[name], kept[name], sampled[name])

    def _copies(self, output: Any) -> None:
        """Copy on write, asked for by the scheduler."""
        for copy in getattr(output, "kv_cache_block_copies", None) or ():
            source, target = copy.src_block_id, copy.dst_block_id
            name, group = self._whose(source, target)
            self._copy(name, group, source, target, "copy_on_write")

    def _whose(self, source: int, target: int) -> tuple[str, int]:
        """The request and the group for which the scheduler asked, or whose table names one of the
        two blocks: a worker's rows keep blocks that went to somebody else long ago."""
        if target in self.asked:
            return self.asked[target]
        for block in (target, source):
            for name, row in self.rows.of.items():
                for group, columns in enumerate(row.columns):
                    if block in columns:
                        return name, group
        return next(iter(self.rows.of)), 0

    def _precopy(self, name: str, row: Row, tokens: int) -> dict[int, int | None]:
        """Move the state to the column where the step needs it; group -> the block it starts
        from, None for the zero state."""
        if not self._states:
            return {}
        column = row.state_column
        if column is None:
            column = (row.computed - 1) // self._seed if row.computed else -1
        size = self._groups[self._states[0]].block_tokens
        target = -(-(row.computed + tokens) // size) - 1
        ahead = row.accepted - 1
        row.state_column = target
        sources: dict[int, int | None] = {}
        for group in self._states:
            columns = row.columns[group]
            if column < 0:
                sources[group] = None
                continue
            block = _at(columns, column + ahead)
            self._read(name, group, column + ahead, block, row.computed)
            sources[group] = block
            if column != target:
                sources[group] = _at(columns, target)
                self._copy(name, group, block, _at(columns, target), "pre")
        return sources

    def _forward(
        self, name: str, row: Row, tokens: int, drafts: int, kept: int, sources: dict[int, Any]
    ) -> None:
        start, end = row.computed, row.computed + tokens
        for group in self._pages:
            self._write_pages(name, group, row.columns[group], start, end, start + kept)
        for group in self._states:
            self._forward_state(name, group, row, (tokens, drafts, kept), sources[group])

    def _forward_state(
        self, name: str, group: int, row: Row, counts: tuple[int, int, int], source: int | None
    ) -> None:
        """One kernel's work: a verification leaves a state after each of its tokens, a prefill
        chunk one at its end, and at its checkpoint. `counts`: tokens, drafts, kept."""
        tokens, drafts, kept = counts
        start, end = row.computed, row.computed + tokens
        columns, target = row.columns[group], row.state_column
        assert target is not None
        operation = self._operation(name, group)
        if source is not None:
            self._meetings.read(operation, source)
        if drafts and tokens == 1 + drafts:
            for ahead in reversed(range(tokens)):
                real = start + min(1 + ahead, kept)
                where = (target + ahead, _at(columns, target + ahead))
                rejected = start + 1 + ahead - real
                self._write(operation, where, (start, real), source, rejected)
            return
        found = self._checkpoint(start, end)
        if found is not None:
            position, column = found
            block = _at(columns, column)
            if block:
                self._write(operation, (column, block), (start, position), source, 0)
        self._write(operation, (target, _at(columns, target)), (start, end), source, 0)

    def _after_sampling(self, name: str, row: Row, kept: int, sampled: int) -> None:
        """The state of a boundary that acceptance crossed goes to the boundary's own column."""
        row.accepted = max(sampled, 1)
        row.computed += kept
        if not self._states:
            return
        target = row.state_column
        assert target is not None
        size = self._groups[self._states[0]].block_tokens
        boundary = row.computed // size * size
        ahead = boundary - (row.computed - row.accepted + 1)
        if ahead < 0:
            return
        source, own = target + ahead, boundary // size - 1
        if source != own:
            for group in self._states:
                columns = row.columns[group]
                self._copy(name, group, _at(columns, source), _at(columns, own), "boundary")
        if own == target:
            row.accepted = 1

    def _read(self, name: str, group: int, column: int, block: int, tokens: int) -> None:
        self._recorder.device(
            "read",
            request=name,
            group=self._groups[group].name,
            column=column,
            block=block,
            tokens=tokens,
        )

    def _copy(self, name: str, group: int, source: int, target: int, why: str) -> None:
        self._meetings.copy(self._operation(name, group), source, target)
        self._recorder.device(
            "copy",
            request=name,
            group=self._groups[group].name,
            source=source,
            target=target,
            why=why,
        )

    def _operation(self, name: str, group: int) -> Operation:
        return Operation(name, self._groups[group].name)

    def _write(
        self,
        operation: Operation,
        where: tuple[int, int],
        tokens: tuple[int, int],
        source: int | None,
        rejected: int,
    ) -> None:
        column, block = where
        self._meetings.write(operation, block)
        self._recorder.device(
            "write",
            request=operation.request,
            group=operation.group,
            column=column,
            blocks=[block],
            start=tokens[0],
            end=tokens[1],
            source=source,
            rejected_tokens=rejected,
        )

    def _write_pages(
        self, name: str, group: int, columns: list[int], start: int, end: int, real: int
    ) -> None:
        size = self._groups[group].block_tokens
        if start:
            self._read(name, group, (start - 1) // size, 0, start)
        first, last = start // size, (end - 1) // size
        operation = self._operation(name, group)
        blocks = [_at(columns, column) for column in range(first, last + 1)]
        for column, block in enumerate(blocks, first):
            low, high = max(start, column * size), min(end, (column + 1) * size)
            self._meetings.write_entries(operation, block, low, high)
        self._recorder.device(
            "write",
            request=name,
            group=self._groups[group].name,
            column=first,
            blocks=blocks,
            start=start,
            end=real,
            source=None,
            rejected_tokens=end - real,
        )


def _at(columns: list[int], column: int) -> int:
    """The block of a column; 0: a hole, or beyond the row."""
    return columns[column] if 0 <= column < len(columns) else 0

"""The worker, without tensors: which block each step copies, reads and writes, and in what order.

Restates what the model runner and the state kernels of vLLM do in "align" mode (the rules are
listed in docs/audit.md). Nothing is decided here that the scheduler could have decided: tables come
from its output, positions from its token counts. Copies that the scheduler asks for come first,
then the states that change their column, then per request the pages, the states and the checkpoint,
and after sampling the states at boundaries that acceptance crossed.
"""

from collections.abc import Callable
from typing import Any

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
        self.rows = Rows()

    def run(self, output: Any, kept: dict[str, int], sampled: dict[str, int]) -> None:
        """A step. `kept`: of each request, how many of its tokens stay (all of a prefill chunk, 1 +
        the accepted drafts of a decode step); `sampled`: how many it samples."""
        self.rows.follow(output)
        counts = output.num_scheduled_tokens
        self._copies(output)
        sources = {name: self._precopy(name, self.rows.of[name], counts[name]) for name in counts}
        for name, tokens in counts.items():
            drafts = len(output.scheduled_spec_decode_tokens.get(name, ()))
            self._forward(name, self.rows.of[name], tokens, drafts, kept[name], sources[name])
        for name in counts:
            self._after_sampling(name, self.rows.of[name], kept[name], sampled[name])

    def _copies(self, output: Any) -> None:
        """Copy on write, asked for by the scheduler."""
        for copy in getattr(output, "kv_cache_block_copies", None) or ():
            source, target = copy.src_block_id, copy.dst_block_id
            name, group = self._whose(source, target)
            self._copy(name, group, source, target, "copy_on_write")

    def _whose(self, source: int, target: int) -> tuple[str, int]:
        """The request and the group whose table names one of the two blocks."""
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
            row.accepted = 1
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
        if column >= 0 and column != target:
            row.accepted = 1
        return sources

    def _forward(
        self, name: str, row: Row, tokens: int, drafts: int, kept: int, sources: dict[int, Any]
    ) -> None:
        start, end = row.computed, row.computed + tokens
        for group in self._pages:
            self._write_pages(name, group, row.columns[group], start, end, start + kept)
        for group in self._states:
            columns = row.columns[group]
            target = row.state_column
            assert target is not None
            if drafts and tokens == 1 + drafts:
                for ahead in reversed(range(tokens)):
                    real = start + min(1 + ahead, kept)
                    where = (target + ahead, _at(columns, target + ahead))
                    rejected = start + 1 + ahead - real
                    self._write(name, group, where, (start, real), sources[group], rejected)
                continue
            found = self._checkpoint(start, end)
            if found is not None:
                position, column = found
                block = _at(columns, column)
                if block:
                    where = (column, block)
                    self._write(name, group, where, (start, position), sources[group], 0)
            where = (target, _at(columns, target))
            self._write(name, group, where, (start, end), sources[group], 0)

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
        self._recorder.device(
            "copy",
            request=name,
            group=self._groups[group].name,
            source=source,
            target=target,
            why=why,
        )

    def _write(
        self,
        name: str,
        group: int,
        where: tuple[int, int],
        tokens: tuple[int, int],
        source: int | None,
        rejected: int,
    ) -> None:
        self._recorder.device(
            "write",
            request=name,
            group=self._groups[group].name,
            column=where[0],
            blocks=[where[1]],
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
        self._recorder.device(
            "write",
            request=name,
            group=self._groups[group].name,
            column=first,
            blocks=[_at(columns, column) for column in range(first, last + 1)],
            start=start,
            end=real,
            source=None,
            rejected_tokens=end - real,
        )


def _at(columns: list[int], column: int) -> int:
    """The block of a column; 0: a hole, or beyond the row."""
    return columns[column] if 0 <= column < len(columns) else 0

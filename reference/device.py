"""The worker: copies, reads and writes of a step, in device order, as events.

It sees tables and chunks only. Pre-copy: when the running column changes, the state moves there
first. A prefill chunk leaves the state after its end in the running column; a decode step leaves
the state after its j-th token in running + j, and after sampling copies a crossed boundary's state
to the boundary's own column."""

from truehit.reference.allocate import PendingCopy, first_in_window
from truehit.reference.live import Chunk, Live, StateTable
from truehit.reference.pool import NULL_BLOCK
from truehit.reference.record import Recorder
from truehit.reference.rules import slots
from truehit.spec.geometry import Geometry, Group, Kind
from truehit.spec.trace import Copy, CopyWhy, EngineError, Read, Transfer, Write
from truehit.spec.units import floor_to, running_column


class Device:
    """Runs chunks in the order they were scheduled."""

    __slots__ = ("_geometry", "_recorder")

    def __init__(self, geometry: Geometry, recorder: Recorder) -> None:
        self._geometry = geometry
        self._recorder = recorder

    def copy_pages(self, copies: list[PendingCopy]) -> None:
        """Copy-on-write copies run before everything else of the step."""
        for copy in copies:
            self._copy(copy.live, copy.group, copy.source, copy.target, CopyWhy.COPY_ON_WRITE)

    def _copy(self, live: Live, group: str, source: int, target: int, why: CopyWhy) -> None:
        recorder = self._recorder
        order = recorder.next_order()
        recorder.emit(Copy(recorder.step, order, live.name, group, source, target, why))

    def load(self, live: Live, start: int, end: int) -> None:
        """Content of tokens [start, end) arrives from outside, in every group."""
        recorder = self._recorder
        for group in self._geometry.groups:
            match group.kind:
                case Kind.RECURRENT_STATE:
                    column = running_column(end, group.block_tokens)
                    blocks: tuple[int, ...] = (live.states[group.name].columns[column],)
                    first = 0
                case Kind.CIRCULAR_BUFFER:
                    continue
                case Kind.FULL_ATTENTION:
                    column, blocks = self._pages(live, group, start, end)
                    first = start
                case Kind.SLIDING_WINDOW:
                    first = max(start, first_in_window(end, group) * group.block_tokens)
                    column, blocks = self._pages(live, group, first, end)
            order = recorder.next_order()
            recorder.emit(
                Transfer(recorder.step, order, live.name, group.name, column, blocks, first, end)
            )

    def _pages(self, live: Live, group: Group, start: int, end: int) -> tuple[int, tuple[int, ...]]:
        first = slots.page_column(start, group.block_tokens)
        last = max(running_column(end, group.block_tokens), first)
        return first, tuple(live.pages[group.name].columns[first : last + 1])

    def run(self, chunk: Chunk, end: int) -> None:
        """Run one chunk; `end` is the scheduler's end (drafts counted), which fixes the running
        column.

        Decides the accepted drafts, and leaves `done_tokens`, `accepted` and `sampled` in the
        chunk."""
        live = chunk.live
        if chunk.sampling and chunk.start >= live.prefill_end:
            left = live.request.output_tokens - live.device_generated
            if left <= 0:
                # Scheduled before the end of the request was known: nothing of it will be kept.
                chunk.done_tokens = chunk.start
                return
            chunk.accepted = min(self._acceptance(live, chunk.drafts), left - 1)
            chunk.done_tokens = chunk.start + 1 + chunk.accepted
            chunk.sampled = 1 + chunk.accepted
            live.decodes += 1
        else:
            chunk.done_tokens = chunk.end
            chunk.sampled = 1 if chunk.sampling else 0
        for group in self._geometry.groups:
            match group.kind:
                case Kind.RECURRENT_STATE:
                    self._run_state(chunk, group, end)
                case Kind.CIRCULAR_BUFFER:
                    pass
                case Kind.FULL_ATTENTION | Kind.SLIDING_WINDOW:
                    self._run_pages(chunk, group)
        live.device_tokens = chunk.done_tokens
        live.device_generated += chunk.sampled

    def _acceptance(self, live: Live, drafts: int) -> int:
        accepted = live.request.accepted
        if not accepted:
            return drafts
        return min(accepted[min(live.decodes, len(accepted) - 1)], drafts)

    def _width(self, chunk: Chunk) -> int:
        """Tokens the kernel sees: the chunk's own and its drafts."""
        return chunk.end - chunk.start

    def _run_pages(self, chunk: Chunk, group: Group) -> None:
        live, recorder = chunk.live, self._recorder
        if chunk.start:
            last = running_column(chunk.start, group.block_tokens)
            order = recorder.next_order()
            recorder.emit(
                Read(recorder.step, order, live.name, group.name, last, NULL_BLOCK, chunk.start)
            )
        column, blocks = self._pages(live, group, chunk.start, chunk.end)
        rejected = chunk.end - chunk.done_tokens
        order = recorder.next_order()
        recorder.emit(
            Write(
                recorder.step,
                order,
                live.name,
                group.name,
                column,
                blocks,
                chunk.start,
                chunk.done_tokens,
                rejected_tokens=rejected,
            )
        )

    def _source(self, chunk: Chunk, group: Group, table: StateTable, target: int) -> int | None:
        """The block the chunk's state starts from, after the pre-copy into the running column."""
        live, recorder = chunk.live, self._recorder
        if table.current is None:
            return None
        inside = slots.in_table(table.current, len(table.columns))
        source = table.columns[table.current] if inside else NULL_BLOCK
        if not inside:
            width = len(table.columns)
            recorder.emit(
                EngineError(
                    recorder.step,
                    f"column {table.current} of a table of {width} columns",
                    live.name,
                )
            )
        order = recorder.next_order()
        recorder.emit(
            Read(recorder.step, order, live.name, group.name, table.current, source, chunk.start)
        )
        if table.current == target:
            return source
        block = table.columns[target]
        self._copy(live, group.name, source, block, CopyWhy.PRE)
        return block

    def _run_state(self, chunk: Chunk, group: Group, end: int) -> None:
        live = chunk.live
        table = live.states[group.name]
        target = running_column(end, group.block_tokens)
        source = self._source(chunk, group, table, target)
        if chunk.checkpoint:
            column = slots.checkpoint_column(chunk.end, group.block_tokens)
            self._write(chunk, group, column, source, chunk.start, chunk.checkpoint, 0)
        decode = chunk.start >= live.prefill_end
        if not decode:
            self._write(chunk, group, target, source, chunk.start, chunk.end, 0)
            table.current = target
            return
        # From the far end back: kernels read the initial state once, so it is overwritten last.
        for ahead in reversed(range(self._width(chunk))):
            position = chunk.start + 1 + ahead
            real = min(position, chunk.done_tokens)
            column = slots.token_column(target, ahead)
            self._write(chunk, group, column, source, chunk.start, real, position - real)
        table.current = slots.next_current(target, chunk.start, chunk.done_tokens)
        self._save_boundary(chunk, group, table, target)

    def _write(
        self,
        chunk: Chunk,
        group: Group,
        column: int,
        source: int | None,
        start: int,
        end: int,
        rejected: int,
    ) -> None:
        recorder = self._recorder
        columns = chunk.live.states[group.name].columns
        block = columns[slots.wrapped_column(column, len(columns))]
        order = recorder.next_order()
        recorder.emit(
            Write(
                recorder.step,
                order,
                chunk.live.name,
                group.name,
                column,
                (block,),
                start,
                end,
                source,
                rejected,
            )
        )

    def _save_boundary(self, chunk: Chunk, group: Group, table: StateTable, target: int) -> None:
        boundary = floor_to(chunk.done_tokens, group.block_tokens)
        source = slots.boundary_column(target, chunk.start, boundary)
        own = slots.own_column(boundary, group.block_tokens)
        if slots.copies_boundary(chunk.start, boundary, source, own):
            blocks = table.columns
            self._copy(chunk.live, group.name, blocks[source], blocks[own], CopyWhy.BOUNDARY)

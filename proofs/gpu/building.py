"""The inputs of a timed workload, set by set. Numbers are random, and speed does not depend on
them; what each set reads and writes is its own."""

import torch
from torch import Tensor

from truehit.proofs.gpu.operations import Operations
from truehit.proofs.gpu.timing import Run
from truehit.proofs.gpu.workload import (
    CONV_WIDTH,
    VERIFIED_TOKENS,
    Kind,
    Layer,
    Workload,
    stops,
    written_stops,
)

BF16 = torch.bfloat16


def build(workload: Workload, layer: Layer, operations: Operations, device: torch.device) -> Run:
    """One set of inputs, ready to run."""
    make = _Maker(layer, operations, device)
    match workload:
        case Workload(Kind.DECODE, rows, _, is_peer):
            return make.rows(rows, 1, is_peer)
        case Workload(Kind.VERIFY, rows, _, is_peer):
            return make.rows(rows, VERIFIED_TOKENS, is_peer)
        case Workload(Kind.COPY, rows):
            return make.copy(rows)
        case Workload(Kind.CONV_DECODE, rows):
            return make.conv_rows(rows)
        case Workload(Kind.CONV):
            return make.conv(workload)
        case Workload(Kind.RECURRENCE):
            return make.recurrence(workload)
        case Workload(Kind.PREFILL, tokens, _, True):
            return make.library_prefill(tokens)
        case _:
            return make.prefill(workload)


class _Maker:
    def __init__(self, layer: Layer, operations: Operations, device: torch.device) -> None:
        self._layer = layer
        self._operations = operations
        self._device = device

    def _normal(self, *shape: int, dtype: torch.dtype = BF16) -> Tensor:
        return torch.empty(*shape, dtype=dtype, device=self._device).normal_()

    def _unit(self, *shape: int) -> Tensor:
        return torch.nn.functional.normalize(self._normal(*shape), dim=-1)

    def _table(self, numbers: list[int]) -> Tensor:
        return torch.tensor(numbers, dtype=torch.int32, device=self._device)

    def _decay(self, *shape: int) -> Tensor:
        uniform = torch.rand(*shape, device=self._device)
        return (0.95 + 0.05 * uniform).log()

    def _tokens(self, *lead: int) -> tuple[Tensor, ...]:
        layer = self._layer
        keys = (*lead, layer.key_heads, layer.size)
        heads = (*lead, layer.value_heads)
        beta = torch.rand(*heads, device=self._device).to(BF16)
        values = self._normal(*heads, layer.size)
        return (self._normal(*keys), self._normal(*keys), values, self._decay(*heads), beta)

    def _states(self, pages: int) -> Tensor:
        layer = self._layer
        return self._normal(pages, layer.value_heads, layer.size, layer.size, dtype=torch.float32)

    def rows(self, rows: int, width: int, is_peer: bool) -> Run:
        """Decoding, or verification: every token's state goes to a page of its own."""
        operations = self._operations
        if is_peer:
            batch, state = self._tokens(rows, width), self._states(rows)
            return lambda: operations.library_recurrent(*batch, state=state)
        tokens, states = self._tokens(rows * width), self._states(1 + rows * (1 + width))
        starts = self._table([row * width for row in range(rows + 1)])
        sources = self._table(list(range(1, 1 + rows)))
        targets = self._table(list(range(1 + rows, 1 + rows * (1 + width))))
        return lambda: operations.decode(*tokens, states, starts, sources, targets)

    def copy(self, rows: int) -> Run:
        """As many pages, each of one layer's state."""
        pool = torch.zeros(
            1, 1 + 2 * rows, self._layer.state_bytes, dtype=torch.uint8, device=self._device
        )
        sources = self._table(list(range(1, 1 + rows)))
        targets = self._table(list(range(1 + rows, 1 + 2 * rows)))
        return lambda: self._operations.copy_pages(pool, sources, targets)

    def conv_rows(self, rows: int) -> Run:
        """A token a row."""
        starts = self._table(list(range(rows + 1)))
        pages = (list(range(1, 1 + rows)), list(range(1 + rows, 1 + 2 * rows)))
        return self._conv(rows, (starts, starts, starts, *map(self._table, pages)), 1 + 2 * rows, 1)

    def conv(self, workload: Workload) -> Run:
        """One row; its windows are written where its states are."""
        starts, row_segments, segments, source, targets = self._segments(workload)
        tables = (starts, row_segments, segments, source, targets)
        pages = 2 + len(written_stops(workload.size, workload.every_tokens))
        return self._conv(workload.size, tables, pages, workload.size)

    def _conv(self, tokens: int, tables: tuple[Tensor, ...], pages: int, longest: int) -> Run:
        channels = self._layer.channels
        x, weight = self._normal(tokens, channels), self._normal(channels, CONV_WIDTH)
        windows = self._normal(pages, CONV_WIDTH - 1, channels)
        return lambda: self._operations.causal_conv(x, weight, windows, *tables, longest)

    def _segments(self, workload: Workload) -> tuple[Tensor, ...]:
        """row_starts, row_segments, segment_starts, sources, segment_targets of one row."""
        ends = stops(workload.size, workload.every_tokens)
        pages = {
            end: 2 + at
            for at, end in enumerate(written_stops(workload.size, workload.every_tokens))
        }
        lists = (
            [0, workload.size],
            [0, len(ends)],
            [0, *ends],
            [1],
            [pages.get(end, 0) for end in ends],
        )
        return tuple(map(self._table, lists))

    def recurrence(self, workload: Workload) -> Run:
        """The kernel that knows pages, alone."""
        layer, tokens = self._layer, workload.size
        shape = (tokens, layer.value_heads, layer.size)
        k = self._unit(tokens, layer.key_heads, layer.size)
        w, u = 0.1 * self._unit(*shape), self._normal(*shape)
        _, row_segments, segments, source, targets = self._segments(workload)
        decay = self._decay(tokens, layer.value_heads)
        states = self._states(2 + len(written_stops(tokens, workload.every_tokens)))
        tables = (row_segments, segments, source, targets)
        return lambda: self._operations.recurrence(k, w, u, decay, states, *tables)

    def prefill(self, workload: Workload) -> Run:
        """A whole prefill of one row, from a state."""
        tokens, tables = self._tokens(workload.size), self._segments(workload)
        states = self._states(2 + len(written_stops(workload.size, workload.every_tokens)))
        return lambda: self._operations.chunk(*tokens, states, *tables)

    def library_prefill(self, tokens: int) -> Run:
        """The same inputs, shaped for the library; it keeps the last state only."""
        batch, state = self._tokens(1, tokens), self._states(1)
        return lambda: self._operations.library_chunk(*batch, state=state)

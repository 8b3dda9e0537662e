"""What a step does to pages, behind one interface: with plain torch, or with our kernels.

`TorchBackend` calls the reference of each kernel and runs in float64 or float32 on any machine.
`kernel_backend.KernelBackend` launches the kernels: on a GPU, or on the CPU in Triton's
interpreter. Same tables, same code path above."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

import torch
from torch import Tensor

from truehit.engine import slots
from truehit.engine.memory import Int32
from truehit.engine.model import gathered
from truehit.kernels import chunk, conv, decode, pages
from truehit.kernels.slots import StateRows

Cache = tuple[Tensor, Tensor]
"""Keys and values [pages, block tokens, key heads, size] of a layer."""


class BackendName(StrEnum):
    TORCH = "torch"
    INTERPRETER = "interpreter"
    CUDA = "cuda"


class BackendError(ValueError):
    """A back end that cannot run here; one line."""


@dataclass(frozen=True, slots=True)
class Spans:
    """Rows and segments, int32 on the device, and what the host knows of the longest row."""

    row_starts: Tensor
    row_segments: Tensor
    segment_starts: Tensor
    longest_row_tokens: int


@dataclass(frozen=True, slots=True)
class PageRows:
    """The rows of a step in one group with pages. pages, offsets int32[T]: the entry of each token;
    tables int32[rows, columns], row_starts int32[rows + 1], starts int32[rows] on the device;
    `rows`: (start, end, table) of each on the host."""

    pages: Tensor
    offsets: Tensor
    tables: Tensor
    row_starts: Tensor
    starts: Tensor
    longest_row_tokens: int
    rows: tuple[tuple[int, int, Int32], ...]


@dataclass(frozen=True, slots=True)
class DeltaInputs:
    """q, k [T, key heads, key size]; v [T, value heads, value size]; g, beta [T, value heads]."""

    q: Tensor
    k: Tensor
    v: Tensor
    g: Tensor
    beta: Tensor

    def part(self, first: int, last: int) -> "DeltaInputs":
        """Tokens [first, last)."""
        own = slice(first, last)
        return DeltaInputs(self.q[own], self.k[own], self.v[own], self.g[own], self.beta[own])


class Backend(Protocol):
    """Shapes, types and layouts: see the kernel of the same name."""

    name: BackendName
    device: torch.device

    def copy_pages(self, pool: Tensor, sources: Tensor, targets: Tensor) -> None:
        """Whole pages; pair 0 is nothing."""

    def fill_pages(self, pool: Tensor, own: Tensor, byte: int) -> None:
        """All bytes of these pages."""

    def state_slots(self, rows: StateRows, grid: int, tokens: int) -> tuple[Tensor, Tensor, Tensor]:
        """Sources, token targets, checkpoint targets."""

    def accepted_slots(
        self, rows: StateRows, dones: Tensor, grid: int
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Next currents, sources and targets of boundary copies."""

    def page_slots(
        self,
        tables: Tensor,
        lengths: Tensor,
        row_starts: Tensor,
        starts: Tensor,
        block_tokens: int,
        tokens: int,
        widest_tokens: int,
    ) -> tuple[Tensor, Tensor]:
        """Page and offset of every token."""

    def store_entries(self, cache: Cache, rows: PageRows, key: Tensor, value: Tensor) -> None:
        """Keys and values of new tokens go to their pages; page 0 is never written."""

    def attend(
        self, query: Tensor, cache: Cache, rows: PageRows, window_tokens: int | None
    ) -> Tensor:
        """Every token sees the entries up to its own, the last `window_tokens` of them."""

    def causal_conv(
        self, x: Tensor, weight: Tensor, windows: Tensor, spans: Spans, sources: Tensor, to: Tensor
    ) -> Tensor:
        """The convolution with its windows in pages."""

    def delta_chunk(
        self, x: DeltaInputs, states: Tensor, spans: Spans, sources: Tensor, to: Tensor
    ) -> Tensor:
        """The delta rule over prefill rows."""

    def delta_decode(
        self, x: DeltaInputs, states: Tensor, row_starts: Tensor, sources: Tensor, to: Tensor
    ) -> Tensor:
        """The delta rule over rows of a few tokens, a state a token."""


class TorchBackend:
    """Plain torch: the references of the kernels, and the slot arithmetic of the host."""

    name = BackendName.TORCH

    def __init__(self) -> None:
        self.device = torch.device("cpu")

    def copy_pages(self, pool: Tensor, sources: Tensor, targets: Tensor) -> None:
        pages.copy_pages_reference(pool, sources, targets)

    def fill_pages(self, pool: Tensor, own: Tensor, byte: int) -> None:
        pages.fill_pages_reference(pool, own, byte)

    def state_slots(self, rows: StateRows, grid: int, tokens: int) -> tuple[Tensor, Tensor, Tensor]:
        found = slots.state_slots(_on_host(rows), grid, tokens)
        first, second, third = map(torch.from_numpy, found)
        return first, second, third

    def accepted_slots(
        self, rows: StateRows, dones: Tensor, grid: int
    ) -> tuple[Tensor, Tensor, Tensor]:
        found = slots.accepted_slots(_on_host(rows), dones.numpy(), grid)
        first, second, third = map(torch.from_numpy, found)
        return first, second, third

    def page_slots(
        self,
        tables: Tensor,
        lengths: Tensor,
        row_starts: Tensor,
        starts: Tensor,
        block_tokens: int,
        tokens: int,
        widest_tokens: int,
    ) -> tuple[Tensor, Tensor]:
        found = slots.page_slots(
            tables.numpy(),
            lengths.numpy(),
            row_starts.numpy(),
            starts.numpy(),
            block_tokens,
            tokens,
        )
        return torch.from_numpy(found.pages), torch.from_numpy(found.offsets)

    def store_entries(self, cache: Cache, rows: PageRows, key: Tensor, value: Tensor) -> None:
        gathered.store(cache, (rows.pages, rows.offsets), key, value)

    def attend(
        self, query: Tensor, cache: Cache, rows: PageRows, window_tokens: int | None
    ) -> Tensor:
        return gathered.attend(query, cache, rows.rows, window_tokens)

    def causal_conv(
        self, x: Tensor, weight: Tensor, windows: Tensor, spans: Spans, sources: Tensor, to: Tensor
    ) -> Tensor:
        return conv.causal_conv_reference(
            x,
            weight,
            windows,
            spans.row_starts,
            spans.row_segments,
            spans.segment_starts,
            sources,
            to,
        )

    def delta_chunk(
        self, x: DeltaInputs, states: Tensor, spans: Spans, sources: Tensor, to: Tensor
    ) -> Tensor:
        return chunk.chunk_reference(
            x.q,
            x.k,
            x.v,
            x.g,
            x.beta,
            states,
            spans.row_starts,
            spans.row_segments,
            spans.segment_starts,
            sources,
            to,
        )

    def delta_decode(
        self, x: DeltaInputs, states: Tensor, row_starts: Tensor, sources: Tensor, to: Tensor
    ) -> Tensor:
        return decode.decode_reference(x.q, x.k, x.v, x.g, x.beta, states, row_starts, sources, to)


def _on_host(rows: StateRows) -> slots.StateRows:
    return slots.StateRows(*(getattr(rows, name).numpy() for name in slots.StateRows._fields))


def backend_of(name: BackendName) -> Backend:
    """The back end of this name; BackendError says why it cannot run here."""
    match name:
        case BackendName.TORCH:
            return TorchBackend()
        case BackendName.INTERPRETER | BackendName.CUDA:
            from truehit.engine.model.kernel_backend import KernelBackend

            return KernelBackend(name)

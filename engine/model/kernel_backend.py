"""The back end of the kernels: on a GPU, or on the CPU in Triton's interpreter.

Which of the two Triton does is settled when it is imported; the interpreter needs a process that
was started with TRITON_INTERPRET=1."""

import os

import torch
from torch import Tensor

from truehit.engine.model.backend import (
    BackendError,
    BackendName,
    Cache,
    DeltaInputs,
    PageRows,
    Spans,
)
from truehit.kernels import chunk, conv, decode, paged_attention, pages, slots
from truehit.kernels.slots import StateRows

INTERPRET = "TRITON_INTERPRET"


class KernelBackend:
    """Launches the kernels. BackendError: they cannot run here."""

    def __init__(self, name: BackendName) -> None:
        self.name = name
        self.device = _device(name)
        # The library's kernels multiply float32 in tf32; torch's do not.
        self._exact = chunk.TorchSegments()
        self._fast = chunk.segment_math(self.device)

    def copy_pages(self, pool: Tensor, sources: Tensor, targets: Tensor) -> None:
        pages.copy_pages(pool, sources, targets)

    def fill_pages(self, pool: Tensor, own: Tensor, byte: int) -> None:
        pages.fill_pages(pool, own, byte)

    def state_slots(self, rows: StateRows, grid: int, tokens: int) -> tuple[Tensor, Tensor, Tensor]:
        found = slots.state_slots(rows, grid, tokens)
        return found.sources, found.token_targets, found.checkpoint_targets

    def accepted_slots(
        self, rows: StateRows, dones: Tensor, grid: int
    ) -> tuple[Tensor, Tensor, Tensor]:
        found = slots.accepted_slots(rows, dones, grid)
        return found.next_currents, found.boundary_sources, found.boundary_targets

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
            tables, lengths, row_starts, starts, block_tokens, tokens, widest_tokens
        )
        return found.pages, found.offsets

    def store_entries(self, cache: Cache, rows: PageRows, key: Tensor, value: Tensor) -> None:
        paged_attention.store_entries(
            key.contiguous(), value.contiguous(), *cache, rows.pages, rows.offsets
        )

    def attend(
        self, query: Tensor, cache: Cache, rows: PageRows, window_tokens: int | None
    ) -> Tensor:
        return paged_attention.paged_attention(
            query.contiguous(),
            *cache,
            rows.tables,
            rows.row_starts,
            rows.starts,
            rows.longest_row_tokens,
            window_tokens,
        )

    def causal_conv(
        self, x: Tensor, weight: Tensor, windows: Tensor, spans: Spans, sources: Tensor, to: Tensor
    ) -> Tensor:
        return conv.causal_conv(
            x.contiguous(),
            weight.contiguous(),
            windows,
            spans.row_starts,
            spans.row_segments,
            spans.segment_starts,
            sources.contiguous(),
            to.contiguous(),
            spans.longest_row_tokens,
        )

    def delta_chunk(
        self, x: DeltaInputs, states: Tensor, spans: Spans, sources: Tensor, to: Tensor
    ) -> Tensor:
        is_exact = x.v.dtype is torch.float32
        return chunk.gated_delta_chunk(
            x.q.contiguous(),
            x.k.contiguous(),
            x.v.contiguous(),
            x.g,
            x.beta,
            states,
            spans.row_starts,
            spans.row_segments,
            spans.segment_starts,
            sources.contiguous(),
            to.contiguous(),
            within=self._exact if is_exact else self._fast,
        )

    def delta_decode(
        self, x: DeltaInputs, states: Tensor, row_starts: Tensor, sources: Tensor, to: Tensor
    ) -> Tensor:
        return decode.gated_delta_decode(
            x.q, x.k, x.v, x.g, x.beta, states, row_starts, sources.contiguous(), to.contiguous()
        )


def _device(name: BackendName) -> torch.device:
    is_interpreting = os.environ.get(INTERPRET) == "1"
    match name:
        case BackendName.CUDA:
            if is_interpreting:
                raise BackendError(f"back end cuda: {INTERPRET}=1 is set; unsetting it works")
            if not torch.cuda.is_available():
                raise BackendError("back end cuda: no GPU is visible; back end torch works")
            return torch.device("cuda")
        case _:
            if not is_interpreting:
                raise BackendError(f"back end interpreter: {INTERPRET} is not 1; setting it works")
            from truehit.kernels import interpreter

            interpreter.activate()
            return torch.device("cpu")

"""Every kernel on ragged random inputs, as trials. The first word of a case's name is the kernel's.

Sizes named `k16` are for Triton's interpreter; the others are what the kernels' tables name."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch

from truehit.proofs.gpu.cases_attention import attention_trial, store_trial
from truehit.proofs.gpu.cases_delta import chunk_trial, decode_trial, recurrence_trial
from truehit.proofs.gpu.cases_mamba import scan_trial, update_trial
from truehit.proofs.gpu.cases_pages import conv_trial, copy_trial, fill_trial
from truehit.proofs.gpu.cases_replay import commit_trial, verify_trial
from truehit.proofs.gpu.cases_slots import accepted_trial, page_trial, state_trial
from truehit.proofs.gpu.drawing import Draw
from truehit.proofs.gpu.sizes import SIZES, Sizes
from truehit.proofs.gpu.trial import Trial

Build = Callable[[Draw, Sizes, torch.dtype, torch.dtype], Trial]
TYPES: Mapping[str, torch.dtype] = {"fp32": torch.float32, "bf16": torch.bfloat16}
TYPED: Mapping[str, Build] = {
    "gated_delta_decode": decode_trial,
    "state_recurrence": recurrence_trial,
    "causal_conv": conv_trial,
    "gated_delta_verify": verify_trial,
    "gated_delta_commit": commit_trial,
    "mamba2_update": update_trial,
    "mamba2_scan": scan_trial,
    "gated_delta_chunk": chunk_trial,
}
"""The last one tunes the library's kernels at its first launch, and that takes its time."""
PAIRED: Mapping[str, Build] = {"paged_attention": attention_trial, "store_entries": store_trial}
"""Pools have the type of the activations."""
UNTYPED: Mapping[str, Build] = {
    "copy_pages": copy_trial,
    "fill_pages": fill_trial,
    "state_slots": state_trial,
    "accepted_slots": accepted_trial,
    "page_slots": page_trial,
}
"""Bytes and integers: the result is exact."""
ALL = {**TYPED, **PAIRED, **UNTYPED}
LAUNCHED_BY = {"mamba2_states": "mamba2_scan", "mamba2_outputs": "mamba2_scan"}
"""Kernels without a launcher of their own: the case that runs them."""


@dataclass(frozen=True, slots=True)
class Case:
    """A kernel, the types of activations and pool, and sizes by name."""

    kernel: str
    activations: str
    pool: str
    sizes: str

    @property
    def name(self) -> str:
        """`gated_delta_decode bf16/fp32 k128`, `copy_pages k128`."""
        types = f" {self.activations}/{self.pool}" if self.kernel not in UNTYPED else ""
        return f"{self.kernel}{types} {self.sizes}"

    def trial(self, seed: int, device: torch.device) -> Trial:
        """Fresh inputs of this seed."""
        build = ALL[self.kernel]
        draw = Draw(seed, self.name, device)
        return build(draw, SIZES[self.sizes], TYPES[self.activations], TYPES[self.pool])


def cases(*sizes: str) -> tuple[Case, ...]:
    """All of them for these sizes; the short ones first."""
    exact = [Case(kernel, "fp32", "fp32", name) for name in sizes for kernel in UNTYPED]
    typed = [
        Case(kernel, activations, pool, name)
        for kernel in TYPED
        for name in sizes
        for activations in TYPES
        for pool in TYPES
    ]
    paired = [Case(kernel, own, own, name) for name in sizes for kernel in PAIRED for own in TYPES]
    return (*exact, *paired, *typed)


def uncased(kernels: tuple[str, ...]) -> tuple[str, ...]:
    """Kernels of the package that no case runs."""
    return tuple(kernel for kernel in kernels if LAUNCHED_BY.get(kernel, kernel) not in ALL)

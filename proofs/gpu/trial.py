"""One kernel, many times on equal inputs, against its rule in float64.

Property of `check`: a wrong number, a byte that differs between repeats, a byte written outside the
pages that are to be written, or an output that was not written is told. Outputs start as NaN (or
the largest integer) because torch fills what it allocates; pages not drawn are NaN."""

from collections.abc import Callable
from dataclasses import dataclass
from math import prod

import torch
from torch import Tensor

from truehit.proofs.gpu.record import Checked

GAP_ELEMENTS = 16
"""Between pages: page strides stay multiples of 16."""

Act = Callable[[tuple[Tensor, ...]], tuple[Tensor, ...]]


@dataclass(frozen=True, slots=True)
class Paged:
    """A pool in memory of its own, with gaps between pages. `written`: pages that may change."""

    memory: Tensor
    shape: tuple[int, ...]
    stride: int
    written: Tensor

    @classmethod
    def of(cls, pages: Tensor, written: list[int]) -> "Paged":
        """Holding these pages; gaps are NaN, or 0xFF bytes."""
        elements = prod(pages.shape[1:])
        stride = elements + GAP_ELEMENTS
        fill = float("nan") if pages.is_floating_point() else torch.iinfo(pages.dtype).max
        memory = torch.full((pages.shape[0], stride), fill, dtype=pages.dtype, device=pages.device)
        memory[:, :elements] = pages.flatten(1)
        own = torch.tensor(written, dtype=torch.int64, device=pages.device)
        return cls(memory.flatten(), tuple(pages.shape), stride, own)

    def view(self, memory: Tensor) -> Tensor:
        """The pages in a copy of the memory."""
        inner = [prod(self.shape[axis + 1 :]) for axis in range(1, len(self.shape))]
        return memory.as_strided(self.shape, (self.stride, *inner))

    def is_contained(self, memory: Tensor) -> bool:
        """Nothing but the written pages differs from this."""
        restored = memory.clone()
        self.view(restored)[self.written] = self.view(self.memory)[self.written]
        return same_bytes(restored, self.memory)


@dataclass(frozen=True, slots=True)
class Trial:
    """`launch` and `rule` get the pools' views and return outputs; the rule's are on the CPU, of
    float64 where they are floats."""

    pools: tuple[Paged, ...]
    launch: Act
    rule: Act
    tolerance: float


def check(item: str, trial: Trial, repeats: int) -> Checked:
    """The trial, judged by numbers."""
    expected, expected_pools = _by_rule(trial)
    error, is_repeatable, is_contained = 0.0, True, True
    first: list[Tensor] = []
    for _ in range(repeats):
        memories = [pool.memory.clone() for pool in trial.pools]
        views = [pool.view(own) for pool, own in zip(trial.pools, memories, strict=True)]
        outputs = trial.launch(tuple(views))
        for pool, own in zip(trial.pools, memories, strict=True):
            is_contained &= pool.is_contained(own)
        found = [*outputs, *memories]
        if first:
            is_repeatable &= all(map(same_bytes, found, first))
            continue
        first = found
        errors = [difference(a, b) for a, b in zip(outputs, expected, strict=True)]
        for pool, view, wanted in zip(trial.pools, views, expected_pools, strict=True):
            errors.append(difference(view[pool.written], wanted[pool.written.cpu()]))
        error = max(errors)
    return Checked(item, error, trial.tolerance, repeats, is_repeatable, is_contained)


def _by_rule(trial: Trial) -> tuple[tuple[Tensor, ...], list[Tensor]]:
    views = [wide(pool.view(pool.memory.clone())) for pool in trial.pools]
    return trial.rule(tuple(views)), views


def wide(values: Tensor) -> Tensor:
    """On the CPU, floats as float64."""
    host = values.cpu()
    return host.double() if host.is_floating_point() else host.clone()


def difference(found: Tensor, expected: Tensor) -> float:
    """The largest, over the largest expected magnitude for floats; infinite for what is not
    finite."""
    if found.shape != expected.shape:
        return float("inf")
    if not expected.numel():
        return 0.0
    by = (found.cpu().double() - expected.double()).abs().nan_to_num(nan=float("inf"))
    largest = 1.0
    if expected.is_floating_point():
        largest = max(expected.double().abs().max().item(), 1e-30)
    return by.max().item() / largest


def same_bytes(left: Tensor, right: Tensor) -> bool:
    """NaN or not."""
    views = [each.contiguous().flatten().view(torch.uint8) for each in (left, right)]
    return torch.equal(*views)

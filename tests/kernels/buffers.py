"""Memory that tells what was done to it: red zones around a tensor, poison in it, digests of what
must not change; and the one measure of error the cases use."""

import ctypes
import mmap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from math import prod
from typing import Self
from unittest.mock import patch

import torch

ZONE_BYTES = 4096
_PATTERN = 0xA5
_NO_ACCESS = 0


def poisoned(shape: Sequence[int], dtype: torch.dtype) -> torch.Tensor:
    """Every byte 0xFF: NaN in every float type, -1 in every signed one."""
    bytes_ = torch.full((prod(shape) * dtype.itemsize,), 0xFF, dtype=torch.uint8)
    return bytes_.view(dtype).view(*shape)


@dataclass(frozen=True, slots=True)
class RedZoned:
    """A tensor between two zones nobody may write. Strides in elements; `gaps` holds what lies
    between the tensor's elements too (page strides wider than a page)."""

    tensor: torch.Tensor
    _memory: torch.Tensor
    _expected: torch.Tensor
    _within: torch.Tensor

    @classmethod
    def make(
        cls, shape: Sequence[int], dtype: torch.dtype, strides: Sequence[int] | None = None
    ) -> Self:
        """Poisoned; contiguous unless `strides` are given."""
        steps = _contiguous(shape) if strides is None else tuple(strides)
        elements = 1 + sum((size - 1) * step for size, step in zip(shape, steps, strict=True))
        elements = elements if prod(shape) else 0
        zone = ZONE_BYTES // dtype.itemsize
        memory = torch.full(((elements + 2 * zone) * dtype.itemsize,), _PATTERN, dtype=torch.uint8)
        within = torch.zeros(elements + 2 * zone, dtype=torch.bool)
        within.as_strided(tuple(shape), steps, zone).fill_(True)
        view = memory.view(dtype).as_strided(tuple(shape), steps, zone)
        view.copy_(poisoned(shape, dtype))
        return cls(view, memory, memory.clone(), within.repeat_interleave(dtype.itemsize))

    @classmethod
    def of(cls, values: torch.Tensor, strides: Sequence[int] | None = None) -> Self:
        """Holding these values."""
        zoned = cls.make(values.shape, values.dtype, strides)
        zoned.tensor.copy_(values)
        return zoned

    def intact(self) -> bool:
        """Nothing outside the tensor's own elements has changed."""
        return bool(((self._memory == self._expected) | self._within).all())


def _contiguous(shape: Sequence[int]) -> tuple[int, ...]:
    return tuple(prod(shape[axis + 1 :]) for axis in range(len(shape)))


@contextmanager
def zoned_outputs() -> Iterator[None]:
    """What a launcher allocates with `torch.empty` in here is poisoned and between red zones."""
    made: list[RedZoned] = []

    def zoned(*shape: int, dtype: torch.dtype, device: torch.device | None = None) -> torch.Tensor:
        assert device is None or device.type == "cpu"
        made.append(RedZoned.make(shape, dtype))
        return made[-1].tensor

    with patch.object(torch, "empty", zoned):
        yield
    assert all(each.intact() for each in made), "written outside an output"


def at_the_edge(values: torch.Tensor) -> torch.Tensor:
    """A copy behind whose last byte memory ends: reading past it kills the process."""
    size_bytes = values.numel() * values.dtype.itemsize
    edge_bytes = -(-size_bytes // mmap.PAGESIZE) * mmap.PAGESIZE
    memory = torch.frombuffer(mmap.mmap(-1, edge_bytes + mmap.PAGESIZE), dtype=torch.uint8)
    edge = ctypes.c_void_p(memory.data_ptr() + edge_bytes)
    if ctypes.CDLL(None).mprotect(edge, ctypes.c_size_t(mmap.PAGESIZE), _NO_ACCESS):
        raise OSError("mprotect refused the page behind the edge")
    copied = memory[edge_bytes - size_bytes : edge_bytes].view(values.dtype).view(values.shape)
    return copied.copy_(values)


def digest(tensor: torch.Tensor) -> str:
    """Of its bytes, in the order of its elements."""
    return sha256(tensor.contiguous().view(torch.uint8).numpy().tobytes()).hexdigest()


def page_digests(pool: torch.Tensor) -> list[str]:
    """One for each page of `pool[pages, ...]`."""
    return [digest(page) for page in pool]


def relative_error(found: torch.Tensor, expected: torch.Tensor) -> float:
    """The largest difference over the largest expected magnitude; infinite if anything found is
    not finite where the expectation is."""
    assert found.shape == expected.shape, f"{tuple(found.shape)} is not {tuple(expected.shape)}"
    if expected.numel() == 0:
        return 0.0
    difference = (found.double() - expected.double()).abs().nan_to_num(nan=float("inf"))
    return float(difference.max() / expected.double().abs().max().clamp_min(1e-30))


def assert_near(found: torch.Tensor, expected: torch.Tensor, tolerance: float, what: str) -> None:
    """The relative error is below the tolerance."""
    error = relative_error(found, expected)
    assert error < tolerance, f"{what}: relative error {error:.2e}, below {tolerance:.0e} expected"

"""What the harness has to survive, and instruments that have to tell; `test_harness.py` expects
each fate."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

import ctypes
import os
import time

import pytest
import torch
import triton
import triton.language as tl

from ..buffers import RedZoned, assert_near, at_the_edge, poisoned, zoned_outputs
from ..programs import backwards


@triton.jit
def last_to_write(out, SIZE: tl.constexpr):
    tl.store(out + tl.arange(0, SIZE), tl.program_id(0) * 10 + tl.program_id(1))


@triton.jit
def read(values, out, SIZE: tl.constexpr):
    tl.store(out, tl.sum(tl.load(values + tl.arange(0, SIZE)), 0))


def case_passes() -> None:
    print("what a case prints is not an answer")
    assert os.environ["TRITON_INTERPRET"] == "1"


def case_fails() -> None:
    found = 2 + 2
    assert found == 5, f"found {found}"


def case_dies() -> None:
    ctypes.string_at(8)


def case_reads_behind_a_tensor() -> None:
    read[(1,)](at_the_edge(torch.ones(4)), torch.zeros(1), SIZE=8)


def case_ends_the_process() -> None:
    os._exit(3)


def case_hangs() -> None:
    time.sleep(600)


def case_reads_up_to_the_end() -> None:
    out = torch.zeros(1)
    read[(1,)](at_the_edge(torch.ones(8)), out, SIZE=8)
    assert out.item() == 8


def case_zones_tell() -> None:
    """Before, between and behind the elements; the elements themselves are free."""
    for offset in (-1, 4, 12):
        zoned = RedZoned.make((2, 4), torch.float32, (8, 1))
        assert bool(zoned.tensor.isnan().all())
        zoned.tensor.fill_(1)
        assert zoned.intact()
        start = zoned.tensor.storage_offset() + offset
        torch.as_strided(zoned.tensor, (1,), (1,), start).fill_(1)
        assert not zoned.intact()


def case_outputs_are_zoned() -> None:
    with pytest.raises(AssertionError, match="written outside an output"), zoned_outputs():
        out = torch.empty(2, dtype=torch.float32)
        assert bool(out.isnan().all())
        last_to_write[(1,)](out, SIZE=4)


def case_programs_run_backwards() -> None:
    out = torch.zeros(1)
    last_to_write[(3, 2)](out, SIZE=1)
    assert out.item() == 21
    with backwards():
        last_to_write[(3, 2)](out, SIZE=1)
    assert out.item() == 0
    last_to_write[(3, 2)](out, SIZE=1)
    assert out.item() == 21


def case_nan_is_never_near() -> None:
    with pytest.raises(AssertionError, match="outputs: relative error inf"):
        assert_near(poisoned((3,), torch.float32), torch.ones(3), 1e-5, "outputs")
    with pytest.raises(AssertionError, match=r"relative error 1\.00e-03, below 1e-05"):
        assert_near(torch.tensor([1.0, 2.002]), torch.tensor([1.0, 2.0]), 1e-5, "outputs")

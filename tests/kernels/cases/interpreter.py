"""bf16 in the interpreter, operation by operation, against torch."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators
import pytest
import torch
import triton
import triton.language as tl
from triton.runtime.errors import InterpreterError
from triton.runtime.interpreter import interpreter_builder

from truehit.kernels.interpreter import activate, check

SIZE = 4096


@triton.jit
def arithmetic(left, right, out, SIZE: tl.constexpr):
    at = tl.arange(0, SIZE)
    a = tl.load(left + at)
    b = tl.load(right + at)
    tl.store(out + at, a * b)
    tl.store(out + SIZE + at, a / b)
    tl.store(out + 2 * SIZE + at, -a)
    tl.store(out + 3 * SIZE + at, tl.maximum(a, b))
    tl.store(out + 4 * SIZE + at, tl.where(a < b, a, b))
    tl.store(out + 5 * SIZE + at, a * 0.3)
    tl.store(out + 6 * SIZE + at, tl.abs(a))
    limit = tl.abs(b)
    clamped = tl.clamp(a, -limit, limit, propagate_nan=tl.PropagateNan.ALL)
    tl.store(out + 7 * SIZE + at, clamped)
    tl.store(out + 8 * SIZE + at, tl.fma(a, b, a))


@triton.jit
def casts(integers, values, as_bf16, as_int, as_fp64, SIZE: tl.constexpr):
    at = tl.arange(0, SIZE)
    tl.store(as_bf16 + at, tl.load(integers + at).to(tl.bfloat16))
    tl.store(as_int + at, tl.load(values + at).to(tl.int32))
    tl.store(as_fp64 + at, tl.load(values + at).to(tl.float64))


@triton.jit
def masked(values, out, count, SIZE: tl.constexpr):
    at = tl.arange(0, SIZE)
    tl.store(out + at, tl.load(values + at, mask=at < count, other=1.0))


@triton.jit
def reduced(values, out, SIZE: tl.constexpr):
    tl.store(out, tl.sum(tl.load(values + tl.arange(0, SIZE)), axis=0))


@triton.jit
def added(values, out, SIZE: tl.constexpr):
    at = tl.arange(0, SIZE)
    tl.atomic_add(out + at, tl.load(values + at))


def drawn(seed: int) -> torch.Tensor:
    draw = torch.Generator().manual_seed(seed)
    return torch.randn(SIZE, generator=draw).to(torch.bfloat16)


def case_arithmetic_rounds_once() -> None:
    left, right = drawn(1), drawn(2)
    out = torch.zeros(9, SIZE, dtype=torch.bfloat16)
    arithmetic[(1,)](left, right, out, SIZE=SIZE)
    constant = torch.tensor(0.3).to(torch.bfloat16)
    expected = [
        left * right,
        left / right,
        -left,
        torch.maximum(left, right),
        torch.minimum(left, right),
        left * constant,
        left.abs(),
        left.clamp(-right.abs(), right.abs()),
        (left.float() * right.float() + left.float()).to(torch.bfloat16),
    ]
    for found, wanted in zip(out, expected, strict=True):
        assert torch.equal(found, wanted)


def case_casts_from_and_to_other_types() -> None:
    integers = torch.arange(SIZE, dtype=torch.int32) * 257
    values = drawn(3) * 1000
    as_bf16 = torch.zeros(SIZE, dtype=torch.bfloat16)
    as_int, as_fp64 = torch.zeros(SIZE, dtype=torch.int32), torch.zeros(SIZE, dtype=torch.float64)
    casts[(1,)](integers, values, as_bf16, as_int, as_fp64, SIZE=SIZE)
    assert torch.equal(as_bf16, integers.to(torch.bfloat16))
    assert torch.equal(as_int, values.to(torch.int32))
    assert torch.equal(as_fp64, values.double())


def case_a_masked_load_fills_in() -> None:
    values, out = drawn(4), torch.zeros(SIZE, dtype=torch.bfloat16)
    masked[(1,)](values, out, 100, SIZE=SIZE)
    assert torch.equal(out[:100], values[:100]) and bool((out[100:] == 1).all())


def case_reductions_are_refused() -> None:
    with pytest.raises(InterpreterError, match="bf16 in a reduction or scan"):
        reduced[(1,)](drawn(5), torch.zeros(1, dtype=torch.bfloat16), SIZE=SIZE)


def case_atomics_are_refused() -> None:
    with pytest.raises(InterpreterError, match="bf16 in create_atomic_rmw"):
        added[(1,)](drawn(6), torch.zeros(SIZE, dtype=torch.bfloat16), SIZE=SIZE)


def case_the_canary_sees_each_missing_replacement() -> None:
    """Whatever is taken out of the interpreter again, `check` says so."""
    for name, said in (("cast_impl", "casts"), ("binary_op", "sums"), ("create_dot", "dots")):
        delattr(interpreter_builder, name)
        with pytest.raises(RuntimeError, match=f"bf16 {said} are not replaced"):
            check()
        activate()
    check()

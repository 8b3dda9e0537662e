"""bf16 under Triton's interpreter is what a GPU makes of it, or an error; never silently wrong.

The interpreter holds bf16 as its bit pattern in a uint16: arithmetic works on the patterns, and a
cast from fp32 cuts bits off where hardware rounds to the nearest even. `activate` replaces what
touches bf16 in the interpreter of this process (operands are widened to fp32, results rounded
once), refuses what it does not replace (reductions, atomics), and runs `check`: the parts replaced
are private to Triton and may move."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch
import triton
import triton.language as tl
from numpy.typing import NDArray
from triton.runtime import interpreter as inside

_WORD = 1 << 16
_AROUND = (0, 1, 0x7FFF, 0x8000, 0x8001, 0xFFFF)
"""Bits below bf16's last: exact, just above, and both sides of the tie."""
_TILE = 16
_WIDENED = ("binary_op", "unary_op", "create_fma", "create_dot")
_REFUSED = ("create_fp_to_fp", "create_atomic_rmw")


def activate() -> None:
    """Makes bf16 right in this process. RuntimeError: Triton was imported without interpreting."""
    if not isinstance(tl.zeros_like, inside.InterpretedFunction):
        raise RuntimeError(
            "kernels/interpreter.py: Triton was imported with TRITON_INTERPRET unset; "
            "start the process with TRITON_INTERPRET=1"
        )
    plain, builder = inside.InterpreterBuilder, inside.interpreter_builder
    for name in _WIDENED:
        setattr(builder, name, partial(_widened, getattr(plain, name), builder))
    for name in _REFUSED:
        setattr(builder, name, partial(_refused, getattr(plain, name), builder))
    builder.cast_impl = partial(_cast, plain.cast_impl, builder)
    builder.get_bf16 = _constant
    inside.ReduceScanOpInterface.check_tensor = _checked
    check()


def check() -> None:
    """The canary. RuntimeError: a cast, a sum or a dot of bf16 is not what torch computes."""
    _check_casts()
    _check_arithmetic()


def narrow(values: NDArray[np.float32]) -> NDArray[np.uint16]:
    """bf16 patterns nearest to fp32 values; ties to the even pattern; NaN stays NaN."""
    bits = np.ascontiguousarray(values).view(np.uint32)
    nearest = (bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16)
    quiet = (bits >> np.uint32(16)) | np.uint32(0x40)
    return np.where(np.isnan(values), quiet, nearest).astype(np.uint16)


def widen(patterns: NDArray[np.uint16]) -> NDArray[np.float32]:
    """The fp32 values of bf16 patterns; exact."""
    return (patterns.astype(np.uint32) << np.uint32(16)).view(np.float32)


def _is_bf16(value: object) -> bool:
    return isinstance(value, inside.TensorHandle) and value.dtype.scalar == tl.bfloat16


def _handle(values: NDArray[Any]) -> Any:
    return inside.TensorHandle(narrow(values), tl.bfloat16)


def _fp32(value: Any) -> Any:
    return inside.TensorHandle(widen(value.data), tl.float32) if _is_bf16(value) else value


def _widened(original: Callable[..., Any], builder: Any, *arguments: Any) -> Any:
    """An operation on fp32 operands, rounded once if every operand was bf16."""
    handles = [value for value in arguments if isinstance(value, inside.TensorHandle)]
    result = original(builder, *map(_fp32, arguments))
    if result.data.dtype == np.float32 and all(map(_is_bf16, handles)):
        return _handle(result.data)
    return result


def _refused(original: Callable[..., Any], builder: Any, *arguments: Any) -> Any:
    if any(map(_is_bf16, arguments)) or tl.bfloat16 in arguments:
        raise NotImplementedError(f"bf16 in {original.__name__}: cast to fp32 first")
    return original(builder, *arguments)


def _cast(original: Callable[..., Any], builder: Any, source: Any, target: Any) -> Any:
    if target.scalar == tl.bfloat16:
        return _handle(_fp32(source).data.astype(np.float32))
    return original(builder, _fp32(source), target)


def _constant(value: float) -> Any:
    return _handle(np.array([value], dtype=np.float32))


_checked_by_triton = inside.ReduceScanOpInterface.check_tensor


def _checked(self: Any, values: Any) -> None:
    if any(_is_bf16(value.handle) for value in values):
        raise NotImplementedError("bf16 in a reduction or scan: cast to fp32 first")
    _checked_by_triton(self, values)


@triton.jit
def _rounded(values, out, TILE: tl.constexpr):
    at = tl.program_id(0) * TILE + tl.arange(0, TILE)
    tl.store(out + at, tl.load(values + at).to(tl.bfloat16))


@triton.jit
def _sum_and_dot(left, right, sums, dots, TILE: tl.constexpr):
    at = tl.arange(0, TILE)[:, None] * TILE + tl.arange(0, TILE)[None, :]
    a = tl.load(left + at)
    b = tl.load(right + at)
    tl.store(sums + at, a + b)
    tl.store(dots + at, tl.dot(a, b))


def _check_casts() -> None:
    patterns = torch.arange(_WORD, dtype=torch.int64)[None, :] * _WORD
    bits = (patterns + torch.tensor(_AROUND)[:, None]).flatten()
    values = torch.where(bits < 2**31, bits, bits - 2**32).to(torch.int32).view(torch.float32)
    rounded = torch.zeros(values.numel(), dtype=torch.bfloat16)
    _rounded[(len(_AROUND),)](values, rounded, TILE=_WORD)
    expected = values.to(torch.bfloat16)
    same = rounded.view(torch.int16) == expected.view(torch.int16)
    wrong = ~(same | (rounded.isnan() & expected.isnan()))
    if wrong.any():
        at = int(wrong.nonzero()[0])
        raise RuntimeError(
            f"kernels/interpreter.py: bf16 casts are not replaced in Triton {triton.__version__}: "
            f"{values[at].item()!r} became {rounded[at].item()!r}, not {expected[at].item()!r}"
        )


def _check_arithmetic() -> None:
    draw = torch.Generator().manual_seed(0)
    left, right = torch.randn(2, _TILE, _TILE, generator=draw).to(torch.bfloat16)
    sums, dots = torch.zeros_like(left), torch.zeros(_TILE, _TILE)
    _sum_and_dot[(1,)](left, right, sums, dots, TILE=_TILE)
    if not torch.equal(sums, left + right):
        raise RuntimeError(
            f"kernels/interpreter.py: bf16 sums are not replaced in Triton {triton.__version__}"
        )
    if not torch.allclose(dots, left.float() @ right.float(), rtol=1e-5, atol=1e-5):
        raise RuntimeError(
            f"kernels/interpreter.py: bf16 dots are not replaced in Triton {triton.__version__}"
        )

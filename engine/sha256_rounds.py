"""One compression of SHA-256: with the processor's SHA instructions, or portable."""

from typing import Any

import numpy as np
from llvmlite import binding, ir
from numba import types
from numba.core import cgutils, config
from numba.extending import intrinsic

from truehit.engine.compiled import IS_COMPILED, compiled
from truehit.engine.memory import UInt32


def _primes(count: int) -> list[int]:
    found: list[int] = []
    number = 2
    while len(found) < count:
        if all(number % prime for prime in found):
            found.append(number)
        number += 1
    return found


def _root_fraction(prime: int, root: int) -> int:
    """The first 32 bits of the fraction of the square or cube root, exactly."""
    scaled = prime << 32 * root
    low, high = 0, 1 << 40
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if middle**root <= scaled else (low, middle)
    return low & 0xFFFFFFFF


INITIAL = np.array([_root_fraction(prime, 2) for prime in _primes(8)], dtype=np.uint32)
ROUND = np.array([_root_fraction(prime, 3) for prime in _primes(64)], dtype=np.uint32)


@compiled
def _turn(word: np.uint32, by: int) -> np.uint32:
    # Compiled arithmetic of 32-bit words is of 64 bits: the high half is cut off again.
    return np.uint32((word >> np.uint32(by)) | (word << np.uint32(32 - by)))


@compiled
def _compress_portable(state: UInt32, words: UInt32) -> None:
    schedule = np.empty(64, np.uint32)
    for t in range(16):
        schedule[t] = words[t]
    for t in range(16, 64):
        early, late = schedule[t - 15], schedule[t - 2]
        low = _turn(early, 7) ^ _turn(early, 18) ^ (early >> np.uint32(3))
        high = _turn(late, 17) ^ _turn(late, 19) ^ (late >> np.uint32(10))
        schedule[t] = schedule[t - 16] + low + schedule[t - 7] + high
    a, b, c, d, e, f, g, h = state
    for t in range(64):
        sum_e = _turn(e, 6) ^ _turn(e, 11) ^ _turn(e, 25)
        one = np.uint32(h + sum_e + ((e & f) ^ (~e & g)) + ROUND[t] + schedule[t])
        sum_a = _turn(a, 2) ^ _turn(a, 13) ^ _turn(a, 22)
        two = sum_a + ((a & b) ^ (a & c) ^ (b & c))
        h, g, f, e = g, f, e, np.uint32(d + one)
        d, c, b, a = c, b, a, np.uint32(one + two)
    state[0] += a
    state[1] += b
    state[2] += c
    state[3] += d
    state[4] += e
    state[5] += f
    state[6] += g
    state[7] += h


_function: Any = cgutils.get_or_insert_function


def _lanes(*indices: int) -> ir.Constant:
    return ir.Constant(ir.VectorType(ir.IntType(32), 4), list(indices))


def _generate(builder: ir.IRBuilder, state: ir.Value, words: ir.Value) -> None:
    """The compression in SHA instructions; `state` and `words` point to 8 and 16 words."""
    vector = ir.VectorType(ir.IntType(32), 4)
    module = builder.module
    rounds = _function(module, ir.FunctionType(vector, [vector] * 3), "llvm.x86.sha256rnds2")
    mix_low, mix_high = (
        _function(module, ir.FunctionType(vector, [vector] * 2), name)
        for name in ("llvm.x86.sha256msg1", "llvm.x86.sha256msg2")
    )

    def load(pointer: ir.Value, first: int) -> ir.Value:
        at = builder.gep(pointer, [ir.Constant(ir.IntType(64), first)])
        return builder.load(builder.bitcast(at, vector.as_pointer()), align=4)

    def store(value: ir.Value, pointer: ir.Value, first: int) -> None:
        at = builder.gep(pointer, [ir.Constant(ir.IntType(64), first)])
        builder.store(value, builder.bitcast(at, vector.as_pointer()), align=4)

    low, high = load(state, 0), load(state, 4)
    # The instructions want the words in this order: f e b a, and h g d c.
    first = builder.shuffle_vector(high, low, _lanes(1, 0, 5, 4))
    second = builder.shuffle_vector(high, low, _lanes(3, 2, 7, 6))
    first_before, second_before = first, second
    message = [load(words, 4 * part) for part in range(4)]
    for part in range(16):
        if part >= 4:
            oldest, old, later, latest = message[-4:]
            mixed = builder.call(mix_low, [oldest, old])
            mixed = builder.add(mixed, builder.shuffle_vector(later, latest, _lanes(1, 2, 3, 4)))
            message.append(builder.call(mix_high, [mixed, latest]))
        constants = ir.Constant(vector, [int(k) for k in ROUND[4 * part : 4 * part + 4]])
        step = builder.add(message[part], constants)
        second = builder.call(rounds, [second, first, step])
        step = builder.shuffle_vector(step, step, _lanes(2, 3, 0, 0))
        first = builder.call(rounds, [first, second, step])
    first = builder.add(first, first_before)
    second = builder.add(second, second_before)
    store(builder.shuffle_vector(first, second, _lanes(3, 2, 7, 6)), state, 0)
    store(builder.shuffle_vector(first, second, _lanes(1, 0, 5, 4)), state, 4)


def _instructions(typing_context: Any, state: Any, words: Any) -> Any:
    signature = types.void(state, words)

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointers = [
            context.make_array(kind)(context, builder, value).data
            for kind, value in zip(signature.args, arguments, strict=True)
        ]
        _generate(builder, *pointers)
        return context.get_dummy_value()

    return signature, codegen


_compress_now: Any = intrinsic(_instructions)


@compiled
def _compress_by_instructions(state: UInt32, words: UInt32) -> None:
    _compress_now(state, words)


def has_instructions() -> bool:
    """Whether this processor computes SHA-256 rounds itself."""
    if not IS_COMPILED or config.CPU_FEATURES is not None:  # type: ignore[attr-defined]
        return False
    return bool(binding.get_host_cpu_features().get("sha", False))


compress = _compress_by_instructions if has_instructions() else _compress_portable

"""What callers pass, as the engine needs it, or one line why it cannot be used."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truehit.engine import entry
from truehit.engine.memory import Int32, Int64, UInt8
from truehit.engine.refused import Refused
from truehit.engine.token_list import LARGEST, int32_of_list

Tokens = Sequence[int] | Int32


def whole_number(name: str, value: Any, least: int, most: int) -> int:
    """An integer from `least` to `most`."""
    works = f"{max(least, min(1, most))} works"
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise Refused(f"{name}: {value!r} is no whole number; {works}")
    if not least <= value <= most:
        raise Refused(f"{name}: {value} is not between {least} and {most}; {works}")
    return int(value)


def salt_of(salt: Any) -> str:
    """A text that has bytes."""
    if not isinstance(salt, str):
        raise Refused(f"salt: {salt!r} is no text; '0' works")
    try:
        salt.encode()
    except UnicodeEncodeError:
        raise Refused(f"salt: {salt!r} holds half a character; '0' works") from None
    return salt


def int32_of(name: str, tokens: Any) -> Int32:
    """Token ids from 0 to 2^31 - 1, int32[tokens]."""
    works = f"ids from 0 to {LARGEST} work"
    if isinstance(tokens, np.ndarray):
        ids = _int32_of_array(name, tokens, works)
        wrong = entry.first_negative(ids)
        if wrong >= 0:
            raise Refused(f"{name}: {int(ids[wrong])} at {wrong} is negative; {works}")
        return ids
    if isinstance(tokens, str | bytes | bytearray):
        raise Refused(f"{name}: {type(tokens).__name__} is no list of numbers; {works}")
    try:
        return int32_of_list(tokens)
    except (OverflowError, TypeError, ValueError) as error:
        raise Refused(f"{name}: {error}; {works}") from None


def _int32_of_array(name: str, tokens: NDArray[Any], works: str) -> Int32:
    if tokens.ndim != 1:
        raise Refused(f"{name}: an array of {tokens.ndim} dimensions is no list; {works} in 1")
    if tokens.dtype == np.int32:
        return _laid_out(tokens)
    if tokens.dtype.kind not in "iu":
        raise Refused(f"{name}: an array of {tokens.dtype} has none; {works}")
    if tokens.size and not 0 <= int(tokens.min()) <= int(tokens.max()) <= LARGEST:
        raise Refused(f"{name}: {int(tokens.min())} to {int(tokens.max())}; {works}")
    return tokens.astype(np.int32, order="C")


def _laid_out(array: NDArray[Any]) -> NDArray[Any]:
    """The array as compiled code knows it: contiguous and writable. For another layout numba would
    compile every step anew, in the middle of serving."""
    return array if array.flags.carray else array.copy(order="C")


def _numbers(name: str, values: Any, rows: int, kinds: str) -> NDArray[Any]:
    """One number a row, of these kinds of numpy."""
    try:
        array = np.asarray(values)
    except ValueError:
        raise Refused(f"{name}: is ragged; {rows} numbers work") from None
    if array.shape != (rows,):
        raise Refused(f"{name}: shape {array.shape}; ({rows},) works")
    if rows and array.dtype.kind not in kinds:
        raise Refused(f"{name}: {array.dtype} has none of them; {rows} of them work")
    return array


def int64_of(counts: Any, rows: int) -> Int64:
    """Counts, int64[rows]."""
    return _laid_out(_numbers("counts", counts, rows, "iu").astype(np.int64, copy=False))


def uint8_of(ran: Any, rows: int) -> UInt8:
    """Which rows ran: booleans, uint8[rows]."""
    return _laid_out(_numbers("ran", ran, rows, "b").astype(np.uint8))

"""A Python list of token ids as int32, through the C interface of the interpreter.

Compiled code asks the interpreter itself for every item and its value: twice as fast as building an
array item by item. Both functions belong to the stable interface, so nothing here knows how lists
or integers are stored."""

from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import types

from truehit.engine.compiled import IS_COMPILED, compiled
from truehit.engine.memory import Int32

LARGEST = 2**31 - 1

_item: Any = types.ExternalFunction("PyList_GetItem", types.intp(types.intp, types.intp))
_value: Any = types.ExternalFunction("PyLong_AsLong", types.int64(types.intp))
_forget_error: Any = types.ExternalFunction("PyErr_Clear", types.void())


@compiled
def _read(address: int, target: Int32) -> bool:
    """Copy the values of a list into the target; False at the first that is no token id."""
    for i in range(target.shape[0]):
        value = _value(_item(address, i))
        if value < 0 or value > LARGEST:
            _forget_error()
            return False
        target[i] = value
    return True


def int32_of_list(tokens: Sequence[int]) -> Int32:
    """The ids as int32. TypeError or OverflowError when one is no integer from 0 to 2^31 - 1."""
    if IS_COMPILED and type(tokens) is list:
        target = np.empty(len(tokens), np.int32)
        if _read(id(tokens), target):
            return target
    plain = np.frombuffer(array("i", tokens), np.int32)
    if (plain < 0).any():
        raise OverflowError(f"{int(plain.min())} is negative")
    return plain

"""How compiled code sees the arrays of a core: through one address.

Passing thirty arrays to every function would cost microseconds a call and minutes of compilation.
So compiled functions get one number, the address of a table of (data address, shape) of every
array, and `c.block` reads it. The Python object that owns the arrays must outlive the call; `Host`
keeps both. Without compilation the handle is the core itself."""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic, models, overload_attribute, register_model
from numba.np import arrayobj
from numba.np.numpy_support import carray
from numpy.typing import NDArray

from truehit.engine.compiled import IS_COMPILED
from truehit.engine.memory import CONSTANT_DIMENSIONS, Core, Int64, empty_core

WORDS = 5
"""Address and up to four dimensions an array."""


def table_of(core: Core) -> Int64:
    """Addresses and shapes of the arrays of a core."""
    table = np.zeros((len(core), WORDS), np.int64)
    arrays: list[NDArray[Any]] = list(core._asdict().values())
    for row, array in zip(table, arrays, strict=True):
        row[0] = array.ctypes.data
        row[1 : 1 + array.ndim] = array.shape
    return table


class CoreType(types.Type):
    """The type of `c` in compiled functions: an address."""

    def __init__(self) -> None:
        super().__init__(name="Core")


CORE_TYPE = CoreType()


@register_model(CoreType)
class CoreModel(models.PrimitiveModel):
    """Represented by the address itself."""

    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, ir.IntType(64))  # type: ignore[no-untyped-call]


def _open_at(typing_context: Any, address: Any) -> Any:
    """The core at this address."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return arguments[0]

    return CORE_TYPE(types.int64), codegen


_opened: Any = intrinsic(_open_at)


def _loaded(builder: Any, core: Any, index: Any) -> Any:
    table = builder.inttoptr(core, ir.IntType(64).as_pointer())
    return builder.load(builder.gep(table, [index]))


def _word_at(typing_context: Any, core: Any, index: Any) -> Any:
    """One word of the table."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _loaded(builder, *arguments)

    return types.int64(core, types.int64), codegen


_dimension: Any = intrinsic(_word_at)


def _pointer_at(typing_context: Any, core: Any, index: Any) -> Any:
    """The data whose address is this word of the table."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(_loaded(builder, *arguments), ir.IntType(8).as_pointer())

    return types.voidptr(core, types.int64), codegen


_data: Any = intrinsic(_pointer_at)


def _define(position: int, name: str, dimensions: int, inner: tuple[int, ...], kind: Any) -> None:
    """Let compiled code read `c.<name>`; the constant dimensions are compiled in."""
    at = WORDS * position
    one, two, three, four = range(at + 1, at + WORDS)
    varying = dimensions - len(inner)

    def one_varies(core: Any) -> Any:
        return carray(_data(core, at), (_dimension(core, one), *inner), kind)

    def two_vary(core: Any) -> Any:
        shape = (_dimension(core, one), _dimension(core, two), *inner)
        return carray(_data(core, at), shape, kind)

    def three_vary(core: Any) -> Any:
        shape = (_dimension(core, one), _dimension(core, two), _dimension(core, three), *inner)
        return carray(_data(core, at), shape, kind)

    def four_vary(core: Any) -> Any:
        shape = (
            _dimension(core, one),
            _dimension(core, two),
            _dimension(core, three),
            _dimension(core, four),
        )
        return carray(_data(core, at), shape, kind)

    body = (one_varies, two_vary, three_vary, four_vary)[varying - 1]

    @overload_attribute(CoreType, name)
    def read(core: Any) -> Any:
        return body


def _borrow_at(typing_context: Any, array: Any) -> Any:
    """The data of an array."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        value = arrayobj.make_array(signature.args[0])(context, builder, arguments[0])  # type: ignore[no-untyped-call]
        return builder.bitcast(value.data, ir.IntType(8).as_pointer())

    return types.voidptr(array), codegen


_data_of: Any = intrinsic(_borrow_at)


@njit
def _borrowed(array: Any) -> Any:
    return carray(_data_of(array), array.shape, array.dtype)


def _plain(handle: Core) -> Core:
    return handle


opened: Any = _opened if IS_COMPILED else _plain
borrowed: Any = _borrowed if IS_COMPILED else _plain
"""An array of the caller's without its reference count: compiled code changes that with a locked
instruction at every call that gets the array. The caller keeps it meanwhile."""


def _define_all() -> None:
    """Every array of the core, with the column counts that never change."""
    for position, (name, array) in enumerate(empty_core()._asdict().items()):
        inner = CONSTANT_DIMENSIONS.get(name, ())
        _define(position, name, array.ndim, inner, array.dtype)


if IS_COMPILED:
    _define_all()

"""A hint to the processor: this element will be needed soon. It changes nothing but time."""

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numba.np import arrayobj

from truehit.engine.compiled import IS_COMPILED

READ, KEEP, DATA = 0, 3, 1
"""Arguments of llvm.prefetch: for reading, in all caches, not code."""


def _prefetch_at(typing_context: Any, array: Any, at: Any) -> Any:
    """Ask for element `at` of an array that lies in one piece, counted over all its dimensions."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        byte, int32 = ir.IntType(8).as_pointer(), ir.IntType(32)
        value = arrayobj.make_array(signature.args[0])(context, builder, arguments[0])  # type: ignore[no-untyped-call]
        index = context.cast(builder, arguments[1], signature.args[1], types.intp)
        address = builder.bitcast(builder.gep(value.data, [index]), byte)
        kind = ir.FunctionType(ir.VoidType(), [byte, int32, int32, int32])
        hint = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
        builder.call(hint, [address, int32(READ), int32(KEEP), int32(DATA)])
        return context.get_dummy_value()

    return types.none(array, at), codegen


def _nothing(array: Any, at: int) -> None:
    """Without compilation there is no such hint."""


prefetch: Any = intrinsic(_prefetch_at) if IS_COMPILED else _nothing

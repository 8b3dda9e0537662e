"""Programs of a launch in another order: what depends on it is a race on a GPU."""

from collections.abc import Iterator
from contextlib import contextmanager

from triton.runtime.interpreter import InterpreterBuilder, interpreter_builder


@contextmanager
def backwards() -> Iterator[None]:
    """The interpreter runs the last program of a grid first."""

    def mirrored(x: int, y: int, z: int) -> None:
        sizes = interpreter_builder.grid_dim
        here = (size - 1 - at for size, at in zip(sizes, (x, y, z), strict=True))
        InterpreterBuilder.set_grid_idx(interpreter_builder, *here)

    interpreter_builder.set_grid_idx = mirrored
    try:
        yield
    finally:
        del interpreter_builder.set_grid_idx

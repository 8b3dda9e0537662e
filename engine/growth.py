"""Room: ranges of the arenas, and larger arrays when a range or a key no longer fits.

Arrays only grow, and by doubling, so growth costs a constant a token over the life of an engine."""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from truehit.engine import fields as f
from truehit.engine.memory import Core

Number = TypeVar("Number", bound=np.generic)


def grown(array: NDArray[Number], rows: int) -> NDArray[Number]:
    """The array with at least so many rows; new ones are zero."""
    if rows <= array.shape[0]:
        return array
    larger = np.zeros((max(rows, 2 * array.shape[0]), *array.shape[1:]), array.dtype)
    larger[: array.shape[0]] = array
    return larger


class Ranges:
    """Hands out ranges of an arena. A range that came back serves the next one of its size class
    (powers of two), so a long-lived engine does not grow without end."""

    __slots__ = ("_free", "end")

    def __init__(self, first: int = 0) -> None:
        self.end = first
        self._free: dict[int, list[int]] = {}

    @staticmethod
    def _size_class(size: int) -> int:
        return max(size - 1, 0).bit_length()

    def take(self, size: int) -> int:
        """The start of a range of at least `size` elements."""
        free = self._free.get(self._size_class(size))
        if free:
            return free.pop()
        start = self.end
        self.end += 1 << self._size_class(size)
        return start

    def give(self, start: int, size: int) -> None:
        """The range is no longer used."""
        self._free.setdefault(self._size_class(size), []).append(start)


def with_keys(core: Core, keys: int) -> Core:
    """The core with room for so many more keys; the buckets are to be filled again."""
    used = int(core.now[f.N_USED_RECORDS])
    if used + keys < core.record.shape[0]:
        return core
    record = grown(core.record, used + keys + 1)
    rows = record.shape[0]
    return core._replace(
        record=record,
        entry=grown(core.entry, rows),
        bucket=np.zeros(1 << (2 * rows - 1).bit_length(), np.int32),
    )

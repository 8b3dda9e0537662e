"""What callers pass reaches compiled code in the one layout that it was compiled for: another one
would be compiled for on the spot, a minute in the middle of serving."""

import numpy as np
import pytest
from numpy.typing import NDArray

from truehit.engine.values import int32_of, int64_of, uint8_of


def read_only(array: NDArray[np.int32]) -> NDArray[np.int32]:
    array.flags.writeable = False
    return array


ARRAYS = {
    "plain": np.arange(4, dtype=np.int32),
    "read-only": read_only(np.arange(4, dtype=np.int32)),
    "strided": np.arange(8, dtype=np.int32)[::2],
    "backwards": np.arange(4, dtype=np.int32)[::-1],
    "other-byte-order": np.arange(4).astype(">i4"),
    "wide": np.arange(8)[::2],
}


@pytest.mark.parametrize("array", ARRAYS.values(), ids=ARRAYS)
def test_every_array_comes_out_contiguous_and_writable_with_its_values(
    array: NDArray[np.int32],
) -> None:
    for made, kind in ((int32_of("tokens", array), np.int32), (int64_of(array, 4), np.int64)):
        assert made.flags.carray
        assert made.dtype == kind and made.dtype.isnative
        assert made.tolist() == array.tolist()


def test_rows_that_ran_come_out_likewise() -> None:
    ran = np.array([True, False, True, False])[::2]
    made = uint8_of(ran, 2)
    assert made.flags.carray and made.tolist() == [1, 1]


def test_what_is_plain_already_is_not_copied() -> None:
    assert int32_of("tokens", ARRAYS["plain"]) is ARRAYS["plain"]

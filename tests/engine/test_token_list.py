"""A list of token ids is read exactly as Python reads it, or refused with Python's reason."""

import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truehit.engine.token_list import LARGEST, int32_of_list

from .room import CI

LARGE: Any = st.integers(-(2**70), 2**70)
ODD: Any = st.sampled_from([None, 1.0, "1", b"1", [1], float("nan"), object()])


@CI
@given(st.lists(st.integers(0, LARGEST) | st.booleans()), st.booleans())
def test_what_fits_is_read_as_it_is(tokens: list[int], as_tuple: bool) -> None:
    read = int32_of_list(tuple(tokens) if as_tuple else tokens)
    assert read.dtype == np.int32
    assert read.tolist() == [int(token) for token in tokens]


def test_numbers_of_numpy_are_numbers() -> None:
    tokens: list[Any] = [np.int64(5), np.uint8(7)]
    assert int32_of_list(tokens).tolist() == [5, 7]


@CI
@given(st.lists(st.integers(0, LARGEST)), LARGE | ODD, st.lists(LARGE | ODD))
def test_the_first_that_is_no_token_id_is_an_error(
    before: list[int], odd: Any, after: list[Any]
) -> None:
    if isinstance(odd, int) and 0 <= odd <= LARGEST:
        odd = -1 - odd
    with pytest.raises((TypeError, OverflowError)):
        int32_of_list([*before, odd, *after])
    assert int32_of_list(before).tolist() == before


BOUNDARIES = (-1, -(2**31), -(2**63), -(2**64) + 5, LARGEST + 1, 2**32, 2**32 + 5, 2**63, 2**64 + 5)


@pytest.mark.parametrize("token", BOUNDARIES)
def test_no_number_is_taken_for_another(token: int) -> None:
    with pytest.raises(OverflowError):
        int32_of_list([5, token])


def test_a_list_is_read_without_keeping_its_numbers() -> None:
    token = 123_456_789
    tokens = [token] * 100
    before = sys.getrefcount(token)
    for _ in range(100):
        int32_of_list(tokens)
    assert sys.getrefcount(token) == before

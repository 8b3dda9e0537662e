"""Decoding and verification leave on every target page the state after exactly its tokens."""

import pytest

from .harness import Isolated, case_names


@pytest.mark.parametrize("case", case_names("decode"))
def test_decode(isolated: Isolated, case: str) -> None:
    isolated.expect("decode", case)

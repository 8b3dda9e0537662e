"""Mamba2's decoding and verification leave on every target page the state after its tokens."""

import pytest

from .harness import Isolated, case_names


@pytest.mark.parametrize("case", case_names("mamba2"))
def test_mamba2(isolated: Isolated, case: str) -> None:
    isolated.expect("mamba2", case)

"""A prefill of Mamba2 leaves on every target page the state after exactly its tokens."""

import pytest

from .harness import Isolated, case_names


@pytest.mark.parametrize("case", case_names("mamba2_scan"))
def test_mamba2_scan(isolated: Isolated, case: str) -> None:
    isolated.expect("mamba2_scan", case)

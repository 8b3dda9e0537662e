"""Attention over pages sees what its row has stored, within its window, and reads nothing else."""

import pytest

from .harness import Isolated, case_names


@pytest.mark.parametrize("case", case_names("paged_attention"))
def test_paged_attention(isolated: Isolated, case: str) -> None:
    isolated.expect("paged_attention", case)

"""A prefill in segments equals the rule token by token, and every block end crossed is stored."""

import pytest

from .harness import Isolated, case_names


@pytest.mark.parametrize("case", case_names("chunk"))
def test_chunk(isolated: Isolated, case: str) -> None:
    isolated.expect("chunk", case)

"""Whole pages are copied and filled in every layer, and nothing else is touched."""

import pytest

from .harness import Isolated, case_names


@pytest.mark.parametrize("case", case_names("pages"))
def test_pages(isolated: Isolated, case: str) -> None:
    isolated.expect("pages", case)

"""Every segment with a target leaves the state after exactly its tokens on that page."""

import pytest

from .harness import Isolated, case_names


@pytest.mark.parametrize("case", case_names("recurrence"))
def test_recurrence(isolated: Isolated, case: str) -> None:
    isolated.expect("recurrence", case)

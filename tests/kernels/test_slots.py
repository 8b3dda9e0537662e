"""The device derives the slots that the rules derive (`cases/slots.py`)."""

import pytest

from .harness import Isolated, case_names


@pytest.mark.parametrize("case", case_names("slots"))
def test_slots(isolated: Isolated, case: str) -> None:
    isolated.expect("slots", case)

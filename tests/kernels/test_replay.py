"""A commit after a verification leaves the state that decoding leaves, and nothing else."""

import pytest

from .harness import Isolated, case_names


@pytest.mark.parametrize("case", case_names("replay"))
def test_replay(isolated: Isolated, case: str) -> None:
    isolated.expect("replay", case)

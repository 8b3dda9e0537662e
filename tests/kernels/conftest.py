"""One interpreting process for the cases of a test file."""

from collections.abc import Iterator

import pytest

from .harness import Isolated


@pytest.fixture(scope="module")
def isolated() -> Iterator[Isolated]:
    """`isolated.expect("pages", "case_null_pairs")`."""
    with Isolated() as room:
        yield room

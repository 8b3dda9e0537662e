"""The convolution sees the row's own inputs, wherever its steps were cut, and keeps its windows."""

import pytest

from .harness import Isolated, case_names


@pytest.mark.parametrize("case", case_names("conv"))
def test_conv(isolated: Isolated, case: str) -> None:
    isolated.expect("conv", case)

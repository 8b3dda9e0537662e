"""Small in the tests, whole when measured."""

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from .measured import Measured


@pytest.fixture
def measured(request: pytest.FixtureRequest, benchmark: BenchmarkFixture) -> Measured:
    """Measures in `make bench`; in the tests the same code runs once."""
    return Measured(benchmark, bool(request.config.getoption("benchmark_only")))

"""Clean controls on a real release: the laws find nothing corrupt, stalled or wasted in them.

A few hundred steps a family here; `make audit-controls` runs 20,000 of each on two releases.
"""

from collections.abc import Iterator

import pytest

from truehit.adapters.vllm.audit.controls import Control
from truehit.adapters.vllm.controls import run
from truehit.adapters.vllm.driver import Driver
from truehit.adapters.vllm.environment import build

STEPS = 600
pytestmark = pytest.mark.releases


@pytest.fixture(scope="module")
def driver() -> Iterator[Driver]:
    with Driver(build("0.33.0", lambda line: None)) as started:
        yield started


@pytest.mark.parametrize("family", list(Control))
def test_a_control_is_silent(driver: Driver, family: Control) -> None:
    steps, found = run(driver, family, STEPS)
    assert steps >= STEPS
    assert [symptom.sentence for symptom in found] == []

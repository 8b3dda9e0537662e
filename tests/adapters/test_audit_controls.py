"""Clean controls on real releases: the laws find nothing corrupt, stalled or wasted in them.

A few hundred steps a family here; `make audit-controls` runs 20,000 of each.
"""

from collections.abc import Iterator
from random import Random

import pytest

from truehit.adapters.vllm.audit.controls import Control, control
from truehit.adapters.vllm.audit.reading import steps_of, symptoms
from truehit.adapters.vllm.driver import Driver
from truehit.adapters.vllm.environment import build
from truehit.spec.laws.base import ViolationClass

STEPS = 600


@pytest.fixture(scope="module", params=["0.32.0", "0.33.0"])
def driver(request: pytest.FixtureRequest) -> Iterator[Driver]:
    environment = build(request.param, lambda line: None)
    with Driver(environment) as started:
        yield started


@pytest.mark.parametrize("family", list(Control))
def test_a_control_is_silent(driver: Driver, family: Control) -> None:
    random, steps = Random(family), 0
    lookahead = bool(driver.facts()["knows_lookahead"])
    while steps < STEPS:
        trial = control(family, random, lookahead)
        driven = driver.run(trial.scenario, {"repairs": sorted(trial.repairs)})
        steps += steps_of(driven.trace)
        found = [
            symptom.sentence
            for symptom in symptoms(driven)
            if symptom.violation_class is not ViolationClass.POLICY
        ]
        assert found == []

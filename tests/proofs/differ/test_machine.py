"""The state machine passes on what equals the oracle, and fails on what does not.

`TRUEHIT_PROFILE=long` lives 4,000 deployments; otherwise the same few every time."""

import os
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from truehit.proofs.differ.standins import (
    counts_in_floats,
    drops_publish,
    miscounts_pool,
    place_of,
    shows_keys_early,
)
from truehit.proofs.differ.subject import Traced, load
from truehit.spec.scenario import Scenario

from .machine import Deployment

LONG = os.environ.get("TRUEHIT_PROFILE") == "long"
# Deployments are slow to draw and large by nature; a failing one is shrunk by hypothesis.
PROFILE = settings(
    max_examples=4000 if LONG else 40,
    stateful_step_count=50,
    derandomize=not LONG,
    deadline=None,
    database=None,
    report_multiple_bugs=False,
    suppress_health_check=list(HealthCheck),
)


FIND = settings(PROFILE, phases=(Phase.generate,))
"""A planted fault has to be found; how small it gets is for `truehit diff`."""


def lived_with(subject: str, profile: settings) -> None:
    """Run the machine on the subject of this name."""

    class Held(Deployment):
        pass

    Held.subject = load(subject)
    run_state_machine_as_test(Held, settings=profile)


@pytest.mark.timeout(3600 if LONG else 300)
def test_the_engine_equals_the_oracle() -> None:
    lived_with("engine", PROFILE)


@pytest.mark.parametrize(
    "fault", [drops_publish, miscounts_pool, shows_keys_early, counts_in_floats]
)
def test_a_fault_is_found(fault: Callable[[Scenario, str], Traced]) -> None:
    with pytest.raises(AssertionError, match=r"event \d+ \(step \d+\)"):
        lived_with(place_of(fault), FIND)

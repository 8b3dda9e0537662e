"""Only what a real engine cannot be made to follow is named."""

from dataclasses import replace

import pytest

from truehit.spec.geometry import Geometry, Group, Kind
from truehit.spec.scenario import (
    Abort,
    Action,
    After,
    Arrival,
    AtStep,
    Fail,
    Moment,
    Preempt,
    Pressure,
    Request,
    ResetCache,
    Scenario,
)
from truehit.spec.scenario_file import portability
from truehit.spec.tokens import Segment

FIRST = Request("first", (Segment("doc", 50),), output_tokens=9)
SECOND = Request("second", (Segment("doc", 50),), arrival=After("first"))
PORTABLE = Scenario(
    "portable", Geometry((Group("full", Kind.FULL_ATTENTION, 16),), 16), (FIRST, SECOND)
)


def test_arrivals_after_one_another_are_portable() -> None:
    actions = (Abort(3, "first"), Fail(4, "first"), ResetCache(5))
    assert portability(replace(PORTABLE, actions=actions)) == []


def test_a_decreed_budget_is_named() -> None:
    (line,) = portability(replace(PORTABLE, budgets=(5,)))
    assert line.startswith("budgets: ")


def test_an_arrival_by_step_is_named_with_its_step() -> None:
    (line,) = portability(replace(PORTABLE, requests=(replace(FIRST, arrival=AtStep(1)), SECOND)))
    assert line.startswith("requests[first].at: arrives at step 1")


def test_a_decreed_share_is_named() -> None:
    (line,) = portability(replace(PORTABLE, requests=(replace(FIRST, shares=(3,)), SECOND)))
    assert line.startswith("requests[first].shares: ")


@pytest.mark.parametrize(
    ("action", "kind"), [(Preempt(1, "first"), "preempt"), (Pressure(1, 5), "pressure")]
)
def test_a_decreed_loss_of_blocks_is_named(action: Action, kind: str) -> None:
    (line,) = portability(replace(PORTABLE, actions=(ResetCache(0), action)))
    assert line.startswith(f"actions[1]: {kind} ")


@pytest.mark.parametrize(
    ("arrival", "known"),
    [
        (After("first"), True),
        (After("second"), True),
        (After("second", Moment.SUBMITTED), True),
        (After("first", Moment.PREFILLED), False),
        (AtStep(0), False),
    ],
)
def test_an_output_that_is_not_known_yet_is_named(arrival: Arrival, known: bool) -> None:
    segments = (Segment("doc", 50), Segment("output:first", 9))
    third = Request("third", segments, arrival=arrival)
    lines = portability(replace(PORTABLE, requests=(FIRST, SECOND, third)))
    assert (lines == []) == known
    assert all(line.startswith("requests[third].segments[1]: 'output:first'") for line in lines)

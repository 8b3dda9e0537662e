"""What the runs that surviving faults asked for have to show, on the oracle and on the engine."""

from typing import TypeVar

import pytest

from truehit.proofs.differ.compare import compare
from truehit.proofs.differ.subject import load
from truehit.proofs.mutation.survivors import COPY_OF_A_VICTIM, ENCODER_OF_A_VICTIM, SCENARIOS
from truehit.reference.run import run
from truehit.spec.laws.judge import check_trace
from truehit.spec.scenario import Scenario
from truehit.spec.trace import Copy, End, EndWhy, Event, Schedule

Kind = TypeVar("Kind", bound=Event)


def events(scenario: Scenario, kind: type[Kind], step: int, request: str) -> list[Kind]:
    """The events of one kind, step and request."""
    found = [event for event in run(scenario).events if isinstance(event, kind)]
    return [e for e in found if e.step == step and getattr(e, "request", "") == request]


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: str(s.name))
def test_no_law_is_broken_and_the_engine_does_the_same(scenario: Scenario) -> None:
    verdict = check_trace(run(scenario).events)
    assert verdict.violations == () and verdict.open_requests == ()
    assert compare(scenario, "default", load("engine")).difference is None


def test_the_encoder_tokens_of_a_victim_serve_another_request() -> None:
    (end,) = events(ENCODER_OF_A_VICTIM, End, 2, "late")
    (chunk,) = events(ENCODER_OF_A_VICTIM, Schedule, 2, "second")
    assert end.why is EndWhy.PREEMPT
    assert (chunk.start, chunk.end) == (4, 12)


def test_the_copy_of_a_victim_is_not_made() -> None:
    (end,) = events(COPY_OF_A_VICTIM, End, 3, "late")
    assert end.why is EndWhy.PREEMPT
    assert events(COPY_OF_A_VICTIM, Copy, 3, "late") == []
    assert len(events(COPY_OF_A_VICTIM, Copy, 3, "first")) == 1

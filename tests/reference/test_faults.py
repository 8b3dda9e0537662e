"""Faults at every step: all laws hold, everything is given back, and the next send is served.

Each fault is tried at each step of the same two overlapping requests, with one to three steps in
flight, so that it meets prefill, copies, decode and the end of both."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from truehit.reference.run import Run
from truehit.spec.formulas import legal
from truehit.spec.geometry import Geometry
from truehit.spec.scenario import (
    Abort,
    Action,
    After,
    AtStep,
    Fail,
    Preempt,
    Pressure,
    Request,
    ResetCache,
)
from truehit.spec.trace import Complete, Hold, Publish, Reset, Unpublish, UnpublishWhy, Write

from .room import (
    chunks,
    ends,
    events,
    fine,
    hybrid,
    judged,
    keys,
    last_counts,
    lawful,
    request,
    scenario,
    served,
)

STEPS = range(9)
Fault = Callable[[int], Action]


def two_and_a_resend() -> tuple[Request, ...]:
    """Two overlapping prompts, one arriving late, then the first one again at step 30."""
    one = replace(request("one", "doc:21", output=6), accepted=(1, 0, 2))
    two = replace(request("two", "doc:13", "x:9", output=4, arrival=AtStep(2)), accepted=(2, 0))
    return one, two, request("again", "doc:21", arrival=AtStep(30))


def geometry(steps_in_flight: int, unit: int) -> Geometry:
    """Blocks of 8 and 4, two drafts, dense; `unit` 0: coarse hits."""
    plain = replace(
        hybrid(8, 4), drafts=2, steps_in_flight=steps_in_flight, pool_blocks=60, budget_tokens=16
    )
    return fine(plain, unit) if unit else plain


def faulty(steps_in_flight: int, unit: int, *actions: Action) -> Run:
    return lawful(scenario(geometry(steps_in_flight, unit), two_and_a_resend(), *actions))


def nothing_is_held(result: Run) -> bool:
    return last_counts(result)[0] == 0


in_flight = pytest.mark.parametrize("steps_in_flight", [1, 2, 3])
units = pytest.mark.parametrize("unit", [0, 2])


@in_flight
@units
def test_an_abort_at_any_step_gives_everything_back(steps_in_flight: int, unit: int) -> None:
    for step in STEPS:
        result = faulty(steps_in_flight, unit, Abort(step, "one"), Abort(step, "two"))
        assert ends(result, "one") in ([], ["abort"], ["finish"])
        assert nothing_is_held(result), step


@in_flight
@units
def test_after_an_abort_the_other_request_and_the_resend_are_served(
    steps_in_flight: int, unit: int
) -> None:
    for step in STEPS:
        result = faulty(steps_in_flight, unit, Abort(step, "two"))
        assert ends(result, "one") == ["finish"]
        assert served(result)["again"].hit == legal(geometry(steps_in_flight, unit), 21)


@in_flight
def test_nothing_is_published_for_a_step_in_flight_when_its_request_is_aborted(
    steps_in_flight: int,
) -> None:
    for step in range(1, 6):
        result = faulty(steps_in_flight, 0, Abort(step, "one"))
        if ends(result, "one") == ["abort"]:
            assert not [e for e in events(result, Publish, "one") if e.step >= step]


@in_flight
@units
def test_a_failed_step_is_run_again_and_all_output_comes(steps_in_flight: int, unit: int) -> None:
    failed = 0
    for step in STEPS:
        for name in ("one", "two"):
            result = faulty(steps_in_flight, unit, Fail(step, name))
            assert ends(result, name)[-1] == "finish"
            failed += sum(1 for e in events(result, Complete) if name in e.failed)
            assert nothing_is_held(result), step
    assert failed > 8


@in_flight
def test_a_failed_step_writes_and_publishes_nothing(steps_in_flight: int) -> None:
    """Nor do the steps that follow it until the failure is known."""
    for step in range(6):
        result = faulty(steps_in_flight, 0, Fail(step, "one"))
        ran = max((end for at, _, end in chunks(result, "one") if at < step), default=0)
        for known in [e.step for e in events(result, Complete) if "one" in e.failed]:
            silent = range(step, known + 1)
            assert not [e for e in events(result, Write, "one") if e.step in silent]
            for group in ("attention", "state"):
                published = [t for at, t in keys(result, "one", group) if at in silent]
                assert all(tokens <= ran for tokens in published), (step, published)


def test_a_request_that_fails_every_time_is_still_there() -> None:
    """It is open, not violated: nobody promised that the device runs."""
    asked = scenario(hybrid(8), [request("one", "doc:5")], *(Fail(n, "one") for n in range(50)))
    verdict = judged(replace(asked, max_steps=20))
    assert (verdict.violations, verdict.open_requests) == ((), ("one",))


@in_flight
@units
def test_a_preemption_by_decree_at_any_step_loses_no_output(
    steps_in_flight: int, unit: int
) -> None:
    for step in STEPS:
        result = faulty(steps_in_flight, unit, Preempt(step, "one"), Preempt(step + 1, "two"))
        assert ends(result, "one")[-1] == ends(result, "two")[-1] == "finish"
        assert nothing_is_held(result), step


def test_a_preempted_request_resumes_at_what_it_had_published() -> None:
    result = faulty(1, 0, Preempt(4, "one"))
    again = [(start, end) for step, start, end in chunks(result, "one") if step >= 4]
    assert again[0][0] == 16


@in_flight
@units
def test_a_reset_at_any_step_drops_all_keys_and_running_requests_go_on(
    steps_in_flight: int, unit: int
) -> None:
    for step in STEPS:
        result = faulty(steps_in_flight, unit, ResetCache(step))
        assert [e.step for e in events(result, Reset)] == [step]
        assert ends(result, "one") == ends(result, "two") == ["finish"]


def test_after_a_reset_what_was_computed_before_is_not_found() -> None:
    result = faulty(1, 0, ResetCache(29))
    assert served(result)["again"].hit == 0
    assert served(result)["again"].reason == "evicted"


@in_flight
@units
def test_pressure_at_any_step_evicts_but_corrupts_nothing(steps_in_flight: int, unit: int) -> None:
    for step in STEPS:
        for blocks in (20, 45, 59):
            result = faulty(steps_in_flight, unit, Pressure(step, blocks, 2))
            assert ends(result, "one")[-1] == ends(result, "two")[-1] == "finish"
            assert nothing_is_held(result), (step, blocks)


def test_pressure_takes_keyed_blocks_last_and_returns_them_empty() -> None:
    result = faulty(1, 0, Pressure(25, 59, 1))
    (evicted,) = [e for e in events(result, Unpublish) if e.step == 25]
    assert evicted.why is UnpublishWhy.EVICTED
    taken, returned = [e for e in events(result, Hold) if e.holder == "pressure"]
    assert (taken.held, returned.held, returned.step) == (True, False, 26)
    assert taken.blocks == returned.blocks
    assert taken.blocks[-len(evicted.blocks) :] == evicted.blocks
    assert served(result)["again"].reason == "evicted"


def test_a_run_outlasts_long_pressure() -> None:
    """Nothing can run for 200 steps; then the blocks come back and it finishes."""
    asked = scenario(
        replace(hybrid(8), pool_blocks=12),
        [request("one", "doc:9", arrival=AtStep(1))],
        Pressure(0, 11, 200),
    )
    assert chunks(lawful(asked), "one")[0][0] == 200


def test_a_late_arrival_is_waited_for() -> None:
    late = request("two", "doc:9", arrival=After("one", delay_steps=150))
    result = lawful(scenario(hybrid(8), [request("one", "doc:9"), late]))
    assert served(result)["two"].hit == 8


def test_an_abort_of_a_request_that_has_not_arrived_cancels_it() -> None:
    late = request("two", "doc:9", arrival=AtStep(5))
    after = request("three", "doc:9", arrival=After("two"))
    result = lawful(scenario(hybrid(8), [request("one", "doc:9"), late, after], Abort(2, "two")))
    assert [s.name for s in result.served] == ["one", "three"]

"""progress: a token offered is a token scheduled; nobody is forgotten."""

import pytest

from truehit.spec.laws.progress import idle_limit_steps, patience_steps

from .script import GEOMETRY, Script, geometry
from .test_clean import two_requests


def test_a_clean_trace_passes() -> None:
    assert two_requests().sentences("progress") == []


def deferred(cut: str, reason: str | None) -> Script:
    script = Script().submit("a", ("doc", 9))
    return script.schedule("a", 0, 0, 9, offered=3, cut=cut, reason=reason).complete()


def test_a_token_offered_and_not_scheduled_is_named() -> None:
    assert deferred("split", "deferred by the splitter").sentences("progress") == [
        "request a: is offered 3 tokens at 0 and scheduled none (cut: split, step 0)"
    ]


@pytest.mark.parametrize("cut", ["pool", "encoder", "lookahead"])
def test_pool_encoder_and_lookahead_are_excused_with_a_reason(cut: str) -> None:
    assert deferred(cut, "does not fit yet").sentences("progress") == []
    assert deferred(cut, None).sentences("progress") == [
        f"request a: is offered 3 tokens at 0 and scheduled none (cut: {cut}, step 0)"
    ]


def test_nothing_offered_is_nothing_owed() -> None:
    script = Script().submit("a", ("doc", 9)).schedule("a", 0, 0, 9, offered=0).complete()
    assert script.sentences("progress") == []


def test_steps_that_run_nothing_are_named_once() -> None:
    script = Script().submit("a", ("doc", 9))
    limit = idle_limit_steps(GEOMETRY)
    assert limit == 3
    for _ in range(limit):
        script.complete()
    assert script.sentences("progress") == []
    for _ in range(5):
        script.complete()
    assert script.sentences("progress") == [
        f"request a: is live and nothing has run for {limit + 1} steps (step {limit})"
    ]


def test_steps_that_have_nothing_to_offer_are_not_idle() -> None:
    script = Script().submit("a", ("doc", 9))
    for _ in range(9):
        script.schedule("a", 0, 0, 9, offered=0).complete()
    assert script.sentences("progress") == []


def test_blocks_held_by_others_explain_idle_steps() -> None:
    script = Script().submit("a", ("doc", 9)).hold("", 1, 2)
    for _ in range(9):
        script.complete()
    assert script.sentences("progress") == []


def passed_over(steps: int) -> Script:
    """`b` decodes for ever while `a` is never scheduled."""
    script = Script(geometry(max_model_tokens=20)).submit("a", ("doc", 9)).submit("b", ("doc", 9))
    for _ in range(steps):
        script.schedule("b", 1, 2, 9).complete()
    return script


def test_a_request_that_is_passed_over_is_named() -> None:
    patience = patience_steps(geometry(max_model_tokens=20))
    assert patience == 22
    assert passed_over(patience).sentences("progress") == []
    assert passed_over(patience + 3).sentences("progress") == [
        f"request a: was passed over in {patience + 1} steps with budget left (step {patience})"
    ]


def test_patience_starts_again_when_somebody_ends() -> None:
    script = passed_over(15).submit("c", ("doc", 9)).end("c")
    for _ in range(22):
        script.schedule("b", 1, 2, 9).complete()
    assert script.sentences("progress") == []
    script.schedule("b", 1, 2, 9).complete()
    assert script.sentences("progress") == [
        "request a: was passed over in 23 steps with budget left (step 37)"
    ]


def test_full_budgets_are_no_neglect() -> None:
    script = Script(geometry(max_model_tokens=20, budget_tokens=1))
    script.submit("a", ("doc", 9)).submit("b", ("doc", 9))
    for _ in range(40):
        script.schedule("b", 1, 2, 9).complete()
    assert script.sentences("progress") == []

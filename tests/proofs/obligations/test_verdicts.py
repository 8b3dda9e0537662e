"""The words: what is proved, refuted, unknown and a model finding, each seen once."""

from dataclasses import replace

import pytest

from truehit.proofs.lift import Unsupported
from truehit.proofs.obligations import ask
from truehit.proofs.obligations.catalogue import BY_NAME
from truehit.proofs.obligations.obligation import Control, Encoding, Step
from truehit.proofs.obligations.question import pose
from truehit.proofs.obligations.replay import replay
from truehit.proofs.solve import solve
from truehit.reference.ruleset import DEFAULT

SEED = BY_NAME["seed-column"]


def test_a_missing_premise_refutes() -> None:
    plan = BY_NAME["plan-retirement"]
    weakened = replace(plan, premise=plan.premise[:1])
    assert ask.prove(weakened, plan.encodings[0]).verdict == "refuted"


def test_a_starved_solver_says_unknown() -> None:
    splitter = BY_NAME["splitter-coverage"]
    text = pose(splitter, splitter.encodings[0], splitter.steps).violation()
    assert solve(text, 1000).verdict == "unknown"


def test_a_model_that_does_not_replay_is_a_finding() -> None:
    plan = BY_NAME["plan-provenance"]
    (wrong, *_) = plan.controls
    question = pose(plan, plan.encodings[0], plan.steps_of(wrong), wrong.rules)
    assert ask.refute(plan, question, wrong).verdict == "refuted"
    assert ask.refute(plan, question, Control("ours")).verdict == "model finding"


def test_an_impossible_case_is_named() -> None:
    impossible = replace(SEED.covers[0], case=never)
    assert ask.cover(SEED, impossible).verdict == "impossible"


def never(position: int) -> bool:
    return position < 0


def test_a_run_that_raises_is_no_goal() -> None:
    steps = (Step(("column",), dividing_by_zero),)
    ran = replay(SEED, steps, DEFAULT, {"position": 1, "block": 4}, SEED.goal)
    assert ran.premise and not ran.goal


def dividing_by_zero(position: int) -> int:
    return position // 0


def test_an_encoding_that_cannot_say_it_is_refused() -> None:
    with pytest.raises(Unsupported, match="division by a number"):
        pose(SEED, Encoding("another chain", ("unit",)), SEED.steps)


def test_a_control_replaces_an_existing_step() -> None:
    wrong = Control("typo", steps=(Step(("colunm",), never),))
    with pytest.raises(ValueError, match="replaces no step"):
        SEED.steps_of(wrong)

"""Each historic defect does its harm in its kept run, the default does none, and the law that names
the cause is the one the defect is known to break."""

from functools import lru_cache

import pytest

from truehit.proofs.harm.answer import answer, answer_alone, small_model
from truehit.proofs.harm.cases import DATA, KINDS, Kind, scenario_of
from truehit.proofs.harm.find import shows
from truehit.proofs.harm.measure import NOISE, Harm, measure
from truehit.proofs.harm.story import ANSWER_TOKENS, model_story, waves_of
from truehit.proofs.regress.judged import judged
from truehit.proofs.regress.targets import target_of
from truehit.reference.ruleset import HISTORIC

GARBAGE = [rules for rules, kind in KINDS.items() if kind is Kind.GARBAGE]
MOST_TOKENS = 70


@lru_cache
def harm_of(rules: str) -> Harm:
    return measure(scenario_of(rules), rules)


def test_every_historic_rule_set_has_a_run() -> None:
    assert set(KINDS) == {rules.name for rules in HISTORIC}
    assert {path.stem for path in DATA.glob("*.yaml")} == set(KINDS)


@pytest.mark.parametrize("rules", KINDS)
def test_a_defect_does_its_harm(rules: str) -> None:
    harm = harm_of(rules)
    assert shows(harm, KINDS[rules])
    assert shows(harm, Kind.GARBAGE) == (KINDS[rules] is Kind.GARBAGE)


@pytest.mark.parametrize("rules", KINDS)
def test_the_law_of_the_defect_names_the_cause(rules: str) -> None:
    harm = harm_of(rules)
    assert harm.broken.law.startswith(f"{target_of(rules).law}: request ")


@pytest.mark.parametrize("rules", KINDS)
def test_the_default_does_none(rules: str) -> None:
    default = harm_of(rules).default
    assert default.law == ""
    assert default.false_read is None
    assert 0 < default.answers.moved < NOISE
    assert default.answers.wrong == 0 < default.answers.compared
    assert len(default.finished_steps) == default.requests


@pytest.mark.parametrize("rules", GARBAGE)
def test_garbage_is_named_and_changes_what_is_said(rules: str) -> None:
    broken = harm_of(rules).broken
    assert broken.false_read is not None
    assert " is read as state@" in broken.false_read
    assert broken.answers.moved > 1
    assert broken.answers.wrong > 0


@pytest.mark.parametrize("rules", KINDS)
def test_the_runs_are_small(rules: str) -> None:
    requests = scenario_of(rules).requests
    assert len(requests) <= 3
    assert sum(request.total_tokens for request in requests) <= MOST_TOKENS


def test_the_story_is_answered_with_garbage_and_healed() -> None:
    scenario = model_story()
    model, waves = small_model(scenario.geometry), waves_of(scenario)
    alone = answer_alone(model, scenario.geometry, waves[-1][0][1], ANSWER_TOKENS)
    broken, healed = (
        answer(model, scenario.geometry, rules, waves, ANSWER_TOKENS)
        for rules in ("aligned-below-last", "default")
    )
    assert broken.hit_tokens == healed.hit_tokens == 64
    assert list(healed.tokens) == alone
    assert healed.false_read is None and healed.moved < NOISE
    assert broken.tokens != healed.tokens and broken.moved > 1
    assert broken.false_read is not None
    assert "is read as state@64 and holds state@21" in broken.false_read


def test_the_law_says_of_the_story_what_the_ghost_says() -> None:
    violation = judged(model_story(), "aligned-below-last")[1].of_law("provenance")[0]
    assert "column 0 is published as state@64 but holds state@21" in violation.sentence
    assert judged(model_story(), "default")[1].violations == ()

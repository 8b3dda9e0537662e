"""Rule sets: every historic defect differs from the default by its field, runs, and is refuted."""

from dataclasses import fields, replace

import pytest

from truehit.proofs.sweep.draw import draw
from truehit.proofs.sweep.features import covering_sets
from truehit.reference.ruleset import DEFAULT, HISTORIC, RULE_SETS, VARIANTS, RuleSet
from truehit.reference.run import UnknownRules, rules_named
from truehit.reference.run import run as run_scenario
from truehit.spec.geometry import Geometry, Group, Kind, ReachOnly
from truehit.spec.laws.judge import check_trace
from truehit.spec.scenario import AtStep, Scenario

from .room import CLAMPED, hybrid, in_turn, judged, lawful, request, scenario, sends

DECISIONS = [f.name for f in fields(RuleSet) if f.name != "name"]

OWN_FIELDS = {
    "aligned-below-last": {"split", "back_off"},
    "minimum-block-grid": {"split", "grid"},
    "stop-from-misaligned": {"split"},
    "one-block-back-off": {"split", "back_off"},
    "scratch-left": {"scratch"},
    "scratch-counted": {"estimate"},
    "boundary-only": {"keep"},
    "margin-state-block": {"keep"},
    "margin-own-bit": {"keep"},
    "seed-minimum-block": {"seed"},
    "pruned-lookup": {"candidate"},
    "drop-every-retry": {"drop_rule"},
    "raised-candidate": {"candidate"},
    "schedule-time-keys": {"visibility"},
}


def crowd() -> Scenario:
    """Three long prompts leave the last one a share that ends inside its first block."""
    lengths = {"a": 3199, "b": 3199, "c": 1430, "t": 2500}
    geometry = hybrid(1600, 16, CLAMPED)
    return scenario(geometry, [request(name, f"{name}:{n}") for name, n in lengths.items()])


def checkpoint_above_scratch() -> Scenario:
    """[6, 19) exports 12 while column 1 is scratch."""
    geometry = replace(hybrid(6, 4), drafts=1, checkpoint_alignment_tokens=6)
    return scenario(replace(geometry, retention=ReachOnly()), sends(19, 1), budgets=(6,))


def resend(prompt: int, block: int, pages: int) -> Scenario:
    geometry = replace(hybrid(block, pages, CLAMPED), retention=ReachOnly(), drafts=1)
    return scenario(geometry, sends(prompt, 2))


def ends_off_the_grid() -> Scenario:
    """Pages of 4, states of 6: what the minimum block allows is inside a state block."""
    return scenario(hybrid(6, 4), [request("r", "doc:30")], budgets=(8, 8, 8, 8))


def unequal_attention() -> Scenario:
    groups = (
        Group("a", Kind.FULL_ATTENTION, 16, drafted=True),
        Group("b", Kind.FULL_ATTENTION, 16),
        Group("state", Kind.RECURRENT_STATE, 16),
    )
    family = in_turn(request("p", "doc:80"), request("s", "doc:64", "x:20"))
    return scenario(Geometry(groups, 16, drop=CLAMPED), family)


def sibling_of_the_same_step() -> Scenario:
    return scenario(hybrid(8), [request("one", "doc:16", "a:8"), request("two", "doc:16", "b:8")])


REFUTED = {
    "aligned-below-last": (crowd, "provenance"),
    "minimum-block-grid": (ends_off_the_grid, "grid"),
    "stop-from-misaligned": (lambda: resend(48, 16, 16), "reach"),
    "one-block-back-off": (lambda: resend(64, 16, 16), "grid"),
    "scratch-left": (checkpoint_above_scratch, "provenance"),
    "scratch-counted": (checkpoint_above_scratch, "admission"),
    "boundary-only": (lambda: resend(40, 16, 16), "reach"),
    "margin-state-block": (lambda: resend(60, 8, 12), "reach"),
    "margin-own-bit": (lambda: resend(40, 16, 16), "reach"),
    "seed-minimum-block": (lambda: resend(30, 8, 4), "seed"),
    "pruned-lookup": (lambda: resend(72, 16, 16), "joint"),
    "drop-every-retry": (unequal_attention, "joint"),
    "raised-candidate": (unequal_attention, "joint"),
    "schedule-time-keys": (sibling_of_the_same_step, "commit"),
}


def test_every_decision_has_a_historic_alternative() -> None:
    changed = set().union(*OWN_FIELDS.values())
    assert changed == set(DECISIONS)
    assert {rules.name for rules in HISTORIC} == set(OWN_FIELDS) == set(REFUTED)


@pytest.mark.parametrize("rules", HISTORIC, ids=lambda rules: rules.name)
def test_a_historic_set_differs_from_the_default_by_its_field(rules: RuleSet) -> None:
    different = {name for name in DECISIONS if getattr(rules, name) != getattr(DEFAULT, name)}
    assert different == OWN_FIELDS[rules.name]


@pytest.mark.parametrize("name", sorted(REFUTED))
def test_a_scenario_refutes_it_and_the_default_passes(name: str) -> None:
    build, law = REFUTED[name]
    lawful(build())
    assert law in {violation.law for violation in judged(build(), name).violations}


@pytest.mark.parametrize("rules", [*HISTORIC, *VARIANTS], ids=lambda rules: rules.name)
def test_it_runs_on_scenarios_of_every_feature(rules: RuleSet) -> None:
    """A broken rule breaks laws, never the oracle."""
    for seed, features in enumerate(covering_sets(2, 14)[:8]):
        drawn = replace(draw(seed, features), max_steps=60)
        check_trace(run_scenario(drawn, rules).events)


def test_names_are_unique_and_known() -> None:
    assert len(RULE_SETS) == 1 + len(HISTORIC) + len(VARIANTS)
    assert rules_named("default") is DEFAULT


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UnknownRules, match=r"'v-past' is not known; one of .*v-post"):
        rules_named("v-past")


def test_the_scenario_names_the_rules_it_runs_under() -> None:
    named = replace(
        scenario(hybrid(8), [request("r", "doc:9", arrival=AtStep(0))]), rules="boundary-only"
    )
    assert run_scenario(named).rules.name == "boundary-only"

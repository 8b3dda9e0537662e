"""Drawn runs: the same for a seed, always valid, every switch on in some, every law with something
to judge."""

import re
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from truehit.proofs.differ.coverage import IMPOSSIBLE, MATTERS, Coverage, covered, matters, summed
from truehit.proofs.differ.draw import SWITCHES, Drawn, draw_run
from truehit.proofs.differ.scale import scaled_down
from truehit.proofs.shrink import is_valid
from truehit.proofs.stages import DIFFERENTIAL_RUNS
from truehit.proofs.sweep.features import Feature
from truehit.reference.ruleset import DEFAULT, RULE_SETS
from truehit.reference.run import run
from truehit.spec.geometry import Geometry, Group, Kind
from truehit.spec.laws import LAWS
from truehit.spec.scenario import After, Request, Scenario
from truehit.spec.tokens import Segment

PAGE = Path(__file__).resolve().parents[3] / "docs" / "differential.md"
RUNS = 400
COVERED_RUNS = 20


@cache
def drawn() -> tuple[Drawn, ...]:
    return tuple(draw_run(seed, None) for seed in range(RUNS))


def test_a_seed_draws_one_run() -> None:
    assert draw_run(7, None) == draw_run(7, None)
    assert draw_run(7, None) != draw_run(9, None)


def test_every_drawn_run_is_valid_and_long() -> None:
    assert [d.seed for d in drawn() if not is_valid(d.scenario)] == []
    requests = [len(d.scenario.requests) for d in drawn()]
    assert min(requests) >= 6
    assert sum(requests) / RUNS > 15


def test_unequal_grids_are_the_rule_and_every_switch_is_on_sometimes() -> None:
    on = Counter(switch for d in drawn() for switch in d.on)
    assert set(on) == set(SWITCHES)
    assert min(on.values()) >= RUNS // 20
    assert RUNS * 3 // 4 < on[Feature.UNEQUAL_BLOCKS] < RUNS


def test_half_of_the_runs_are_under_the_default_and_no_rule_set_is_left_out() -> None:
    rules = Counter(d.rules for d in drawn())
    assert rules[DEFAULT.name] == RUNS // 2
    assert set(rules) == set(RULE_SETS)
    assert draw_run(4, "scratch-left").rules == "scratch-left"
    assert draw_run(4, "scratch-left").scenario == draw_run(4, None).scenario


# --- features by laws -----------------------------------------------------------------------------


def test_every_law_has_a_matter_and_meets_it() -> None:
    assert set(MATTERS) == {law.name for law in LAWS}
    laws: set[str] = set()
    for d in drawn()[:COVERED_RUNS]:
        laws |= matters(run(d.scenario, RULE_SETS[d.rules]).events)
    assert laws == set(MATTERS)


def test_the_page_says_when_each_law_has_something_to_judge() -> None:
    text = PAGE.read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([a-z]+) \| (.+) \|$", text, re.MULTILINE)
    assert {law: when for law, when in rows if law in MATTERS} == dict(MATTERS)
    assert f"{DIFFERENTIAL_RUNS} drawn runs" in " ".join(text.split())


def test_a_run_in_which_nothing_happens_matters_to_no_law() -> None:
    geometry = Geometry((Group("attention", Kind.FULL_ATTENTION, 4),), 4)
    alone = Scenario("alone", geometry, (Request("r1", (Segment("doc", 9),)),))
    assert matters(run(alone).events) == frozenset()


def test_a_resend_matters_to_the_laws_of_a_hit() -> None:
    state = Group("state", Kind.RECURRENT_STATE, 4)
    geometry = Geometry((Group("attention", Kind.FULL_ATTENTION, 2), state), 2)
    doc = (Segment("doc", 9),)
    twice = (Request("r1", doc), Request("r2", doc, arrival=After("r1")))
    said = matters(run(Scenario("twice", geometry, twice)).events)
    assert said >= {"seed", "reach", "neutrality", "grid"}
    assert not said & {"commit", "admission", "ownership", "conservation"}


def test_only_what_was_on_is_covered() -> None:
    first = drawn()[0]
    events = run(first.scenario, RULE_SETS[first.rules]).events
    found = covered(first.on, events)
    assert set(found.runs) == {str(switch) for switch in first.on}
    assert {name for name, _ in found.judged} == set(found.runs)
    assert {law for _, law in found.judged} == matters(events)
    both = summed([found, found])
    assert both.runs == Counter({name: 2 for name in found.runs})


def test_holes_are_all_pairs_without_a_run_that_are_possible() -> None:
    empty = Coverage(Counter(), Counter())
    pairs = {(str(switch), law.name) for switch in SWITCHES for law in LAWS}
    assert set(empty.holes()) == pairs - set(IMPOSSIBLE)
    assert set(IMPOSSIBLE) <= pairs
    full = Coverage(Counter(), Counter(pairs - {("drafts", "seed")}))
    assert full.holes() == (("drafts", "seed"),)


# --- smaller units --------------------------------------------------------------------------------


def test_a_scenario_in_a_smaller_unit_is_valid_and_proportional() -> None:
    groups = (Group("attention", Kind.FULL_ATTENTION, 16), Group("state", Kind.RECURRENT_STATE, 48))
    geometry = Geometry(groups, 16, budget_tokens=100, long_prefill_threshold_tokens=40)
    request = Request("r1", (Segment("doc", 100),), shares=(33,), external_tokens=20)
    scenario = Scenario("large", geometry, (request,), budgets=(17,))
    first, *others = scaled_down(scenario)
    assert [g.block_tokens for g in first.geometry.groups] == [1, 3]
    assert (first.geometry.budget_tokens, first.geometry.hash_unit_tokens) == (7, 1)
    assert first.geometry.long_prefill_threshold_tokens == 3
    assert first.requests[0] == replace(
        request, segments=(Segment("doc", 7),), shares=(3,), external_tokens=1
    )
    assert first.budgets == (2,)
    assert all(map(is_valid, (first, *others)))
    assert len(others) == 3


@pytest.mark.parametrize("seed", range(20))
def test_scaling_never_raises(seed: int) -> None:
    for smaller in scaled_down(drawn()[seed].scenario):
        is_valid(smaller)

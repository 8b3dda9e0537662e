"""Symptoms: what the laws' sentences mean of a real engine. Traces come from the oracle, under its
own rules and under historic ones."""

from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from truehit.adapters.vllm.audit.certainty import CONTENTS, ORDER, POLICY, REPLAYED, certainty_of
from truehit.adapters.vllm.audit.draw import Supported, can_start, draw, start_up_blocks
from truehit.adapters.vllm.audit.features import features, pairs
from truehit.adapters.vllm.audit.hunt import Hunt
from truehit.adapters.vllm.audit.kinds import Kind, kind_of, worst
from truehit.adapters.vllm.audit.mutate import mutate
from truehit.adapters.vllm.audit.reading import Symptom, is_judged, steps_of, symptoms
from truehit.adapters.vllm.audit.story import MOST_LINES, story
from truehit.adapters.vllm.audit.toggles import FEATURES, Trial, toggles
from truehit.adapters.vllm.driver import Driven, Driver, Unordered
from truehit.adapters.vllm.environment import Environment
from truehit.reference.ruleset import RULE_SETS
from truehit.reference.run import run
from truehit.spec.geometry import Dense, Geometry, Group, Interval, ReachOnly, Retention
from truehit.spec.geometry import Kind as GroupKind
from truehit.spec.geometry_file import geometry_to_json
from truehit.spec.laws.base import Violation, ViolationClass
from truehit.spec.scenario import After, Request, Scenario
from truehit.spec.tokens import Segment
from truehit.spec.trace import Complete, EngineError, Event, Header, Publish, Schedule, Submit

FACTS = {"version": "none"}


def geometry(page: int, state: int, **fields: Any) -> Geometry:
    groups = (
        Group("attention", GroupKind.FULL_ATTENTION, page),
        Group("state", GroupKind.RECURRENT_STATE, state),
    )
    unit = min(page, state)
    base = Geometry(groups, hash_unit_tokens=unit, fine_hits=page != state, budget_tokens=2 * state)
    return replace(base, **fields)


def driven(scenario: Scenario, rules: str = "default") -> Driven:
    return Driven(scenario, FACTS, run(scenario, RULE_SETS[rules]).events)


def sent(tokens: int, times: int = 1, doc: str = "doc") -> tuple[Request, ...]:
    first = Request("a", (Segment(doc, tokens),))
    again = (Request(f"a{n}", (Segment(doc, tokens),), arrival=After("a")) for n in range(1, times))
    return (first, *again)


def test_the_default_rules_have_no_symptom() -> None:
    assert symptoms(driven(Scenario("x", geometry(16, 64), sent(300, 3)))) == ()


def test_a_wrong_grid_is_corrupt_and_told_by_its_most_telling_law() -> None:
    scenario = Scenario("x", geometry(48, 64, budget_tokens=64, hash_unit_tokens=16), sent(300, 2))
    found = symptoms(driven(scenario, "minimum-block-grid"))
    assert worst(found)[0].violation_class is ViolationClass.CORRUPT
    assert worst(found)[0].law == "provenance"
    assert {one.shape for one in worst(found)} == {one.shape for one in found}


def test_an_engine_that_does_not_start_has_no_symptom() -> None:
    scenario = Scenario("x", geometry(16, 16), sent(10))
    header = run(scenario, RULE_SETS["default"]).events[0]
    fault = EngineError(0, "ValueError: this geometry is refused")
    refused = Driven(scenario, {}, (header, fault))
    assert symptoms(refused) == ()
    assert not is_judged(refused)
    assert is_judged(Driven(scenario, FACTS, (header, fault)))
    found = symptoms(Driven(scenario, FACTS, (header, fault)))
    assert [one.sentence for one in found] == [fault.message]


def deferred(steps: int, offered: int) -> Driven:
    """One request that is offered so much in so many steps, and gets nothing."""
    scenario = Scenario("x", geometry(64, 64), sent(200))
    header = run(scenario, RULE_SETS["default"]).events[0]
    assert isinstance(header, Header)
    events = [Submit(0, "a", (Segment("doc", 200),), "out", 1)]
    trace: list[Event] = [header, *events]
    for step in range(steps):
        trace.append(Schedule(step, "a", 0, 0, offered, 200, cut="split"))
        trace.append(Complete(step, step))
    return Driven(scenario, FACTS, tuple(trace))


@pytest.mark.parametrize(
    ("steps", "offered", "read"),
    [
        (15, 63, ViolationClass.POLICY),
        (16, 63, ViolationClass.STALL),
        (40, 31, ViolationClass.POLICY),
        (16, 32, ViolationClass.STALL),
    ],
)
def test_a_deferral_stalls_when_half_a_block_is_refused_often(
    steps: int, offered: int, read: ViolationClass
) -> None:
    offers = [s for s in symptoms(deferred(steps, offered)) if "is offered" in s.sentence]
    assert {one.violation_class for one in offers} == {read}


def reach(told: Driven) -> set[ViolationClass]:
    return {one.violation_class for one in symptoms(told) if one.law == "reach"}


def under(told: Driven, retention: Retention) -> Driven:
    """The same doings of an engine that promises another retention."""
    geometry = replace(told.scenario.geometry, retention=retention)
    header = told.trace[0]
    assert isinstance(header, Header)
    header = replace(header, geometry=geometry_to_json(geometry))
    return Driven(replace(told.scenario, geometry=geometry), FACTS, (header, *told.trace[1:]))


def test_sparse_retention_does_not_owe_the_end_of_a_prompt() -> None:
    """The historic rule keeps the last boundary only: the end of a block-aligned prompt is not
    kept, which is policy, unless everything is promised."""
    sparse = Scenario("x", geometry(64, 64, retention=ReachOnly()), sent(256, 2))
    told = driven(sparse, "boundary-only")
    assert reach(told) == {ViolationClass.POLICY}
    assert reach(under(told, Dense())) == {ViolationClass.WASTE}
    assert ViolationClass.WASTE in reach(under(told, Interval(64)))


def test_sparse_retention_owes_where_a_resend_lands() -> None:
    """Without the key of 192 tokens a resend of 256 finds nothing."""
    told = driven(Scenario("x", geometry(64, 64, retention=ReachOnly()), sent(256)))
    lost = tuple(
        event
        for event in told.trace
        if not (isinstance(event, Publish) and event.group == "state" and event.keys[0][0] == 192)
    )
    assert len(lost) < len(told.trace)
    assert reach(replace(told, trace=lost)) == {ViolationClass.WASTE}


def test_the_shape_of_a_sentence_has_neither_names_nor_numbers() -> None:
    one = Symptom(
        "seed", ViolationClass.CORRUPT, "request r1: group state reads 5 (step 3)", 3, "r1"
    )
    other = replace(one, sentence="request b#2: group state2 reads 77 (step 9)", step=9)
    assert one.shape == other.shape == "seed: request * group * reads #"


# --- what is drawn --------------------------------------------------------------------------------


def test_everything_drawn_can_start() -> None:
    random, older = Random(1), Supported(lookahead=False, checkpoints=False, rings=False)
    for _ in range(150):
        scenario = draw(random)
        assert can_start(scenario)
        assert can_start(mutate(random, scenario, Supported()))
        old = draw(random, older).geometry
        assert old.lookahead_tokens == 0
        assert old.checkpoint_alignment_tokens is None
        assert not any(g.kind is GroupKind.CIRCULAR_BUFFER for g in old.groups)


def test_draws_follow_the_seed() -> None:
    assert [draw(Random(7)) for _ in range(3)] == [draw(Random(7))] * 3
    assert draw(Random(7)) != draw(Random(8))


def test_a_start_up_asks_for_the_longest_request() -> None:
    one = geometry(16, 64, max_model_tokens=640, drafts=2)
    assert start_up_blocks(one) == 40 + 2 + 2
    assert start_up_blocks(replace(one, checkpoint_alignment_tokens=16)) == 40 + 2 + 2 + 1


# --- what heals it --------------------------------------------------------------------------------


def test_a_toggle_changes_one_thing_and_its_own_only() -> None:
    random = Random(3)
    changed = dict.fromkeys((toggle.name for toggle in FEATURES), 0)
    for _ in range(200):
        trial = Trial(draw(random))
        for toggle in FEATURES:
            other = toggle.apply(trial)
            changed[toggle.name] += other != trial
            if toggle.name != "a pool one block too small":
                assert toggle.apply(other) == other
    assert min(changed.values()) > 0


def test_every_toggle_takes_a_geometry_without_states() -> None:
    """Shrinking leaves groups out."""
    attention = (Group("attention", GroupKind.FULL_ATTENTION, 16),)
    plain = Geometry(attention, hash_unit_tokens=16, pool_blocks=4096)
    for toggle in toggles(("state-grid", "stop-at-blocks")):
        toggle.apply(Trial(Scenario("x", plain, sent(100))))


def test_a_repair_names_one_kind_whatever_law_it_breaks() -> None:
    mended = toggles(("state-grid",))[:1]
    by_law = {
        kind_of(Symptom(law, ViolationClass.CORRUPT, "", 0, ""), mended)
        for law in ("provenance", "grid", "seed")
    }
    assert by_law == {Kind("state-grid", "", ViolationClass.CORRUPT, is_repair=True)}
    stalled = kind_of(Symptom("progress", ViolationClass.STALL, "", 0, ""), mended)
    assert stalled == Kind("", "progress", ViolationClass.STALL)


def test_a_repair_that_only_saves_hits_causes_nothing_worse() -> None:
    mended = toggles(("stop-at-blocks",))[:1]
    lost = kind_of(Symptom("reach", ViolationClass.WASTE, "", 0, ""), mended)
    wrong = kind_of(Symptom("ownership", ViolationClass.CORRUPT, "", 0, ""), mended)
    assert lost == Kind("stop-at-blocks", "", ViolationClass.WASTE, is_repair=True)
    assert wrong == Kind("", "ownership", ViolationClass.CORRUPT)


class Refusing(Driver):
    """An engine that starts with nothing."""

    def run(self, scenario: Scenario, options: dict[str, Any] | None = None) -> Driven:
        header = run(scenario, RULE_SETS["default"]).events[0]
        return Driven(scenario, {}, (header, EngineError(0, "ValueError: no")))


def test_a_run_that_cannot_be_judged_heals_nothing(tmp_path: Path) -> None:
    environment = Environment("none", None, tmp_path, tmp_path, (), tmp_path)
    hunt = Hunt(Refusing(environment), 0, 0, ("state-grid", "stop-at-blocks"), Supported())
    symptom = Symptom("reach", ViolationClass.WASTE, "", 0, "")
    assert hunt.heals(Trial(draw(Random(1))), symptom) == ()


# --- how it is told -------------------------------------------------------------------------------


def test_a_story_has_ten_lines_and_ends_with_the_symptom() -> None:
    scenario = Scenario("x", geometry(64, 64), sent(1500, 2))
    told = driven(scenario)
    last = steps_of(told.trace) - 1
    symptom = Symptom("reach", ViolationClass.WASTE, "", last, "a1")
    lines = story(told.trace, symptom, frozenset({"state"}))
    assert len(lines) == MOST_LINES
    assert lines[0] == "(earlier steps left out)"
    assert lines[-1].startswith(f"step {last}: ")
    early = story(told.trace, replace(symptom, step=0, request="a"), frozenset({"state"}))
    assert len(early) == 1
    assert early[0].startswith("step 0: a arrives with 1500 tokens; a computes [0, 64)")
    assert "writes state@64 to column 0" in early[0]


def test_certainty_says_what_a_finding_rests_on() -> None:
    told = driven(Scenario("x", geometry(64, 64), sent(100)))
    wrong = Violation("provenance", ViolationClass.CORRUPT, 3, "a", "", "state", 0, 7)
    symptom = Symptom("provenance", ViolationClass.CORRUPT, "", 3, "a", wrong)
    assert certainty_of(symptom, told) == CONTENTS
    meeting = replace(told, unordered=(Unordered(3, "state", 7, "forward", ("a", "b")),))
    assert certainty_of(symptom, meeting) == ORDER
    assert certainty_of(replace(symptom, law="progress", violation=None), told) == REPLAYED
    asked = replace(symptom, violation_class=ViolationClass.POLICY)
    assert certainty_of(asked, told) == POLICY


def test_features_come_from_the_scenario_and_from_its_run() -> None:
    told = driven(Scenario("x", geometry(16, 64, budget_tokens=40), sent(300, 2)))
    names = features(told.scenario, told.trace)
    assert {"unequal blocks", "fine hits", "hit", "budget below a block"} <= names
    assert len(pairs(names)) == len(names) * (len(names) - 1) // 2

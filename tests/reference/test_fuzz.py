"""Random scenarios under all laws: the default rules break none, and every request ends.

`TRUEHIT_PROFILE=long` draws 50,000 new ones; otherwise the same few hundred every time."""

import os
from dataclasses import replace
from math import lcm

from hypothesis import HealthCheck, Phase, assume, given, note, settings
from hypothesis import strategies as st

from truehit.proofs.sweep.draw import draw
from truehit.proofs.sweep.features import Feature, compatible
from truehit.reference.run import run
from truehit.spec.geometry import (
    BlockDrop,
    Dense,
    Drop,
    DropCap,
    Geometry,
    Group,
    Interval,
    Kind,
    Lookahead,
    NoDrop,
    ReachOnly,
    Retention,
)
from truehit.spec.geometry_checks import GeometryError, check
from truehit.spec.laws.judge import check_trace
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
from truehit.spec.scenario_checks import check_scenario
from truehit.spec.tokens import Segment
from truehit.spec.trace import End, EndWhy

# A failing example is shrunk by hypothesis; too slow and too large do not apply to simulations.
settings.register_profile(
    "ci",
    max_examples=150,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)
settings.register_profile(
    "long",
    max_examples=50_000,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink),
)
PROFILE = settings.get_profile(os.environ.get("TRUEHIT_PROFILE", "ci"))


def holds(scenario: Scenario) -> None:
    """Well-formed, lawful, finished; and never preempted beside a reservation."""
    check(scenario.geometry)
    check_scenario(scenario)
    result = run(scenario)
    verdict = check_trace(result.events)
    note(str(scenario))
    assert [v.sentence for v in verdict.violations] == []
    assert verdict.open_requests == ()
    if scenario.geometry.reserve_full_sequence and not any(
        isinstance(action, Preempt | Fail | Pressure) for action in scenario.actions
    ):
        assert EndWhy.PREEMPT not in {e.why for e in result.events if isinstance(e, End)}


def is_possible(geometry: Geometry) -> bool:
    """A tiny pool does not take every mix of groups."""
    try:
        check(geometry)
    except GeometryError:
        return False
    return True


feature_sets = st.sets(st.sampled_from(Feature), max_size=14).map(frozenset).filter(compatible)


@settings(PROFILE)
@given(st.integers(0, 2**40), feature_sets)
def test_scenarios_drawn_by_feature_hold(seed: int, features: frozenset[Feature]) -> None:
    drawn = draw(seed, features)
    assume(is_possible(drawn.geometry))
    holds(drawn)


@st.composite
def geometries(drawn: st.DrawFn) -> Geometry:
    """Any mix of groups with small blocks, coarse or fine, that the geometry checks accept."""
    grid = drawn(st.sampled_from((2, 3, 4, 6, 8)))
    fine = drawn(st.booleans())
    states = drawn(st.integers(0, 2))
    groups = [Group(f"state-{n}", Kind.RECURRENT_STATE, grid) for n in range(states)]
    for n in range(drawn(st.integers(0 if states else 1, 3))):
        block = drawn(st.sampled_from((1, 2, 3, 4, 6)))
        groups.append(Group(f"full-{n}", Kind.FULL_ATTENTION, block, drawn(st.booleans())))
    if not fine and drawn(st.booleans()):
        window = drawn(st.integers(1, 13))
        block = drawn(st.sampled_from((1, 2, 4)))
        groups.append(
            Group("window", Kind.SLIDING_WINDOW, block, drawn(st.booleans()), window_tokens=window)
        )
    if drawn(st.booleans()):
        groups.append(Group("ring", Kind.CIRCULAR_BUFFER, drawn(st.integers(1, 5))))
    plain = Geometry(tuple(drawn(st.permutations(groups))), 1, fine_hits=fine)
    unit = drawn(st.sampled_from([n for n in range(1, 7) if plain.block_gcd_tokens % n == 0]))
    sized = replace(plain, hash_unit_tokens=unit)
    drafts = drawn(st.integers(0, min(3, grid - 1)))
    return replace(
        sized,
        drafts=drafts,
        drop=drawn(drops(sized)),
        retention=drawn(retentions(sized)),
        budget_tokens=drawn(st.integers(drafts + 1, 40)),
        long_prefill_threshold_tokens=drawn(st.none() | st.integers(1, 20)),
        max_model_tokens=160,
        pool_blocks=drawn(st.sampled_from((70, 110, 1000))),
        checkpoint_alignment_tokens=drawn(st.none() | st.integers(1, grid)) if states else None,
        steps_in_flight=drawn(st.integers(1, 4)),
        reserve_full_sequence=drawn(st.booleans()),
        max_running=drawn(st.integers(1, 4)),
    )


def drops(geometry: Geometry) -> st.SearchStrategy[Drop]:
    choices: list[st.SearchStrategy[Drop]] = [
        st.just(NoDrop()),
        st.builds(Lookahead, st.integers(1, 5)),
    ]
    if any(group.drafted for group in geometry.attention_groups):
        choices.append(st.builds(BlockDrop, st.sampled_from(DropCap)))
    return st.one_of(choices)


def retentions(geometry: Geometry) -> st.SearchStrategy[Retention]:
    base = lcm(geometry.alignment_tokens, geometry.grid_tokens or 1)
    intervals = st.builds(Interval, st.integers(1, 3).map(lambda n: n * base))
    return st.one_of(st.just(Dense()), st.just(ReachOnly()), intervals)


@st.composite
def request_lists(drawn: st.DrawFn, geometry: Geometry) -> tuple[Request, ...]:
    """A tree of prompts over a few named segments; later ones may contain earlier output."""
    made: list[Request] = []
    for number in range(drawn(st.integers(1, 5))):
        lengths = drawn(st.lists(st.integers(1, 25), min_size=1, max_size=3))
        segments = [
            Segment(drawn(st.sampled_from(("doc", "tail", "other"))), tokens) for tokens in lengths
        ]
        arrival: Arrival = AtStep(drawn(st.integers(0, 9)))
        related = drawn(st.booleans())
        if made and related:
            parent = drawn(st.sampled_from(made))
            said = drawn(st.integers(1, parent.output_tokens))
            if drawn(st.booleans()):
                segments = [*parent.segments[:2], *segments[:1]]
            elif len(parent.segments) <= 3:
                segments = [*parent.segments, Segment(parent.output_name, said)]
            arrival = After(parent.name, drawn(st.sampled_from(Moment)), drawn(st.integers(0, 2)))
        prompt = sum(segment.tokens for segment in segments)
        made.append(
            Request(
                f"r{number}",
                tuple(segments),
                output_tokens=drawn(st.integers(1, 12)),
                salt=drawn(st.sampled_from(("", "", "salt"))),
                arrival=arrival,
                accepted=tuple(drawn(st.lists(st.integers(0, geometry.drafts), max_size=3))),
                shares=tuple(drawn(st.lists(st.integers(1, 15), max_size=3))),
                external_tokens=drawn(st.sampled_from((0, 0, prompt - 1, prompt // 2))),
            )
        )
    return tuple(made)


def actions(names: list[str]) -> st.SearchStrategy[tuple[Action, ...]]:
    step, name = st.integers(0, 14), st.sampled_from(names)
    one: list[st.SearchStrategy[Action]] = [
        st.builds(Abort, step, name),
        st.builds(Fail, step, name),
        st.builds(Preempt, step, name),
        st.builds(ResetCache, step),
        st.builds(Pressure, step, st.integers(1, 59), st.integers(1, 4)),
    ]
    return st.lists(st.one_of(one), max_size=3).map(tuple)


@settings(PROFILE)
@given(st.data())
def test_scenarios_of_any_shape_hold(data: st.DataObject) -> None:
    geometry = data.draw(geometries().filter(is_possible))
    requests = data.draw(request_lists(geometry))
    names = [request.name for request in requests]
    step_tokens = st.integers(1, min(30, geometry.budget_tokens))
    budgets = data.draw(st.lists(step_tokens, max_size=6).map(tuple))
    holds(
        Scenario(
            "any",
            geometry,
            requests,
            actions=data.draw(actions(names)),
            budgets=budgets,
            max_steps=2000,
        )
    )

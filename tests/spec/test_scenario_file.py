"""Scenario files are read and written without loss, and the published schema describes them."""

import json
from dataclasses import fields, replace
from pathlib import Path

import jsonschema
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

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
from truehit.spec.scenario import (
    Abort,
    Action,
    After,
    Arrival,
    AtStep,
    EncoderItem,
    Fail,
    Moment,
    Policy,
    Preempt,
    Pressure,
    Request,
    ResetCache,
    Scenario,
)
from truehit.spec.scenario_file import (
    ScenarioError,
    dump_scenario,
    geometry_from_json,
    geometry_to_json,
    load_scenario,
    parse_scenario,
    schema_of_scenario,
)
from truehit.spec.tokens import Segment

EXAMPLES = sorted((Path(__file__).parents[2] / "docs" / "examples").glob("*.yaml"))

groups = st.tuples(
    st.just(Group("full", Kind.FULL_ATTENTION, 16, drafted=True)),
    st.builds(Group, st.just("state"), st.just(Kind.RECURRENT_STATE), st.sampled_from([16, 64])),
    st.builds(
        Group,
        st.just("window: a"),
        st.just(Kind.SLIDING_WINDOW),
        st.just(16),
        st.booleans(),
        st.integers(1, 99),
    ),
    st.just(Group("ring", Kind.CIRCULAR_BUFFER, 8)),
)
drops = st.one_of(
    st.just(NoDrop()),
    st.builds(BlockDrop, st.sampled_from(DropCap)),
    st.builds(Lookahead, st.integers(1, 5)),
)
retentions = st.one_of(
    st.just(Dense()), st.just(ReachOnly()), st.builds(Interval, st.sampled_from([64, 192]))
)


@st.composite
def geometries(draw: st.DrawFn) -> Geometry:
    drop: Drop = draw(drops)
    retention: Retention = draw(retentions)
    return Geometry(
        groups=draw(groups),
        hash_unit_tokens=16,
        fine_hits=draw(st.booleans()),
        drafts=draw(st.integers(0, 3)),
        drop=drop,
        retention=retention,
        budget_tokens=draw(st.integers(4, 9999)),
        long_prefill_threshold_tokens=draw(st.none() | st.integers(1, 99)),
        max_model_tokens=draw(st.integers(1000, 9999)),
        pool_blocks=draw(st.integers(40, 99)),
        checkpoint_alignment_tokens=draw(st.sampled_from([None, 8, 16])),
        kernel_chunk_tokens=draw(st.sampled_from([1, 8])),
        steps_in_flight=draw(st.integers(1, 3)),
        reserve_full_sequence=draw(st.booleans()),
        max_running=draw(st.integers(1, 9)),
    )


names = st.text(min_size=1, max_size=6)
streams = names.filter(lambda name: not name.startswith("output:"))


@st.composite
def requests(draw: st.DrawFn, name: str, earlier: tuple[str, ...]) -> Request:
    arrival: Arrival = AtStep(draw(st.integers(0, 5)))
    parts = [
        Segment(draw(streams), draw(st.integers(1, 200))) for _ in range(draw(st.integers(1, 3)))
    ]
    if draw(st.booleans()) and earlier:
        other = draw(st.sampled_from(earlier))
        arrival = After(other, draw(st.sampled_from(Moment)), draw(st.integers(0, 3)))
        parts.append(Segment(f"output:{other}", 1))
    prompt = sum(part.tokens for part in parts)
    items = st.builds(EncoderItem, st.integers(0, prompt - 1), st.just(1))
    return Request(
        name=name,
        segments=tuple(parts),
        output_tokens=draw(st.integers(1, 99)),
        salt=draw(st.text(max_size=3)),
        arrival=arrival,
        priority=draw(st.integers(-5, 5)),
        accepted=tuple(draw(st.lists(st.just(0), max_size=3))),
        shares=tuple(draw(st.lists(st.integers(1, 99), max_size=3))),
        external_tokens=draw(st.integers(0, prompt - 1)),
        encoder_items=tuple(draw(st.lists(items, max_size=2))),
    )


@st.composite
def scenarios(draw: st.DrawFn) -> Scenario:
    members: list[Request] = []
    for name in draw(st.lists(names, min_size=1, max_size=3, unique=True)):
        members.append(draw(requests(name, tuple(member.name for member in members))))
    step, whom = st.integers(0, 9), st.sampled_from([member.name for member in members])
    actions: st.SearchStrategy[Action] = st.one_of(
        st.builds(Abort, step, whom),
        st.builds(Preempt, step, whom),
        st.builds(Fail, step, whom),
        st.builds(ResetCache, step),
        st.builds(Pressure, step, st.integers(1, 30), st.integers(1, 3)),
    )
    geometry = draw(geometries())
    budgets = st.lists(st.integers(1, geometry.budget_tokens), max_size=3)
    return Scenario(
        name=draw(st.text(max_size=9)),
        geometry=geometry,
        requests=tuple(members),
        actions=tuple(draw(st.lists(actions, max_size=3))),
        budgets=tuple(draw(budgets)),
        policy=draw(st.sampled_from(Policy)),
        encoder_budget_tokens=draw(st.none() | st.integers(1, 99)),
        rules=draw(st.sampled_from(["default", "release"])),
        max_steps=draw(st.integers(1, 99)),
        note=draw(st.text(max_size=9)),
    )


def equal_with_note(a: Scenario, b: Scenario) -> bool:
    """Notes do not count when scenarios are compared, but they must not get lost."""
    return a == b and a.note == b.note


@given(scenarios())
def test_a_scenario_survives_json_and_yaml(scenario: Scenario) -> None:
    data = dump_scenario(scenario)
    assert equal_with_note(parse_scenario(json.dumps(data), ".json"), scenario)
    assert equal_with_note(parse_scenario(yaml.safe_dump(data), ".yaml"), scenario)


@given(geometries())
def test_a_geometry_survives_json(geometry: Geometry) -> None:
    assert geometry_from_json(json.loads(json.dumps(geometry_to_json(geometry)))) == geometry


@given(scenarios())
def test_the_schema_accepts_what_is_written(scenario: Scenario) -> None:
    VALIDATOR.validate(dump_scenario(scenario))


VALIDATOR = jsonschema.Draft202012Validator(schema_of_scenario())


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_an_example_is_read_written_and_described(path: Path) -> None:
    scenario = load_scenario(path)
    assert scenario.name == path.stem
    assert equal_with_note(parse_scenario(json.dumps(dump_scenario(scenario)), ".json"), scenario)
    VALIDATOR.validate(yaml.safe_load(path.read_text()))


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 4


@pytest.mark.parametrize(
    "change",
    [
        {"schema": 2},
        {"requests": [{"name": "r", "segments": ["doc"]}]},
        {"requests": [{"name": "r", "segments": ["doc:1"], "after": "r.began"}]},
        {"requests": [{"name": "r", "segments": ["doc:1"], "output_tokens": 0}]},
        {"budgets": [0]},
        {"typo": 1},
    ],
)
def test_the_schema_refuses_what_is_refused(change: dict[str, object]) -> None:
    data = dump_scenario(load_scenario(EXAMPLES[0])) | change
    with pytest.raises(jsonschema.ValidationError):
        VALIDATOR.validate(data)
    with pytest.raises(ScenarioError):
        parse_scenario(json.dumps(data), ".json")


MINIMAL = """
schema: 1
name: minimal
geometry:
  groups: [{name: full, kind: full_attention, block_tokens: 16}]
  hash_unit_tokens: 16
requests:
  - {name: r1, segments: ["doc:100"]}
"""


def test_keys_that_are_left_out_have_the_defaults_of_the_code() -> None:
    full = Group("full", Kind.FULL_ATTENTION, 16)
    expected = Scenario("minimal", Geometry((full,), 16), (Request("r1", (Segment("doc", 100),)),))
    assert parse_scenario(MINIMAL, ".yaml") == expected


def test_keys_that_are_null_have_the_defaults_of_the_code() -> None:
    nulls = ", at: null, after: null, encoder_items: []}"
    assert parse_scenario(MINIMAL.replace("]}\n", "]" + nulls + "\n"), ".yaml") == parse_scenario(
        MINIMAL, ".yaml"
    )


def test_what_has_its_default_is_not_written() -> None:
    data = dump_scenario(parse_scenario(MINIMAL, ".yaml"))
    assert set(data) == {"schema", "name", "geometry", "requests"}
    assert data["requests"] == [{"name": "r1", "segments": ["doc:100"]}]


def test_every_field_of_a_geometry_is_written() -> None:
    geometry = Geometry(
        (Group("full", Kind.FULL_ATTENTION, 16), Group("state", Kind.RECURRENT_STATE, 16)),
        16,
        long_prefill_threshold_tokens=64,
        checkpoint_alignment_tokens=16,
    )
    assert set(geometry_to_json(geometry)) == {field.name for field in fields(Geometry)}


def test_repeat_sends_the_same_prompt_after_the_last_one() -> None:
    text = MINIMAL.replace('"]}', '"], at: 3, repeat: 3, salt: s}')
    first, second, third = parse_scenario(text, ".yaml").requests
    assert (first.name, first.arrival) == ("r1", AtStep(3))
    assert second == replace(first, name="r1#2", arrival=After("r1"))
    assert third == replace(first, name="r1#3", arrival=After("r1#2"))


def test_a_segment_is_cut_at_its_last_colon() -> None:
    text = MINIMAL + '  - {name: r2, segments: ["doc:100", "output:r1:1", "a:b:c:7"]}\n'
    assert parse_scenario(text, ".yaml").requests[1].segments == (
        Segment("doc", 100),
        Segment("output:r1", 1),
        Segment("a:b:c", 7),
    )


@pytest.mark.parametrize(
    ("text", "arrival"),
    [
        ("r1.finished", After("r1", Moment.FINISHED, 0)),
        ("r1.prefilled+2", After("r1", Moment.PREFILLED, 2)),
        ("r1.submitted", After("r1", Moment.SUBMITTED, 0)),
        ("r1.scheduled+10", After("r1", Moment.SCHEDULED, 10)),
    ],
)
def test_an_arrival_names_a_request_and_a_moment(text: str, arrival: After) -> None:
    body = MINIMAL + f'  - {{name: r2, segments: ["doc:100"], after: {text}}}\n'
    assert parse_scenario(body, ".yaml").requests[1].arrival == arrival


@pytest.mark.parametrize(
    ("drop", "marked"),
    [
        ("{mode: block, cap: margin, groups: all}", {"full", "draft"}),
        ("{mode: block, cap: margin, groups: [draft]}", {"draft"}),
        ("{mode: lookahead, tokens: 2}", set()),
        ("none", set()),
    ],
)
def test_a_drop_marks_the_groups_that_give_back(drop: str, marked: set[str]) -> None:
    two = MINIMAL.replace(
        "16}]",
        "16}, {name: draft, kind: full_attention, block_tokens: 16}, "
        "{name: state, kind: recurrent_state, block_tokens: 16}]\n  drop: " + drop,
    )
    geometry = parse_scenario(two, ".yaml").geometry
    assert {group.name for group in geometry.groups if group.drafted} == marked

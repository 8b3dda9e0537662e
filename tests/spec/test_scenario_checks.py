"""A bad scenario file is refused in one line: where, what, which number, and what would work."""

import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from truehit.spec.scenario_file import ScenarioError, load_scenario, parse_scenario

FULL = {"name": "full", "kind": "full_attention", "block_tokens": 16}
STATE = {"name": "state", "kind": "recurrent_state", "block_tokens": 64}
GEOMETRY: dict[str, Any] = {"groups": [FULL, STATE], "hash_unit_tokens": 16, "drafts": 2}
REQUEST: dict[str, Any] = {"name": "r1", "segments": ["doc:100"], "output_tokens": 8}


def request(**keys: Any) -> dict[str, Any]:
    return REQUEST | keys


def scenario(*requests: dict[str, Any], **keys: Any) -> dict[str, Any]:
    members = list(requests) or [REQUEST]
    return {"schema": 1, "name": "s", "geometry": GEOMETRY, "requests": members} | keys


def geometry(**keys: Any) -> dict[str, Any]:
    return scenario(geometry=GEOMETRY | keys)


def without(data: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in data.items() if name != key}


def sentence_only(value: object) -> str:
    return value[:60] if isinstance(value, str) else "-"


BLOCK_DROP = {"mode": "block", "cap": "margin"}
TURN_2 = request(name="r2", segments=["doc:100", "output:r1:8"], after="r1.finished")

# Each: what is refused, and the whole sentence.
SHAPE: list[tuple[dict[str, Any], str]] = [
    (without(scenario(), "schema"), "schema: is missing; 1 works"),
    (scenario(schema=2), "schema: 2 is unknown; 1 works"),
    (
        without(scenario(), "geometry"),
        "geometry: is missing; a mapping with groups and hash_unit_tokens works",
    ),
    (scenario(budget=[1]), "budget: is an unknown key; budgets works"),
    (scenario(request(segment=[])), "requests[0].segment: is an unknown key; segments works"),
    (scenario(policy="lifo"), "policy: 'lifo' is unknown; 'fcfs' or 'priority' works"),
    (scenario(budgets=[1, "2"]), "budgets[1]: '2' does not fit; a whole number works"),
    (scenario(budgets=5), "budgets: 5 does not fit; a list works"),
    (scenario(max_steps=True), "max_steps: True does not fit; a whole number works"),
    (
        scenario(request(**{"one\ntwo": 1})),
        "requests[0].one\\ntwo: is an unknown key; one of name, segments, output_tokens, output, "
        "salt, at, after, priority, accepted, shares, external_tokens, encoder_items, repeat works",
    ),
    (scenario(request(name=7)), 'requests[0].name: 7 is not text; "7" works'),
    (scenario(request(after=3)), "requests[0].after: 3 is not text; r1.finished works"),
    (scenario(requests={}), "requests: {} does not fit; a list works"),
    (scenario(requests=["r1"]), "requests[0]: 'r1' does not fit; a mapping of keys works"),
    (
        scenario(request(segments=["doc:100", 750])),
        "requests[0].segments[1]: 750 is not text; 'doc:6400' in quotes works",
    ),
    (
        scenario(request(segments=["doc"])),
        "requests[0].segments[0]: 'doc' is not a name and a count of tokens; 'doc:6400' works",
    ),
    (
        scenario(request(after="r1.began")),
        "requests[0].after: 'r1.began' is not a request and a moment "
        "(submitted, scheduled, prefilled, finished); 'r1.finished' works",
    ),
    (
        scenario(request(at=1, after="r1.finished")),
        "requests[0].at: is 1 beside after; leaving it out works",
    ),
    (scenario(request(repeat=0)), "requests[0].repeat: is 0: nothing is sent; 1 works"),
    (geometry(fine_hits="yes"), "geometry.fine_hits: 'yes' does not fit; true or false works"),
    (
        geometry(groups=[FULL | {"kind": "mamba"}]),
        "geometry.groups[0].kind: 'mamba' is unknown; 'full_attention', 'sliding_window', "
        "'circular_buffer' or 'recurrent_state' works",
    ),
    (
        geometry(groups=[without(FULL, "block_tokens")]),
        "geometry.groups[0].block_tokens: is missing; 16 works",
    ),
    (geometry(drop="block"), "geometry.drop: 'block' is unknown; 'none' works"),
    (
        geometry(drop={"mode": "page"}),
        "geometry.drop: has no known mode; none, {mode: block, cap: margin, groups: all} or "
        "{mode: lookahead, tokens: 1} works",
    ),
    (
        geometry(drop={"mode": "block", "cap": "soft"}),
        "geometry.drop.cap: 'soft' is unknown; 'clamped' or 'margin' works",
    ),
    (geometry(drop={"mode": "lookahead"}), "geometry.drop.tokens: is missing; 1 works"),
    (geometry(retention="none"), "geometry.retention: 'none' is unknown; 'dense' works"),
    (geometry(retention=1.5), "geometry.retention: 1.5 does not fit; a whole number works"),
    (
        geometry(drop=BLOCK_DROP | {"groups": ["state"]}),
        "geometry.drop.groups[0]: 'state' is no attention group; full works",
    ),
    (
        geometry(
            groups=[FULL | {"drafted": True}, FULL | {"name": "draft"}, STATE],
            drop=BLOCK_DROP | {"groups": ["draft"]},
        ),
        "geometry.drop.groups: leaves out 'full', which is drafted; naming it works",
    ),
    (
        geometry(budget_tokens=0),
        "geometry.budget_tokens: is 0: a step schedules at least one token; 64 works",
    ),
    (
        scenario(actions=[{"kind": "kill", "step": 1}]),
        "actions[0]: has no known kind; one of abort, preempt, fail, reset_cache, pressure works",
    ),
    (
        scenario(actions=[{"kind": "abort", "step": 1}]),
        "actions[0].request: is missing; r1 works",
    ),
]

MEANING: list[tuple[dict[str, Any], str]] = [
    (scenario(requests=[]), "requests: has 0 requests; 1 works"),
    (scenario(request(name="")), "requests[0].name: has 0 letters; r0 works"),
    (
        scenario(REQUEST, REQUEST),
        "requests[1].name: 'r1' names 2 requests; 'r1-1' works",
    ),
    (scenario(budgets=[4, 0]), "budgets[1]: is 0; 1 works"),
    (scenario(encoder_budget_tokens=0), "encoder_budget_tokens: is 0; 1 works"),
    (scenario(max_steps=0), "max_steps: is 0; 1 works"),
    (scenario(request(segments=[])), "requests[r1].segments: has 0 segments; 1 works"),
    (scenario(request(segments=["doc:0"])), "requests[r1].segments[0]: is 0; 1 works"),
    (scenario(request(output_tokens=0)), "requests[r1].output_tokens: is 0; 1 works"),
    (scenario(request(shares=[5, 0])), "requests[r1].shares[1]: is 0; 1 works"),
    (
        scenario(budgets=[8192, 8193]),
        "budgets[1]: is 8193, above budget_tokens 8192; 8192 works",
    ),
    (scenario(request(accepted=[-1])), "requests[r1].accepted[0]: is -1; 0 works"),
    (scenario(request(accepted=[0, 3])), "requests[r1].accepted[1]: is 3 of 2 drafts; 2 works"),
    (scenario(request(external_tokens=-1)), "requests[r1].external_tokens: is -1; 0 works"),
    (
        scenario(request(external_tokens=100)),
        "requests[r1].external_tokens: is 100: the last of 100 prompt tokens is always "
        "computed; 99 works",
    ),
    (scenario(request(at=-1)), "requests[r1].at: is -1; 0 works"),
    (
        geometry(max_model_tokens=100),
        "requests[r1].segments: is 100 tokens of prompt, which with 1 of output exceed "
        "max_model_tokens 100; 99 works",
    ),
    (
        geometry(max_model_tokens=104),
        "requests[r1].output_tokens: is 8: after 100 of prompt it exceeds max_model_tokens 104; "
        "4 works",
    ),
    (
        scenario(request(encoder_items=[{"at": 100, "tokens": 1}])),
        "requests[r1].encoder_items[0].at: is 100, outside the 100 prompt tokens; 99 works",
    ),
    (
        scenario(request(encoder_items=[{"at": -1, "tokens": 1}])),
        "requests[r1].encoder_items[0].at: is -1; 0 works",
    ),
    (
        scenario(request(encoder_items=[{"at": 90, "tokens": 11}])),
        "requests[r1].encoder_items[0].tokens: is 11: from 90 on it passes the 100 prompt "
        "tokens; 10 works",
    ),
    (
        scenario(request(encoder_items=[{"at": 0, "tokens": 0}])),
        "requests[r1].encoder_items[0].tokens: is 0; 1 works",
    ),
    (
        scenario(request(encoder_items=[{"at": 0, "tokens": 9}]), encoder_budget_tokens=8),
        "requests[r1].encoder_items[0].tokens: is 9, more than encoder_budget_tokens 8 of any "
        "step; 8 works",
    ),
    (
        scenario(actions=[{"kind": "abort", "step": 1, "request": "r9"}]),
        "actions[0].request: 'r9' is none of the 1 requests; 'r1' works",
    ),
    (
        scenario(actions=[{"kind": "preempt", "step": -1, "request": "r1"}]),
        "actions[0].step: is -1; 0 works",
    ),
    (
        scenario(actions=[{"kind": "pressure", "step": 0, "blocks": 0}]),
        "actions[0].blocks: is 0; 1 works",
    ),
    (
        scenario(actions=[{"kind": "pressure", "step": 0, "blocks": 1, "for_steps": 0}]),
        "actions[0].for_steps: is 0; 1 works",
    ),
    (
        scenario(actions=[{"kind": "pressure", "step": 0, "blocks": 4096}]),
        "actions[0].blocks: is 4096 of 4095 blocks that are not null; 4095 works",
    ),
    (
        scenario(request(after="r9.finished")),
        "requests[r1].after: 'r9' is none of the 1 requests; 'r1' works",
    ),
    (
        scenario(request(segments=["output:r9:4"])),
        "requests[r1].segments[0]: 'r9' is none of the 1 requests; 'r1' works",
    ),
    (
        scenario(REQUEST, TURN_2 | {"segments": ["doc:100", "output:r1:9"]}),
        "requests[r2].segments[1]: is 9 tokens of 'output:r1', which generates 8; 8 works",
    ),
    (
        scenario(request(output="answer"), request(name="r2", segments=["answer:9"])),
        "requests[r2].segments[0]: is 9 tokens of 'answer', which generates 8; 8 works",
    ),
    (
        scenario(request(after="r1.finished")),
        "requests[r1]: r1 before r1 never happens; a circle of 0 requests works",
    ),
    (
        scenario(request(segments=["output:r1:4"])),
        "requests[r1]: r1 before r1 never happens; a circle of 0 requests works",
    ),
]


@pytest.mark.parametrize(("data", "sentence"), SHAPE + MEANING, ids=sentence_only)
def test_refused_in_one_line(data: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        parse_scenario(json.dumps(data), ".json")
    assert str(caught.value) == sentence
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["doc", "doc:", ":5", "doc:x", "doc:-1", "doc:²", "doc:5:", ""])
def test_no_segment(text: str) -> None:
    with pytest.raises(ScenarioError, match=r"is not a name and a count of tokens"):
        parse_scenario(json.dumps(scenario(request(segments=[text]))), ".json")


def test_a_long_value_is_cut() -> None:
    with pytest.raises(ScenarioError) as caught:
        parse_scenario(json.dumps(scenario(budgets="x" * 1000)), ".json")
    assert str(caught.value) == f"budgets: '{'x' * 59}… does not fit; a list works"
    with pytest.raises(ScenarioError) as caught:
        parse_scenario(json.dumps(scenario(budgets="x" * 58)), ".json")
    assert str(caught.value) == f"budgets: '{'x' * 58}' does not fit; a list works"


def test_the_largest_numbers_work() -> None:
    """Up to the limits nothing is refused."""
    full = request(
        accepted=[2],
        external_tokens=99,
        encoder_items=[{"at": 0, "tokens": 60}, {"at": 60, "tokens": 40}],
    )
    pressure = {"kind": "pressure", "step": 0, "blocks": 99}
    data = scenario(full, encoder_budget_tokens=60, actions=[pressure])
    data["geometry"] = GEOMETRY | {"max_model_tokens": 108, "pool_blocks": 100}
    assert parse_scenario(json.dumps(data), ".json").requests[0].external_tokens == 99


def test_the_scenario_that_the_refused_ones_differ_from_is_fine() -> None:
    assert parse_scenario(json.dumps(scenario(REQUEST, TURN_2)), ".json").requests[1].name == "r2"


def test_a_circle_of_arrivals_is_written_out() -> None:
    circle = scenario(
        request(after="r3.finished"),
        request(name="r2", after="r1.scheduled+1"),
        request(name="r3", after="r2.submitted"),
    )
    with pytest.raises(ScenarioError, match="never happens") as caught:
        parse_scenario(json.dumps(circle), ".json")
    for name in ("r1", "r2", "r3"):
        assert f"{name} before " in str(caught.value)


def test_an_arrival_before_the_output_it_contains_is_a_circle() -> None:
    early = scenario(
        request(after="r2.submitted"), request(name="r2", segments=["doc:5", "output:r1:4"])
    )
    with pytest.raises(ScenarioError, match="never happens"):
        parse_scenario(json.dumps(early), ".json")


@pytest.mark.parametrize(
    ("text", "suffix", "sentence"),
    [
        ("{", ".json", "line 1 is no JSON ("),
        ('{"schema": 1, "schema": 1}', ".json", "schema: is given 2 times in one object; 1 time"),
        ("[]", ".json", "[] does not fit; a mapping of keys works"),
        ("schema: 1\nname: [", ".yaml", "line 2 is no YAML ("),
        ("schema: 1\nname: a\nname: b", ".yaml", "name: is given 2 times (line 3); 1 time works"),
        ("name: 1\x00", ".yaml", "is no YAML ("),
        ("name: 2024-13-45", ".yaml", "is no YAML (month must be in 1..12); text in quotes works"),
        ("name: " + "[" * 5000, ".yaml", "is no YAML ("),
        ("[" * 100_000, ".json", "is no JSON ("),
        ("9" * 5000, ".json", "is no JSON (Exceeds the limit (4300 digits)"),
        ("", ".yml", "None does not fit; a mapping of keys works"),
        ("? [a]\n: 1", ".yaml", "line 1 is no YAML (found unhashable key)"),
        ("", ".toml", "the suffix '.toml' is unknown; .yaml or .json works"),
    ],
    ids=sentence_only,
)
def test_texts_that_are_no_scenario(text: str, suffix: str, sentence: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        parse_scenario(text, suffix)
    assert str(caught.value).startswith(sentence)
    assert "\n" not in str(caught.value)


def test_a_file_error_begins_with_the_file(tmp_path: Path) -> None:
    bad = tmp_path / "bad.json"
    bad.write_text(json.dumps(scenario(max_steps=0)))
    with pytest.raises(ScenarioError) as caught:
        load_scenario(bad)
    assert str(caught.value) == f"{bad}: max_steps: is 0; 1 works"
    missing = tmp_path / "missing.yaml"
    with pytest.raises(ScenarioError, match=r"no such file or directory; a readable file works"):
        load_scenario(missing)
    binary = tmp_path / "binary.yaml"
    binary.write_bytes(b"ab\xff")
    with pytest.raises(ScenarioError, match="byte 2 is no text; UTF-8 works"):
        load_scenario(binary)


def test_an_error_survives_the_way_between_processes() -> None:
    error = ScenarioError("requests[r1].at", "is -1; 0 works", "a.yaml")
    assert str(pickle.loads(pickle.dumps(error))) == "a.yaml: requests[r1].at: is -1; 0 works"

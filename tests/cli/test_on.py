"""`run --on` and `predict --on`: a real engine beside ours, with one reason for every miss."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from truehit.adapters.vllm import known
from truehit.cli.exits import Exit
from truehit.cli.findable import findable_states
from truehit.reference.ruleset import RULE_SETS
from truehit.reference.run import run
from truehit.spec.scenario import ResetCache
from truehit.spec.scenario_file import load_scenario

from .said import EXAMPLES, Cli

GRID = Path(known.__file__).parent / "scenarios" / "s1_grid.yaml"
S2 = (
    *("--state-block", "1600", "--attention-block", "1600", "--drafts", "3"),
    *("--retention", "0", "--prompt", "6400", "--sends", "4"),
)
OLD, NEW = "vllm==0.26.0", "vllm==0.33.0"
POISON = "column 4 is published as state@8240 but holds state@8160 (step 1"
needs_release = [pytest.mark.releases, pytest.mark.timeout(1800)]


def real(*values: object) -> object:
    """A case that drives a release."""
    return pytest.param(*values, marks=needs_release)


@pytest.mark.parametrize(
    ("subject", "ran_with", "hits", "reasons", "waste"),
    [
        real(
            OLD,
            ["drop clamped, not margin"],
            [0, 0, 3200, 3200],
            ["not_shared", "no_state", "dropped", "dropped"],
            3,
        ),
        real(NEW, [], [0, 4800, 4800, 4800], ["not_shared", "capped", "capped", "capped"], 0),
    ],
)
def test_a_prediction_has_both(
    cli: Cli, subject: str, ran_with: list[str], hits: list[int], reasons: list[str], waste: int
) -> None:
    ours = [0, 4800, 4800, 4800]
    said = cli("predict", *S2, "--drop", "margin", "--on", subject, "--fail-on", "waste", "--json")
    (on,) = said.data["on"]
    assert (on["subject"], on["ran_with"]) == (subject, ran_with)
    assert [row["hit"] for row in said.data["requests"]] == ours
    assert [row["ours"]["hit"] for row in on["requests"]] == ours
    assert [row["theirs"]["hit"] for row in on["requests"]] == hits
    assert [row["theirs"]["reason"] for row in on["requests"]] == reasons
    assert ["hit" in row["differs"] for row in on["requests"]] == [
        ours[i] != hits[i] for i in range(4)
    ]
    assert [one["class"] for one in on["violations"]] == ["waste"] * waste
    assert said.code == (Exit.REFUTED if waste else Exit.HOLDS)


@pytest.mark.releases
@pytest.mark.timeout(1800)
def test_differences_are_marked_and_said_in_words(cli: Cli) -> None:
    """What was asked for is not what an old release runs with."""
    said = cli("predict", *S2, "--drop", "lookahead:1", "--on", OLD)
    assert said.code == Exit.HOLDS
    assert f"{OLD} ran with: drop clamped, not lookahead:1" in said.words
    assert f"{OLD} ≠ 0 ≠ 3200 4800 6400 ≠ 3200 4800 ≠ 3200 4800 ≠ no_state" in said.words
    assert "prompt-6400#2: attention offers 3200, but no state beyond 0 was computed" in said.words
    assert "gives 1600 of its 4800 matched tokens back: 3200 remain" in said.words
    assert said.words.endswith(f"{OLD}: 3 waste; 3 of 4 requests differ (≠)")


@pytest.mark.releases
@pytest.mark.timeout(1800)
def test_a_run_beside_ours_has_the_laws_on_their_trace(cli: Cli, tmp_path: Path) -> None:
    trace = tmp_path / "theirs.jsonl"
    said = cli("run", GRID, "--on", NEW, "--trace", trace)
    assert said.code == Exit.REFUTED
    assert "holds: 13 laws over 2 requests" in said.words
    assert f"corrupt provenance: request first: {POISON}" in said.words
    assert json.loads(trace.read_text().splitlines()[0])["engine"] == NEW
    checked = cli("check", trace, "--json").data
    assert any(POISON in one["sentence"] for one in checked["violations"])
    assert [row["reason"] for row in checked["requests"]] == ["not_shared", "no_state"]


@pytest.mark.releases
@pytest.mark.timeout(1800)
def test_a_refusal_to_start_is_one_line(cli: Cli) -> None:
    said = cli("run", GRID, "--on", OLD)
    assert (said.code, said.out) == (Exit.UNKNOWN, "")
    (last,) = [line for line in said.err.splitlines() if line.startswith("truehit: ")]
    assert last.startswith(f"truehit: {OLD} refuses to start with S1-grid: AssertionError: ")


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("budgets", [100], "budgets: an engine has one budget"),
        ("actions", [{"step": 1, "kind": "pressure", "blocks": 2}], "told to pressure"),
    ],
)
def test_what_no_engine_can_be_told_is_refused_before_anything_is_fetched(
    cli: Cli, tmp_path: Path, field: str, value: object, words: str
) -> None:
    path = tmp_path / "asked.yaml"
    scenario = yaml.safe_load((EXAMPLES / "resend.yaml").read_text(encoding="utf-8"))
    path.write_text(yaml.safe_dump({**scenario, field: value}), encoding="utf-8")
    said = cli("run", path, "--on", "vllm==0.0.0")
    assert (said.code, said.out) == (Exit.BAD_INPUT, "")
    assert words in said.err and len(said.err.splitlines()) == 1


def test_an_engine_that_does_not_exist_is_refused(cli: Cli) -> None:
    said = cli("run", EXAMPLES / "resend.yaml", "--on", "vlm==0.33.0")
    assert said.code == Exit.BAD_INPUT
    assert said.err == (
        "truehit: --on 'vlm==0.33.0' is no release, no checkout and no interpreter; "
        "vllm==0.33.0 works\n"
    )


def test_a_request_leaves_states_to_be_found() -> None:
    """Where another request with its tokens could resume when it ended, whatever came later."""
    scenario = load_scenario(GRID)
    first = (*range(1648, 16764, 1648), 16752)
    found = findable_states(run(scenario, RULE_SETS["default"]).events)
    assert found == {"first": first, "sibling": (*range(1648, 8241, 1648), 8976, 9488)}
    reset = replace(scenario, actions=(ResetCache(step=16),))
    found = findable_states(run(reset, RULE_SETS["default"]).events)
    assert found == {"first": first, "sibling": (9488,)}


def test_an_open_request_has_what_is_there_at_the_end() -> None:
    scenario = replace(load_scenario(GRID), max_steps=3)
    found = findable_states(run(scenario, RULE_SETS["default"]).events)
    assert set(found) == {"first"} and len(found["first"]) > 1

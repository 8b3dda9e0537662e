"""`diff`: equal and different, shown and written, as text and as JSON; bad input in one line."""

import json
from pathlib import Path

import pytest
import torch

from truehit.cli.exits import Exit
from truehit.proofs.differ.standins import (
    counts_in_floats,
    miscounts_pool,
    place_of,
    raises,
)
from truehit.spec.laws import LAWS
from truehit.spec.scenario_file import parse_scenario

from .said import EXAMPLES, Cli

CROWDED = EXAMPLES / "crowded-step.yaml"
RESEND = EXAMPLES / "resend.yaml"


def test_the_engine_equals_the_oracle_on_the_examples(cli: Cli) -> None:
    said = cli("diff", *sorted(EXAMPLES.glob("*.yaml")), "--jobs", "1")
    assert said.code == Exit.HOLDS
    assert "engine equals the oracle in every one of" in said.words
    assert "feature" not in said.words


def test_drawn_runs_are_counted_and_covered(cli: Cli) -> None:
    arguments = ("--only", "drawn", "--steps", "10", "--seed", "50", "--jobs", "1", "--json")
    said = cli("diff", "--subject", "oracle", *arguments)
    assert said.code == Exit.HOLDS
    data = said.data
    assert data["steps"] == data["sources"]["drawn"]["steps"] >= 10
    assert (data["differences"], data["first"], data["others"]) == (0, None, [])
    assert sum(data["rules"].values()) == data["runs"] > 0
    coverage = data["coverage"]
    assert max(coverage["runs"].values()) <= data["runs"]
    assert all(list(row) == [law.name for law in LAWS] for row in coverage["judged"].values())


def test_the_coverage_table_names_features_laws_and_holes(cli: Cli) -> None:
    said = cli("diff", "--subject", "oracle", "--only", "drawn", "--steps", "600", "--jobs", "1")
    head = next(line for line in said.out.splitlines() if line.startswith("feature"))
    assert head.split() == ["feature", "runs", *(law.name[:5] for law in LAWS)]
    assert "Holes, no run gave the law something to judge:" in said.words


def test_a_difference_is_shown_side_by_side_and_shrunk(cli: Cli) -> None:
    said = cli("diff", CROWDED, "--subject", place_of(miscounts_pool), "--jobs", "1")
    assert said.code == Exit.REFUTED
    assert "Shrunk to 1 request, 1 prefill chunk, 2 tokens under rules default" in said.words
    row = next(line for line in said.out.splitlines() if "referenced_blocks" in line[:30])
    assert row.split() == [">", "referenced_blocks", "0", "1"]
    assert said.words.count(" step order kind") == 1
    assert "1 runs of 1" in said.words


def test_a_difference_as_json_can_be_run_again(cli: Cli, tmp_path: Path) -> None:
    said = cli("diff", RESEND, "--subject", place_of(counts_in_floats), "--jobs", "1", "--json")
    assert said.code == Exit.REFUTED
    first = said.data["first"]
    assert first["event"]["fields"] == ["tokens"]
    assert first["event"]["oracle"]["kind"] == first["event"]["subject"]["kind"] == "table"
    assert isinstance(first["event"]["oracle"]["tokens"], int)
    assert len(first["event"]["before"]) == 3
    assert first["requests"] == len(parse_scenario(first["scenario"], ".yaml").requests) == 2
    path = tmp_path / "first.yaml"
    path.write_text(first["scenario"], "utf-8")
    assert cli("diff", path, "--subject", place_of(counts_in_floats)).code == Exit.REFUTED
    assert cli("diff", path, "--subject", "oracle").code == Exit.HOLDS


def test_a_subject_that_gives_up_has_no_event_to_show(cli: Cli) -> None:
    said = cli("diff", RESEND, "--rules", "default", "--subject", place_of(raises), "--json")
    assert said.code == Exit.REFUTED
    assert said.data["first"]["event"] is None
    assert said.data["first"]["sentence"].startswith("the subject gave up (IndexError: column")


def test_differences_are_written_as_tests(cli: Cli, tmp_path: Path) -> None:
    folder, subject = tmp_path / "new", place_of(miscounts_pool)
    said = cli("diff", RESEND, CROWDED, "--subject", subject, "--write", folder)
    assert said.code == Exit.REFUTED
    (written,) = folder.iterdir()
    assert f"written: {written}" in said.out
    assert f'"{subject}", "default") == EQUAL' in written.read_text("utf-8")


def test_json_goes_to_a_last_argument_that_is_no_scenario(cli: Cli, tmp_path: Path) -> None:
    out = tmp_path / "diff.json"
    said = cli("diff", RESEND, "--subject", "oracle", "--json", out)
    assert said.code == Exit.HOLDS
    assert "oracle equals the oracle" in said.out
    assert json.loads(out.read_text())["runs"] == 1
    assert cli("diff", RESEND, "--subject", "oracle", "--json", out).code == Exit.HOLDS


def test_a_json_scenario_is_read_and_never_written(cli: Cli, tmp_path: Path) -> None:
    geometry = {
        "groups": [{"name": "full", "kind": "full_attention", "block_tokens": 4}],
        "hash_unit_tokens": 4,
    }
    requests = [{"name": "r1", "segments": ["doc:9"]}]
    path = tmp_path / "one.json"
    text = json.dumps({"schema": 1, "name": "one", "geometry": geometry, "requests": requests})
    path.write_text(text, "utf-8")
    said = cli("diff", "--subject", "oracle", "--json", path)
    assert said.code == Exit.HOLDS
    assert said.data["sources"]["files"]["runs"] == 1
    assert path.read_text("utf-8") == text


def test_nothing_compared_is_unknown(cli: Cli) -> None:
    said = cli("diff", "--subject", "oracle", "--only", "drawn", "--steps", "0")
    assert said.code == Exit.UNKNOWN
    assert "not one step was compared" in said.words


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--subject", "engin"), "subject 'engin' is unknown"),
        (("--subject", "nowhere_at_all:run"), "No module named 'nowhere_at_all'"),
        (("--rules", "scratch-lef"), "scratch-left is the nearest"),
        (("--only", "drawm"), "drawn is the nearest"),
        (("--only", "drawn", str(RESEND)), "files work without it"),
        (("--steps", "-1"), "--steps"),
        (("nowhere.yaml",), "a readable file works"),
        (("--json", "nowhere/diff.json"), "no such folder"),
        (("--write", f"{RESEND}/tests"), "works"),
    ],
)
def test_bad_input_is_one_line(cli: Cli, arguments: tuple[str, ...], words: str) -> None:
    said = cli("diff", *arguments)
    assert said.code == Exit.BAD_INPUT
    assert words in said.err
    assert len(said.err.strip().splitlines()) == 1


def test_a_model_on_the_tables_is_held_to_the_events(cli: Cli) -> None:
    arguments = ("--only", "drawn", "--steps", "10", "--jobs", "1")
    said = cli("diff", "--back-end", "torch", *arguments)
    assert said.code == Exit.HOLDS
    assert "pages hold what the events say; the logits of" in said.words
    assert "engine-on-torch equals the oracle in every one of" in said.words
    data = cli("diff", "--back-end", "torch", *arguments, "--json").data
    assert data["data"]["pages"] > 0 < data["data"]["tokens"]
    assert data["data"]["largest"] < 1e-12


def test_a_back_end_is_for_the_engine(cli: Cli) -> None:
    said = cli("diff", "--back-end", "torch", "--subject", "oracle")
    assert said.code == Exit.BAD_INPUT
    assert "--back-end runs the engine, not oracle; --subject engine works" in said.err


def test_a_gpu_that_is_not_there_is_said(cli: Cli) -> None:
    if torch.cuda.is_available():
        pytest.skip("there is one")
    said = cli("diff", "--back-end", "cuda")
    assert said.code == Exit.BAD_INPUT
    assert "back end cuda: no GPU is visible; back end torch works" in said.err

"""`prove`, `regress` and `sweep`: real answers, closed shapes, bad input in one line."""

from pathlib import Path

import pytest

from truehit.cli.exits import Exit
from truehit.proofs.regress.targets import TARGETS

from .said import Cli

RELEASED_SPLITTER = "vllm/v1/core/sched/scheduler.py"


def test_one_obligation_is_proved_and_shown(cli: Cli) -> None:
    said = cli("prove", "--only", "commit-order", "--json")
    assert said.code == Exit.HOLDS
    (row,) = said.data["obligations"]
    assert row["verdict"] == "proved"
    assert row["law"] == "commit"
    assert {c["name"]: c["verdict"] for c in row["controls"]}["schedule-time-keys"] == "refuted"
    assert row["havoc"] == "refuted"
    assert row["rlimit"] > 0
    assert {place["file"] for place in row["lifted"]} >= {"truehit/reference/rules/visible.py"}
    text = cli("prove", "--only", "commit-order")
    assert "commit-order" in text.out
    assert "proved" in text.out


def test_an_unknown_obligation_names_the_nearest(cli: Cli) -> None:
    said = cli("prove", "--only", "commit-ordre")
    assert said.code == Exit.BAD_INPUT
    assert said.err.strip() == (
        "truehit: obligation 'commit-ordre' is unknown; commit-order is the nearest"
    )


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("--source", "vllm=0.33.0"), "not a folder"),
        (("--source", "vllm=="), "names no release"),
        (("--source", "numpy==1.0"), "or the path of a checkout works"),
        (("--source", ""), "or the path of a checkout works"),
        (("--source", "docs", "--only", "commit-order"), "works without --source"),
    ],
)
def test_a_bad_source_is_one_line(cli: Cli, arguments: tuple[str, ...], word: str) -> None:
    said = cli("prove", *arguments)
    assert said.code == Exit.BAD_INPUT
    assert word in said.err
    assert len(said.err.strip().splitlines()) == 1


def test_a_tree_without_a_splitter_is_one_line(cli: Cli, tmp_path: Path) -> None:
    said = cli("prove", "--source", tmp_path)
    assert said.code == Exit.BAD_INPUT
    assert len(said.err.strip().splitlines()) == 1


@pytest.mark.network
def test_a_release_that_lets_a_chunk_pass_its_block_is_refuted(cli: Cli) -> None:
    said = cli("prove", "--source", "vllm==0.26.0", "--json")
    assert said.code == Exit.REFUTED
    (release,) = said.data["releases"]
    broken = [r for r in release["rows"] if r["verdict"] == "refuted locally"]
    assert {row["obligation"] for row in broken} >= {"endalign", "midblock", "progress"}
    assert all(row["replayed"] for row in broken)
    assert any(place["file"].endswith(RELEASED_SPLITTER) for place in release["lifted"])


def test_committed_regressions_tell_the_rules_apart(cli: Cli) -> None:
    said = cli("regress", "--json")
    assert said.code == Exit.HOLDS
    rows = said.data["regressions"]
    assert [row["rules"] for row in rows] == [target.rules for target in TARGETS]
    assert all(row["good"] and row["sentence"] for row in rows)


def test_a_missing_regression_is_found_shrunk_and_written(cli: Cli, tmp_path: Path) -> None:
    said = cli("regress", "stop-from-misaligned", "--folder", tmp_path)
    assert said.code == Exit.HOLDS
    (written,) = tmp_path.iterdir()
    text = written.read_text(encoding="utf-8")
    assert "def test_stop_from_misaligned_breaks_reach" in text
    assert "def test_default_holds" in text


def test_a_regression_that_lost_its_point_is_refuted(cli: Cli, tmp_path: Path) -> None:
    committed = Path(__file__).parents[1] / "regressions" / "test_scratch_left.py"
    text = committed.read_text(encoding="utf-8")
    assert "drafts: 1" in text
    (tmp_path / committed.name).write_text(text.replace("drafts: 1", "drafts: 0"), "utf-8")
    said = cli("regress", "scratch-left", "--folder", tmp_path)
    assert said.code == Exit.REFUTED
    assert "NO LONGER DISCRIMINATES" in said.out


def test_an_unknown_rule_set_names_the_nearest(cli: Cli) -> None:
    for arguments in (("regress", "scratch-lef"), ("sweep", "--rules", "scratch-lef")):
        said = cli(*arguments)
        assert said.code == Exit.BAD_INPUT
        assert "scratch-left is the nearest" in said.err


def test_a_sweep_holds_by_default_and_is_refuted_under_a_historic_set(cli: Cli) -> None:
    said = cli("sweep", "--runs", "40", "--jobs", "1", "--json")
    assert said.code == Exit.HOLDS
    assert said.data["runs"] == 40
    assert said.data["laws"] == {}
    broken = cli("sweep", "--rules", "raised-candidate", "--runs", "40", "--jobs", "1", "--json")
    assert broken.code == Exit.REFUTED
    assert broken.data["laws"]["joint"] > 0
    assert broken.data["first"][0]["sentence"]


def test_what_cannot_be_written_is_known_before_the_work(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("here", "utf-8")
    for arguments in (
        ("verify", "--json", str(file / "record.json")),
        ("verify", "--json", str(tmp_path / "missing" / "record.json")),
        ("regress", "--folder", str(file)),
    ):
        said = cli(*arguments)
        assert said.code == Exit.BAD_INPUT
        assert len(said.err.strip().splitlines()) == 1
        assert "works" in said.err

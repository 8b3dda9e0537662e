"""`truehit compare` on two real releases, and what it answers to input that it cannot use."""

import json
from pathlib import Path

import pytest

from truehit.adapters.vllm.compare import compare as comparing
from truehit.adapters.vllm.compare import subjects
from truehit.adapters.vllm.compare.report import BehaviourRecord, CompareRecord, MatchedFinding
from truehit.cli.exits import Exit

from .said import Cli

SIDES = ("vllm==0.26.0", "vllm==0.27.1")


@pytest.mark.releases
@pytest.mark.timeout(1800)
def test_a_release_that_mends_a_defect(cli: Cli, tmp_path: Path) -> None:
    target = tmp_path / "out.json"
    budget = ("--scenarios", "1", "--jobs", "1")
    said = cli("compare", *SIDES, *budget, "--markdown", "--json", target)
    assert said.code == Exit.HOLDS, said.err
    record = CompareRecord.model_validate(json.loads(target.read_text(encoding="utf-8")))
    (change,) = record.defects
    assert (change.defect, change.base, change.head) == ("S4", "present", "clean")
    assert record.new == []
    assert record.behaviour.first[0].base == "364 1957"
    first = record.rules[0]
    assert (first.verdict, first.minimal) == ("differ", True)
    assert first.inputs["grid"] == 2 and first.inputs["prompt"] == 2
    assert "| S4 | corrupt | present | clean |" in said.out
    assert "smallest input: block 2, unit 1, offered 1, prompt 2, total 2, budget 1" in said.out


def made_up(violation_class: str) -> CompareRecord:
    new = MatchedFinding(
        violation_class=violation_class,
        law="reach",
        cause="drafts",
        sentence="a state is not kept",
        evidence="its scenario is silent on the base",
        scenario={},
    )
    behaviour = BehaviourRecord(
        scenarios=2, driven_on_both=2, requests=3, refused={}, changes={}, first=[], files={}
    )
    return CompareRecord(
        base=SIDES[0],
        head=SIDES[1],
        seed=0,
        scenarios=(1, 1),
        steps=(1, 1),
        new=[new],
        gone=[],
        unchanged=[new],
        defects=[],
        behaviour=behaviour,
        rules=[],
    )


@pytest.mark.parametrize(
    ("found", "fail_on", "code"),
    [
        ("corrupt", (), Exit.REFUTED),
        ("waste", (), Exit.HOLDS),
        ("waste", ("--fail-on", "waste"), Exit.REFUTED),
        ("corrupt", ("--fail-on", "none"), Exit.HOLDS),
    ],
)
def test_something_new_fails_by_its_class(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, found: str, fail_on: tuple[str, ...], code: Exit
) -> None:
    monkeypatch.setattr(subjects, "open_side", lambda text, progress: text)
    monkeypatch.setattr(comparing, "compare", lambda *asked: made_up(found))
    said = cli("compare", *SIDES, *fail_on)
    assert said.code == code
    assert f"new: {found}, reach: a state is not kept (needs drafts;" in said.words
    assert f"unchanged: {found} reach, needs drafts" in said.words


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), f"0 of two sides to compare; {SIDES[0]} {SIDES[1]} works"),
        (SIDES[:1], "1 of two sides"),
        ((*SIDES, "out.json"), "is one argument too many; --json out.json"),
        ((*SIDES, "out.txt", "--json"), "ends in .json"),
        ((*SIDES, "more", "out.json", "--json"), "two sides and one file work"),
        ((*SIDES, "--json", "--markdown"), "--json OUT.json --markdown works"),
        ((*SIDES, "--minutes", "1", "--scenarios", "1"), "two budgets"),
        ((*SIDES, "--fail-on", "corupt"), "corrupt is the nearest"),
        (("vllm==x", SIDES[1]), "'x' is no version of vllm"),
        (("nowhere", SIDES[1]), "neither a release nor a folder"),
    ],
)
def test_bad_input_is_one_line(cli: Cli, arguments: tuple[str, ...], words: str) -> None:
    said = cli("compare", *arguments)
    assert said.code == Exit.BAD_INPUT
    assert said.out == ""
    assert words in said.err and said.err.startswith("truehit: ") and said.err.count("\n") == 1

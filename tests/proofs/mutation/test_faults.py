"""A fault is exact, is planted in a forked process only, and the lists fit the source."""

import ast
import hashlib
import importlib
import sys
from pathlib import Path

import pytest

import truehit
from truehit.proofs.mutation.catalogue import (
    OPERATED,
    generated,
    planted,
    planted_here,
    reasons_here,
)
from truehit.proofs.mutation.fault import Fault, Rotten, apply, first_line
from truehit.proofs.mutation.forks import Job, Lost, run_jobs
from truehit.proofs.mutation.overlay import overlay, reimport
from truehit.proofs.mutation.plant import judge_fault
from truehit.reference.rules.seed import seed_column
from truehit.spec.laws import LAWS

PACKAGE = Path(truehit.__file__).parent
SEED = Fault("reference/rules/seed.py", "(position - 1) // block", "position // block", "seed: up")
TEXT = "def f(x: int) -> int:\n    return x + 1\n"


def plain(fault: Fault, old: str, new: str) -> Fault:
    return Fault(fault.file, old, new, fault.what)


def test_a_fragment_is_replaced_once() -> None:
    assert apply(TEXT, plain(SEED, "x + 1", "x")) == TEXT.replace("x + 1", "x")


@pytest.mark.parametrize(("old", "new"), [("y + 1", "y"), ("x", "y"), ("x + 1", "x + 1")])
def test_a_fragment_that_is_not_there_once_or_changes_nothing_is_rotten(old: str, new: str) -> None:
    with pytest.raises(Rotten, match="seed: up"):
        apply(TEXT, plain(SEED, old, new))


def test_a_generated_fault_whose_line_has_moved_is_rotten() -> None:
    fault = Fault("f.py", "    return x + 1", "    return x", "f: g", line=2, operator="o")
    assert apply(TEXT, fault) == TEXT.replace("x + 1", "x")
    with pytest.raises(Rotten, match="reads otherwise"):
        apply("\n" + TEXT, fault)


def test_the_place_of_a_fault_is_where_it_differs() -> None:
    assert first_line("a\nb\nc\n", Fault("f.py", "a\nb", "a\nd", "f: g")) == 2


def planted_in_child(fault: Fault, within: Path) -> object:
    """What a forked process says of the fault: the column of a resume at 8 in blocks of 4."""

    def ask() -> tuple[str, str] | None:
        seed = importlib.import_module("truehit.reference.rules.seed")
        return ("columns", str(seed.seed_column(8, 4)))

    job = Job("fault", lambda: judge_fault(PACKAGE, fault, within, ask, lambda root: None))
    return next(answer for _, answer in run_jobs([job], 1, 60.0))


def test_a_fault_is_planted_in_the_child_and_nowhere_else(tmp_path: Path) -> None:
    files = {path: path.stat().st_mtime_ns for path in PACKAGE.glob("reference/rules/*.py")}
    answer = planted_in_child(SEED, tmp_path)
    assert isinstance(answer, tuple) and answer[:3] == ("caught", "columns", "2")
    assert seed_column(8, 4) == 1
    assert {path: path.stat().st_mtime_ns for path in files} == files


def test_a_fault_that_does_not_load_is_invalid(tmp_path: Path) -> None:
    answer = planted_in_child(plain(SEED, "(position - 1) // block", "(position - 1"), tmp_path)
    assert isinstance(answer, tuple) and answer[0] == "invalid"


def test_an_overlay_differs_in_one_file_and_leaves_no_byte_code(tmp_path: Path) -> None:
    file = "reference/rules/seed.py"
    before = set((PACKAGE / "reference/rules/__pycache__").glob("seed*"))
    with overlay(PACKAGE, {file: "CHANGED = True\n"}, tmp_path) as root:
        copy = root / "truehit"
        assert (copy / file).read_text() == "CHANGED = True\n"
        assert (copy / "spec").is_symlink() and not (copy / "reference").is_symlink()
        same = copy / "reference/rules/split.py"
        assert same.resolve() == (PACKAGE / "reference/rules/split.py").resolve()

        def load() -> str:
            reimport(root, ("truehit",))
            return str(importlib.import_module("truehit.reference.rules.seed").CHANGED)

        assert [answer for _, answer in run_jobs([Job("load", load)], 1, 60.0)] == ["True"]
    assert set((PACKAGE / "reference/rules/__pycache__").glob("seed*")) == before
    assert not copy.exists()


def test_a_child_that_dies_or_stays_is_an_answer() -> None:
    def stay() -> None:
        while True:
            pass

    jobs = [Job("dies", lambda: sys.exit(3)), Job("stays", stay), Job("says", lambda: 7)]
    answers = {job.name: answer for job, answer in run_jobs(jobs, 3, 1.0)}
    assert answers == {
        "dies": Lost("the process died"),
        "stays": Lost("no answer within 1 s"),
        "says": 7,
    }


def test_work_that_raises_ends_the_run() -> None:
    def raises() -> None:
        raise ValueError("no such block")

    with pytest.raises(RuntimeError, match="odd: ValueError: no such block"):
        list(run_jobs([Job("odd", raises)], 1, 60.0))


# --- the lists ------------------------------------------------------------------------------------


def test_every_planted_fault_fits_its_file_and_still_parses() -> None:
    for fault in planted_here():
        ast.parse(apply((PACKAGE / fault.file).read_text(encoding="utf-8"), fault))


def test_every_law_has_to_name_some_fault_of_the_oracle() -> None:
    named = {law for fault in planted_here() for law in fault.says}
    assert named == {law.name for law in LAWS}


def test_every_reason_is_of_a_mutant_that_exists() -> None:
    names = {mutant.name for subject in OPERATED for mutant in generated(PACKAGE, subject)}
    assert set(reasons_here()) <= names


LIST = "file: f.py\nfaults:\n- {what: 'room: words', old: a, new: b}\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (LIST.replace("room: ", ""), "names no room"),
        (LIST + "- {what: 'room: words', old: c, new: d}\n", "planted twice"),
        (LIST.replace("new: b", "news: b"), "faults.0.new"),
        ("file: f.py\n", "faults: Field required"),
    ],
)
def test_a_list_that_cannot_be_read_is_refused(text: str, words: str) -> None:
    assert [fault.room for fault in planted({"one.yaml": LIST})] == ["room"]
    with pytest.raises(Rotten, match=words):
        planted({"one.yaml": text})


def test_the_source_is_as_it_was(tmp_path: Path) -> None:
    """Mutation reads the checkout; whatever it plants is gone with its folder."""
    digest = hashlib.sha256((PACKAGE / SEED.file).read_bytes()).hexdigest()
    planted_in_child(SEED, tmp_path)
    assert hashlib.sha256((PACKAGE / SEED.file).read_bytes()).hexdigest() == digest

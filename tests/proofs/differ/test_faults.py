"""Every planted fault is found, shrunk to at most three requests, and written as a test that fails
with the fault and passes without it."""

import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from truehit.proofs.differ.compare import Unequal, compare, kind_of
from truehit.proofs.differ.draw import draw_run
from truehit.proofs.differ.minimal import Minimal, minimal
from truehit.proofs.differ.parts import Found
from truehit.proofs.differ.standins import FAULTY, follows_other_rules, place_of
from truehit.proofs.differ.subject import Subject, Traced, load
from truehit.proofs.differ.write import render, write
from truehit.reference.ruleset import HISTORIC
from truehit.spec.scenario import Scenario

SEEDS = 60
MOST_REQUESTS = 3
MOST_TOKENS = 60

Fault = Callable[[Scenario, str], Traced]


def first_found(subject: Subject, rules: str | None) -> Found:
    """The first drawn run that differs."""
    for seed in range(SEEDS):
        drawn = draw_run(seed, rules)
        done = compare(drawn.scenario, drawn.rules, subject)
        if done.difference is not None:
            name = drawn.scenario.name
            return Found("drawn", name, drawn.rules, drawn.scenario, done.difference, 0)
    raise AssertionError(f"{subject.name}: equal in {SEEDS} runs")


@pytest.fixture(scope="module")
def smallest() -> dict[str, tuple[Found, Minimal]]:
    """By fault: the run it was found in and the smallest one."""
    found: dict[str, tuple[Found, Minimal]] = {}
    for fault in FAULTY:
        subject = load(place_of(fault))
        first = first_found(subject, None)
        found[fault.__name__] = (first, minimal(first, subject))
    return found


@pytest.mark.parametrize("fault", FAULTY, ids=lambda fault: fault.__name__)
def test_a_fault_is_found_and_shrunk(
    fault: Fault, smallest: dict[str, tuple[Found, Minimal]]
) -> None:
    first, small = smallest[fault.__name__]
    assert len(small.scenario.requests) <= MOST_REQUESTS < len(first.scenario.requests)
    assert small.tokens <= MOST_TOKENS
    assert kind_of(small.difference) == kind_of(first.difference)
    assert compare(small.scenario, small.rules, load("oracle")).difference is None


@pytest.mark.parametrize("rules", [rules.name for rules in HISTORIC])
def test_an_engine_that_follows_an_old_rule_is_found(rules: str) -> None:
    """All but the rarest within a second: the drawn runs reach every decision of the rules."""
    subject = Subject(rules, partial(follows_other_rules, followed=rules))
    difference = first_found(subject, "default").difference
    assert isinstance(difference, Unequal) and difference.index > 0


def test_written_tests_fail_with_the_fault_and_pass_without(
    smallest: dict[str, tuple[Found, Minimal]], tmp_path: Path
) -> None:
    faulty, right = tmp_path / "faulty", tmp_path / "right"
    right.mkdir()
    for _, small in smallest.values():
        path = write(small, faulty)
        assert f'"{small.subject}"' in render(small)
        text = path.read_text("utf-8").replace(f'"{small.subject}"', '"oracle"')
        (right / path.name).write_text(text, "utf-8")
    assert answer_of(faulty) == (1, f"{len(FAULTY)} failed")
    assert answer_of(right) == (0, f"{len(FAULTY)} passed")


def answer_of(folder: Path) -> tuple[int, str]:
    """pytest's exit code and count for a folder of tests."""
    command = [str(Path(sys.executable).parent / "pytest"), "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, "--import-mode=importlib", "--rootdir", str(folder), str(folder)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    last = done.stdout.strip().splitlines()[-1]
    return done.returncode, last.partition(" in ")[0]


def test_a_written_test_reads_like_one(smallest: dict[str, tuple[Found, Minimal]]) -> None:
    for _, small in smallest.values():
        text = render(small)
        assert text.startswith(f'"""{small.subject} differed from the oracle under the rules')
        assert max(map(len, text.splitlines())) <= 120
        assert text.count("def test_") == 1


def test_a_subject_that_changes_its_mind_is_said(
    smallest: dict[str, tuple[Found, Minimal]],
) -> None:
    first, _ = smallest["miscounts_pool"]
    with pytest.raises(ValueError, match="does not fail"):
        minimal(first, load("oracle"))

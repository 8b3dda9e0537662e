"""Solving from text: fresh every time, bounded by work, and the same text costs the same."""

import subprocess
import sys

import pytest
import z3

from truehit.proofs.second import solve_again
from truehit.proofs.solve import smtlib, solve, text_sha256

X, Y, FLAG = z3.Int("q.x"), z3.Int("y"), z3.Bool("is flag")
SATISFIABLE = smtlib([X > 3, Y < X, z3.Implies(FLAG, Y > 100), FLAG])
CONTRADICTION = smtlib([X > 3, Y < X, X < 4, Y > 0])
HARD = smtlib([X > 1, Y > 1, X * X * X == Y * Y + 7 * Y + 2, X > 10_000])


def test_a_model_comes_back_by_name() -> None:
    answer = solve(SATISFIABLE, 1_000_000)
    assert answer.verdict == "sat"
    assert answer.model["is flag"] is True
    assert answer.model["y"] > 100
    assert answer.model["q.x"] > answer.model["y"]


def test_a_contradiction_has_no_model() -> None:
    answer = solve(CONTRADICTION, 1_000_000)
    assert (answer.verdict, answer.model) == ("unsat", {})


def test_the_limit_is_work_and_the_answer_unknown() -> None:
    answer = solve(HARD, 5_000)
    assert answer.verdict == "unknown"
    assert answer.model == {}


def test_the_same_text_costs_the_same_whatever_was_asked_before() -> None:
    first = solve(SATISFIABLE, 1_000_000)
    solve(HARD, 50_000)
    again = solve(SATISFIABLE, 1_000_000)
    assert (again.rlimit_used, again.model) == (first.rlimit_used, first.model)
    assert first.rlimit_used > 0
    assert again.text_sha256 == text_sha256(SATISFIABLE)


@pytest.mark.parametrize("text", [SATISFIABLE, CONTRADICTION])
def test_the_second_solver_agrees(text: str) -> None:
    first, second = solve(text, 1_000_000), solve_again(text)
    assert second.verdict == first.verdict
    assert second.text_sha256 == first.text_sha256
    assert (second.solver, first.solver) == ("cvc5", "z3")
    assert set(second.model) == set(first.model)
    if first.verdict == "sat":
        assert second.model["q.x"] > second.model["y"] > 100


PRINT_TEXT = """
import z3
noise = [z3.Int(f"noise{{i}}") for i in range({noise})]
from truehit.proofs.lift import RadixDomain, lift_function
from truehit.proofs.lift.tree import resolve
from truehit.proofs.releases import goals
from truehit.proofs.releases.chunk import SIZES, TOKENS
from truehit.proofs.solve import smtlib, text_sha256
from truehit.proofs.terms import formula
domain = RadixDomain("unit", "block")
bind = {{f"q.{{size}}": domain.size("unit" if size == "unit" else "block") for size in SIZES}}
found = lift_function(goals.end_aligned, domain, bind).result
print(text_sha256(smtlib([*domain.side_conditions(), formula(found)])))
"""


def test_a_text_is_the_same_in_every_process() -> None:
    hashes = {
        subprocess.run(
            [sys.executable, "-c", PRINT_TEXT.format(noise=noise)],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": str(noise)},
        ).stdout
        for noise in (0, 3)
    }
    assert len(hashes) == 1

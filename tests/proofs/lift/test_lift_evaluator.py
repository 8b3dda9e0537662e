"""The fast evaluator means what z3 means, for every operator it knows."""

import random

import pytest
import z3

from truehit.proofs.lift.evaluator import constants, evaluate_term, evaluate_terms

X, Y, P = z3.Int("x"), z3.Int("y"), z3.Bool("p")
TERMS = (
    X / 3 - Y % 4,
    X / Y + X % Y,
    X / -5 + (-X) % -3,
    z3.If(P, X * 2, -Y) + z3.If(X <= Y, 1, 0),
    z3.And(X < Y, z3.Or(P, X >= 3), z3.Not(X == Y)),
    z3.Implies(P, X > Y),
    z3.Distinct(X, Y),
    (X != 2) == P,
)


@pytest.mark.parametrize("term", TERMS, ids=str)
def test_agrees_with_z3(term: z3.ExprRef) -> None:
    generator = random.Random(5)
    for _ in range(200):
        x, y = generator.randint(-12, 12), generator.choice([-4, -1, 1, 2, 5])
        p = generator.random() < 0.5
        pairs = ((X, z3.IntVal(x)), (Y, z3.IntVal(y)), (P, z3.BoolVal(p)))
        known = z3.simplify(z3.substitute(term, *pairs))
        found = evaluate_term({"x": x, "y": y, "p": p}, term)
        assert str(known) == str(found)


def test_a_model_of_z3_is_an_assignment_too() -> None:
    solver = z3.Solver()
    solver.add(X == 7, P)
    assert solver.check() == z3.sat
    assert evaluate_terms(solver.model(), [X + 1, P, 3]) == [8, True, 3]


def test_a_name_left_out_is_zero_or_false() -> None:
    assert evaluate_terms({}, [X + 1, P]) == [1, False]


def test_an_unknown_operator_is_refused() -> None:
    with pytest.raises(TypeError, match="no value for operator"):
        evaluate_term({}, z3.ToReal(X))


def test_constants_come_once_and_in_order() -> None:
    assert [str(c) for c in constants(Y + X, X > Y, P)] == ["y", "x", "p"]

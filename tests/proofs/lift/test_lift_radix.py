"""Mixed radix is Python's arithmetic: every small number, every small chain of sizes."""

from itertools import product

import pytest

from truehit.proofs.lift import RadixDomain, Unsupported, Value
from truehit.proofs.lift.evaluator import evaluate_term
from truehit.proofs.solve import smtlib, solve
from truehit.proofs.terms import formula, negation

CHAINS = ((1, 1), (1, 3), (2, 1), (2, 3), (3, 2))
NUMBERS = range(-9, 16)


def assignment(values: dict[str, int], sizes: tuple[int, int]) -> dict[str, int | bool]:
    unit, units = sizes
    block = unit * units
    model: dict[str, int | bool] = {"radix.unit": unit, "radix.block": units}
    for name, value in values.items():
        rest = value % block
        model |= {f"{name}.0": rest % unit, f"{name}.1": rest // unit, f"{name}.2": value // block}
    return model


@pytest.fixture(scope="module")
def domain() -> RadixDomain:
    return RadixDomain("unit", "block")


@pytest.fixture(scope="module")
def pair(domain: RadixDomain) -> tuple[Value, Value]:
    return domain.integer("x"), domain.integer("y")


@pytest.mark.parametrize("sizes", CHAINS)
def test_every_operation_is_pythons(
    domain: RadixDomain, pair: tuple[Value, Value], sizes: tuple[int, int]
) -> None:
    x, y = pair
    block, unit = domain.size("block"), domain.size("unit")
    terms = {
        "add": domain.add(x, y),
        "subtract": domain.subtract(x, y),
        "times": domain.multiply(x, -3),
        "constant": domain.add(domain.subtract(x, 5), 2),
        "block floor": domain.multiply(domain.divide(x, block), block),
        "unit floor": domain.multiply(unit, domain.divide(x, unit)),
        "ceiling": domain.subtract(0, domain.divide(x, domain.subtract(0, block))),
        "block rest": domain.remainder(x, block),
        "unit rest": domain.remainder(x, unit),
        "shifted": domain.add(x, domain.subtract(block, unit)),
    }
    derived = ("add", "subtract", "times", "constant", "shifted")
    rests = {name: domain.remainder(terms[name], block) for name in derived}
    columns = {name: domain.divide(terms[name], unit) for name in derived}
    below = {name: domain.less(terms[name], x) for name in derived}
    b, u = sizes[0] * sizes[1], sizes[0]
    for one, other in product(NUMBERS, NUMBERS):
        model = assignment({"x": one, "y": other}, sizes)
        expected = {
            "add": one + other,
            "subtract": one - other,
            "times": one * -3,
            "constant": one - 3,
            "block floor": one // b * b,
            "unit floor": one // u * u,
            "ceiling": -(one // -b),
            "block rest": one % b,
            "unit rest": one % u,
            "shifted": one + b - u,
        }
        assert {name: domain.evaluate(model, term) for name, term in terms.items()} == expected
        for name in derived:
            assert domain.evaluate(model, rests[name]) == expected[name] % b
            assert domain.evaluate(model, columns[name]) == expected[name] // u
            assert evaluate_term(model, below[name]) == (expected[name] < one)
        assert evaluate_term(model, domain.less(x, y)) == (one < other)
        assert evaluate_term(model, domain.equal(x, y)) == (one == other)
        assert evaluate_term(model, domain.less(x, 2)) == (one < 2)


def test_a_size_picked_by_a_condition_still_divides(domain: RadixDomain) -> None:
    x, fine = domain.integer("picked"), domain.boolean("fine")
    size = domain.merge(fine, domain.size("unit"), domain.size("block"))
    floor = domain.multiply(domain.divide(x, size), size)
    for one, choice in product(NUMBERS, (True, False)):
        model = assignment({"picked": one}, (2, 3)) | {"fine": choice}
        step = 2 if choice else 6
        assert domain.evaluate(model, floor) == one // step * step


@pytest.mark.parametrize(
    ("reason", "operation"),
    [
        ("product of two symbolic", lambda d, x, y: d.multiply(x, y)),
        ("not a size", lambda d, x, y: d.divide(x, y)),
        ("not a size", lambda d, x, y: d.remainder(x, 3)),
        ("counted in different sizes", lambda d, x, y: d.add(x, d.divide(y, d.size("block")))),
        ("the constant 17", lambda d, x, y: d.add(x, 17)),
        ("not counted in it", lambda d, x, y: d.multiply(x, d.size("block"))),
        ("already counted", lambda d, x, y: d.divide(d.divide(x, d.size("unit")), d.size("block"))),
    ],
)
def test_what_has_no_linear_form_is_refused(reason: str, operation: object) -> None:
    domain = RadixDomain("unit", "block")
    with pytest.raises(Unsupported, match=reason):
        operation(domain, domain.integer("x"), domain.integer("y"))  # type: ignore[operator]


def test_a_theorem_for_all_sizes_is_decided() -> None:
    """Flooring to the block after flooring to the unit changes nothing: needs unit | block."""
    domain = RadixDomain("unit", "block")
    x, block, unit = domain.integer("x"), domain.size("block"), domain.size("unit")
    floored = domain.multiply(domain.divide(x, unit), unit)
    same = domain.equal(domain.divide(floored, block), domain.divide(x, block))
    strict = domain.less(floored, x)
    side = domain.side_conditions()
    assert solve(smtlib([*side, formula(negation(same))]), 1_000_000).verdict == "unsat"
    answer = solve(smtlib([*side, formula(strict)]), 1_000_000)
    assert answer.verdict == "sat"
    assert domain.evaluate(answer.model, floored) < domain.evaluate(answer.model, x)

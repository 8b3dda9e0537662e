"""Plain integers: z3's own, with Python's floor division and remainder.

Block sizes may be concrete (everything stays linear and is decided) or symbolic (`size`), where the
products and quotients are nonlinear and a solver may have to answer *unknown*.
"""

import random
from typing import cast

import z3

from truehit.proofs.lift.domain import Names, Value
from truehit.proofs.lift.evaluator import Assignment, evaluate_term
from truehit.proofs.lift.unsupported import Unsupported
from truehit.proofs.terms import (
    Bool,
    Int,
    boolean,
    choose,
    equal,
    formula,
    integer,
    less,
)

SAMPLE_RANGES = ((-3, 12), (0, 70), (0, 5000))


class IntegerDomain:
    """Integers as z3 integers; a plain Python int is a constant."""

    def __init__(self) -> None:
        self._names = Names()
        self._sizes: list[z3.ArithRef] = []

    def integer(self, name: str) -> Value:
        """A free integer."""
        self._names.take(name, int)
        return integer(name)

    def size(self, name: str) -> Value:
        """A free integer that is at least one."""
        self._names.take(name, int)
        found = integer(name)
        self._sizes.append(found)
        return found

    def boolean(self, name: str) -> Bool:
        self._names.take(name, bool)
        return boolean(name)

    def holds(self, value: Value) -> bool:
        return isinstance(value, z3.ArithRef) or type(value) is int

    def add(self, left: Value, right: Value) -> Value:
        return self._plain(left) + self._plain(right)

    def subtract(self, left: Value, right: Value) -> Value:
        return self._plain(left) - self._plain(right)

    def multiply(self, left: Value, right: Value) -> Value:
        return self._plain(left) * self._plain(right)

    def divide(self, left: Value, right: Value) -> Value:
        return self._by(self._plain(left), self._plain(right), quotient=True)

    def remainder(self, left: Value, right: Value) -> Value:
        return self._by(self._plain(left), self._plain(right), quotient=False)

    def less(self, left: Value, right: Value) -> Bool:
        return less(self._plain(left), self._plain(right))

    def equal(self, left: Value, right: Value) -> Bool:
        return equal(self._plain(left), self._plain(right))

    def merge(self, condition: Bool, then: Value, otherwise: Value) -> Value:
        return choose(condition, self._plain(then), self._plain(otherwise))

    def side_conditions(self) -> list[z3.BoolRef]:
        return [formula(less(0, size)) for size in self._sizes]

    def evaluate(self, model: "Assignment | z3.ModelRef", value: Value) -> int:
        return int(evaluate_term(model, value))

    def sample(self, generator: random.Random) -> dict[str, int | bool]:
        low, high = generator.choice(SAMPLE_RANGES)
        sizes = {str(size) for size in self._sizes}
        drawn: dict[str, int | bool] = {}
        for name in self._names.of(int):
            drawn[name] = (
                generator.randint(1, 12) if name in sizes else generator.randint(low, high)
            )
        for name in self._names.of(bool):
            drawn[name] = generator.random() < 0.5
        return drawn

    def _plain(self, value: Value) -> Int:
        if not self.holds(value):
            raise Unsupported(f"not an integer of this domain ({type(value).__name__})")
        return cast(Int, value)

    def _by(self, left: Int, right: Int, *, quotient: bool) -> Int:
        """Floor division or remainder, by the sign of the divisor."""
        if isinstance(right, int):
            return _by_constant(left, right, quotient=quotient)
        if right.decl().kind() == z3.Z3_OP_UMINUS:
            # Written `-b`: ceiling division by b, so the sign to expect is b's.
            mirrored = self._by(-left, cast(z3.ArithRef, right.arg(0)), quotient=quotient)
            return mirrored if quotient else -mirrored
        if right.decl().kind() == z3.Z3_OP_ITE:
            # Divisors picked from constants stay linear when the division moves into the branches.
            condition, then, otherwise = right.children()
            return choose(
                cast(z3.BoolRef, condition),
                self._by(left, _folded(then), quotient=quotient),
                self._by(left, _folded(otherwise), quotient=quotient),
            )
        upward = left / right if quotient else left % right
        if any(right.eq(size) for size in self._sizes):
            return cast(Int, upward)
        downward = -left / -right if quotient else -(-left % -right)
        return choose(less(0, right), cast(Int, upward), cast(Int, downward))


def _folded(term: z3.ExprRef) -> Int:
    if z3.is_int_value(term):
        return int(term.as_long())
    return cast(z3.ArithRef, term)


def _by_constant(left: Int, right: int, *, quotient: bool) -> Int:
    if right == 0:
        # Never reached in a defined run: the lifter has recorded "divisor is not zero".
        return 0
    if isinstance(left, int):
        return left // right if quotient else left % right
    if right < 0:
        mirrored = _by_constant(-left, -right, quotient=quotient)
        return mirrored if quotient else -mirrored
    if right == 1:
        return left if quotient else 0
    return cast(Int, left / right if quotient else left % right)

"""Mixed radix: positions as digits, so that one formula speaks of *all* block sizes.

With `hash unit | block` a position is q*block + u*unit + w, with 0 <= w < unit and u below the
units of a block. Sums, comparisons, and quotients and remainders by the unit or the block are
linear in (q, u, w) and the radices, so a solver decides them where native division stays unknown.

The chain may have any length: `RadixDomain("unit", "block")`, `RadixDomain("block")` (unit 1),
`RadixDomain("unit", "align", "block")`. A quotient by the i-th size is counted in that size and may
be multiplied by it again; anything else raises `Unsupported`.
"""

import random
from dataclasses import dataclass
from typing import cast

import z3

from truehit.proofs.lift import cases
from truehit.proofs.lift.domain import Names, Value
from truehit.proofs.lift.evaluator import Assignment, evaluate_term, evaluate_terms
from truehit.proofs.lift.unsupported import Unsupported
from truehit.proofs.terms import (
    Bool,
    Int,
    all_of,
    any_of,
    boolean,
    choose,
    equal,
    formula,
    integer,
    less,
)

MOST_CONSTANT = 16
SAMPLE_TOPS = (3, 40, 900)


@dataclass(frozen=True, slots=True)
class Digits:
    """A number counted in the size of `level` (0: tokens), lowest digit first, the last unbounded.

    `size` is set when the number is one of the chain's sizes (1 for the first), negative when it is
    the negative of one: only such a number can be divided or multiplied by.
    """

    level: int
    digits: tuple[Int, ...]
    size: int = 0


class RadixDomain:
    """Integers in the mixed radix of a chain of sizes, each dividing the next."""

    def __init__(self, *chain: str) -> None:
        if not chain:
            raise ValueError("a radix domain needs at least one size, for example 'block'")
        self.chain = chain
        self.radices = tuple(integer(f"radix.{name}") for name in chain)
        self._names = Names()
        self._digits: dict[str, int] = {}

    def integer(self, name: str, level: int = 0) -> Value:
        """A free integer, counted in the size of `level`; its value may be negative."""
        self._names.take(name, int)
        count = len(self.chain) + 1 - level
        if count < 1:
            raise ValueError(f"level {level} of {name!r} is above the chain {self.chain}")
        names = [f"{name}.{position}" for position in range(level, level + count)]
        self._digits |= {digit: level + place for place, digit in enumerate(names[:-1])}
        return Digits(level, tuple(integer(digit) for digit in names))

    def size(self, name: str) -> Value:
        """One of the chain's sizes, in tokens."""
        index = self.chain.index(name)
        zero = [cast(Int, 0)] * (len(self.chain) + 1)
        zero[index + 1] = 1
        raised = self._carried(0, zero, 0, 1)
        return Digits(0, raised.digits, index + 1)

    def boolean(self, name: str) -> Bool:
        self._names.take(name, bool)
        return boolean(name)

    def holds(self, value: Value) -> bool:
        return isinstance(value, Digits | cases.Cases) or type(value) is int

    def add(self, left: Value, right: Value) -> Value:
        return cases.combine(self._add, self._join, left, right)

    def subtract(self, left: Value, right: Value) -> Value:
        return cases.combine(self._subtract, self._join, left, right)

    def multiply(self, left: Value, right: Value) -> Value:
        return cases.combine(self._multiply, self._join, left, right)

    def divide(self, left: Value, right: Value) -> Value:
        return cases.combine(self._divide, self._join, left, right)

    def remainder(self, left: Value, right: Value) -> Value:
        return cases.combine(self._remainder, self._join, left, right)

    def less(self, left: Value, right: Value) -> Bool:
        return self._compared(left, right, strict=True)

    def equal(self, left: Value, right: Value) -> Bool:
        return self._compared(left, right, strict=False)

    def merge(self, condition: Bool, then: Value, otherwise: Value) -> Value:
        if isinstance(condition, bool):
            return then if condition else otherwise
        return cases.rejoin(cases.split(condition, then, otherwise), self._join)

    def side_conditions(self) -> list[z3.BoolRef]:
        bounds = [formula(less(0, radix)) for radix in self.radices]
        for name, position in self._digits.items():
            digit = integer(name)
            bounds.append(formula(all_of(less(-1, digit), less(digit, self.radices[position]))))
        return bounds

    def evaluate(self, model: "Assignment | z3.ModelRef", value: Value) -> int:
        if isinstance(value, cases.Cases):
            for guard, leaf in value.leaves:
                if evaluate_term(model, value.under(guard)):
                    return self.evaluate(model, leaf)
            raise ValueError("no case of the value holds under the assignment")
        if not isinstance(value, Digits):
            return int(evaluate_term(model, value))
        below = self.radices[value.level :]
        found = evaluate_terms(model, [*value.digits, *below])
        digits, sizes = found[: len(value.digits)], found[len(value.digits) :]
        total = int(digits[-1])
        for digit, radix in zip(reversed(digits[:-1]), reversed(sizes), strict=True):
            total = total * int(radix) + int(digit)
        return total

    def sample(self, generator: random.Random) -> dict[str, int | bool]:
        sizes = [generator.randint(1, 6) for _ in self.chain]
        drawn: dict[str, int | bool] = {}
        drawn |= {f"radix.{name}": size for name, size in zip(self.chain, sizes, strict=True)}
        limits = {name: sizes[position] for name, position in self._digits.items()}
        top = generator.choice(SAMPLE_TOPS)
        for name in self._names.of(int):
            for position in range(len(self.chain) + 1):
                key = f"{name}.{position}"
                drawn[key] = generator.randrange(limits[key]) if key in limits else 0
            drawn[f"{name}.{len(self.chain)}"] = generator.randint(-2 if top < 9 else 0, top)
        for name in self._names.of(bool):
            drawn[name] = generator.random() < 0.5
        return drawn

    def _carried(self, level: int, raw: list[Int], low: int, high: int) -> Digits:
        """Digits brought into range, each carry known to lie in low..high."""
        digits: list[Int] = []
        carry: Int = 0
        for value, radix in zip(raw[:-1], self.radices[level:], strict=True):
            total = value + carry
            digit, carry = total - low * radix if low else total, low
            for step in range(low + 1, high + 1):
                threshold = step * radix if step else 0
                short = less(total, threshold)
                digit = choose(short, digit, total - threshold if step else total)
                carry = choose(short, carry, step)
            digits.append(digit)
        return Digits(level, (*digits, raw[-1] + carry))

    def _add(self, left: object, right: object) -> object:
        if isinstance(left, int) and isinstance(right, int):
            return left + right
        if isinstance(left, int):
            left, right = right, left
        one = _digits(left)
        if isinstance(right, int):
            if right == 0:
                return one
            step = _small(right)
            raw = [one.digits[0] + step, *one.digits[1:]]
            return self._carried(one.level, raw, min(step, 0), max(step, 0))
        other = _digits(right)
        _same_level(one, other)
        raw = [a + b for a, b in zip(one.digits, other.digits, strict=True)]
        return self._carried(one.level, raw, 0, 1)

    def _subtract(self, left: object, right: object) -> object:
        if isinstance(right, int):
            return self._add(left, -right)
        other = _digits(right)
        if isinstance(left, int):
            return self._add(self._negated(other), left)
        one = _digits(left)
        _same_level(one, other)
        raw = [a - b for a, b in zip(one.digits, other.digits, strict=True)]
        return self._carried(one.level, raw, -1, 0)

    def _negated(self, value: Digits) -> Digits:
        found = self._carried(value.level, [-digit for digit in value.digits], -1, 0)
        return Digits(found.level, found.digits, -value.size)

    def _multiply(self, left: object, right: object) -> object:
        if isinstance(left, int) and isinstance(right, int):
            return left * right
        if isinstance(left, Digits) and left.size:
            left, right = right, left
        if isinstance(right, Digits) and right.size:
            return self._scaled(left, right)
        if isinstance(left, int):
            left, right = right, left
        value = _digits(left)
        if not isinstance(right, int):
            raise Unsupported("a product of two symbolic numbers")
        if right < 0:
            value, right = self._negated(value), -right
        factor = _small(right)
        if factor == 0:
            return 0
        if factor == 1:
            return value
        return self._carried(value.level, [d * factor for d in value.digits], 0, factor - 1)

    def _scaled(self, count: object, size: Digits) -> object:
        """A number counted in a size, times that size: the digits move up."""
        level = abs(size.size)
        if isinstance(count, int):
            if count == 1:
                return size
            if count == -1:
                return self._negated(size)
            zero = Digits(level, (0,) * (len(self.chain) + 1 - level))
            count = self._add(zero, count) if count else zero
        counted = _digits(count)
        if counted.level != level:
            raise Unsupported(f"times {self.chain[level - 1]} of a number not counted in it")
        moved = Digits(0, (0,) * level + counted.digits)
        return self._negated(moved) if size.size < 0 else moved

    def _divide(self, left: object, right: object) -> object:
        if isinstance(left, int) and isinstance(right, int):
            return left // right if right else 0
        if right == 1 and type(right) is int:
            return left
        level = self._divisor(right)
        value = self._tokens(left)
        if level < 0:
            value = self._negated(value)
        return Digits(abs(level), value.digits[abs(level) :])

    def _remainder(self, left: object, right: object) -> object:
        if isinstance(left, int) and isinstance(right, int):
            return left % right if right else 0
        if right == 1 and type(right) is int:
            return 0
        level = self._divisor(right)
        value = self._tokens(left)
        if level < 0:
            raise Unsupported("a remainder by a negative size")
        kept = value.digits[:level] + (0,) * (len(self.chain) + 1 - level)
        return Digits(0, kept)

    def _divisor(self, value: object) -> int:
        if not isinstance(value, Digits) or not value.size:
            raise Unsupported(f"division by a number that is not a size of {self.chain}")
        return value.size

    def _tokens(self, value: object) -> Digits:
        if isinstance(value, int):
            value = self._add(Digits(0, (0,) * (len(self.chain) + 1)), value)
        found = _digits(value)
        if found.level:
            raise Unsupported(
                f"division of a number already counted in {self.chain[found.level - 1]}"
            )
        return found

    def _compared(self, left: Value, right: Value, *, strict: bool) -> Bool:
        operation = self._below if strict else self._same
        compared = cases.combine(operation, _join_truth, left, right)
        if isinstance(compared, cases.Cases):
            found = compared.leaves
            return any_of(*(all_of(compared.under(g), cast(Bool, leaf)) for g, leaf in found))
        return cast(Bool, compared)

    def _aligned(self, left: object, right: object) -> tuple[tuple[Int, ...], tuple[Int, ...]]:
        if isinstance(left, int) and isinstance(right, int):
            return (left,), (right,)
        if isinstance(left, int):
            other, one = self._aligned(right, left)
            return one, other
        one_digits = _digits(left)
        if isinstance(right, int):
            zero = Digits(one_digits.level, (0,) * len(one_digits.digits))
            right = self._add(zero, right) if right else zero
        other_digits = _digits(right)
        _same_level(one_digits, other_digits)
        return one_digits.digits, other_digits.digits

    def _below(self, left: object, right: object) -> object:
        found: Bool = False
        for one, other in zip(*self._aligned(left, right), strict=True):
            found = any_of(less(one, other), all_of(equal(one, other), found))
        return found

    def _same(self, left: object, right: object) -> object:
        pairs = zip(*self._aligned(left, right), strict=True)
        return all_of(*(equal(one, other) for one, other in pairs))

    def _join(self, condition: Bool, then: object, otherwise: object) -> object | None:
        """One number from two cases, or nothing where they must stay apart."""
        if isinstance(then, int) and isinstance(otherwise, int):
            return then if then == otherwise else None
        known = then if isinstance(then, Digits) else otherwise
        if not isinstance(known, Digits):
            return None
        if then is otherwise:
            return then
        sides: list[Digits] = []
        for side in (then, otherwise):
            if isinstance(side, int):
                if abs(side) > MOST_CONSTANT:
                    return None
                zero = Digits(known.level, (0,) * len(known.digits))
                side = self._add(zero, side) if side else zero
            found = _digits(side)
            if found.size or found.level != known.level:
                return None
            sides.append(found)
        pairs = zip(sides[0].digits, sides[1].digits, strict=True)
        return Digits(known.level, tuple(choose(condition, one, other) for one, other in pairs))


def _join_truth(condition: Bool, then: object, otherwise: object) -> object | None:
    return None


def _digits(value: object) -> Digits:
    if not isinstance(value, Digits):
        raise Unsupported(f"not an integer of this domain ({type(value).__name__})")
    return value


def _same_level(left: Digits, right: Digits) -> None:
    if left.level != right.level:
        raise Unsupported("numbers counted in different sizes")


def _small(constant: int) -> int:
    if abs(constant) > MOST_CONSTANT:
        raise Unsupported(f"the constant {constant}; at most {MOST_CONSTANT} in mixed radix")
    return constant

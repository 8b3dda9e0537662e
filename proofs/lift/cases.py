"""Values kept apart by the condition they hold under, until an operation can treat them alike.

`unit if fine else block` is a divisor in either case but not one number in mixed radix. Keeping the
two apart, each under its literals, lets the later division happen in each case and rejoin after.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import cast

import z3

from truehit.proofs.lift.unsupported import Unsupported
from truehit.proofs.terms import Bool, all_of, negation

MOST_CASES = 32

Guard = frozenset[tuple[int, bool]]
"""Literals, each a condition's identity in `Cases.conditions` and its polarity."""


@dataclass(frozen=True, slots=True)
class Cases:
    """Exactly one of `leaves` holds: the one whose guard's literals are all true."""

    leaves: tuple[tuple[Guard, object], ...]
    conditions: tuple[z3.BoolRef, ...]

    def under(self, guard: Guard) -> Bool:
        """The guard as a condition."""
        by_id = {condition.get_id(): condition for condition in self.conditions}
        literals = [by_id[key] if sign else negation(by_id[key]) for key, sign in sorted(guard)]
        return all_of(*literals)


def leaves(value: object) -> Cases:
    """Any value as cases; a plain value is one case without literals."""
    if isinstance(value, Cases):
        return value
    return Cases(((frozenset(), value),), ())


def split(condition: z3.BoolRef, then: object, otherwise: object) -> Cases:
    """`then` where condition, else `otherwise`, kept apart."""
    sign = not z3.is_not(condition)
    atom = condition if sign else cast(z3.BoolRef, condition.arg(0))
    yes, no = leaves(then), leaves(otherwise)
    key = atom.get_id()
    kept: list[tuple[Guard, object]] = []
    for side, polarity in ((yes, sign), (no, not sign)):
        for guard, leaf in side.leaves:
            if (key, not polarity) not in guard:
                kept.append((guard | {(key, polarity)}, leaf))
    return _bounded(kept, (atom, *yes.conditions, *no.conditions))


def combine(
    operation: Callable[[object, object], object],
    join: Callable[[Bool, object, object], object | None],
    left: object,
    right: object,
) -> object:
    """The operation in every consistent pair of cases, rejoined where `join` knows how."""
    first, second = leaves(left), leaves(right)
    kept: list[tuple[Guard, object]] = []
    for (guard, one), (other_guard, other) in product(first.leaves, second.leaves):
        both = guard | other_guard
        if not any((key, not sign) in both for key, sign in both):
            kept.append((both, operation(one, other)))
    return rejoin(_bounded(kept, first.conditions + second.conditions), join)


def rejoin(cases: Cases, join: Callable[[Bool, object, object], object | None]) -> object:
    """Merge the pairs of cases that differ in one literal's sign and that `join` can merge."""
    by_id = {condition.get_id(): condition for condition in cases.conditions}
    pending = list(cases.leaves)
    done = False
    while not done:
        done = True
        for first in range(len(pending)):
            for second in range(first + 1, len(pending)):
                merged = _merged(pending[first], pending[second], by_id, join)
                if merged is not None:
                    pending[first] = merged
                    del pending[second]
                    done = False
                    break
            if not done:
                break
    if len(pending) == 1 and not pending[0][0]:
        return pending[0][1]
    return Cases(tuple(pending), cases.conditions)


def _merged(
    one: tuple[Guard, object],
    other: tuple[Guard, object],
    by_id: dict[int, z3.BoolRef],
    join: Callable[[Bool, object, object], object | None],
) -> tuple[Guard, object] | None:
    difference = one[0] ^ other[0]
    if len(difference) != 2 or len({key for key, _ in difference}) != 1:
        return None
    (key, sign) = next(iter(one[0] - other[0]))
    then, otherwise = (one[1], other[1]) if sign else (other[1], one[1])
    found = join(by_id[key], then, otherwise)
    return None if found is None else (one[0] & other[0], found)


def _bounded(kept: list[tuple[Guard, object]], conditions: tuple[z3.BoolRef, ...]) -> Cases:
    if len(kept) > MOST_CASES:
        raise Unsupported(f"{len(kept)} separate cases, {MOST_CASES} is the most kept apart")
    unique = {condition.get_id(): condition for condition in conditions}
    return Cases(tuple(kept), tuple(unique.values()))

"""Terms that fold: z3 connectives that stay plain Python as long as their arguments are.

A lifted rule mixes constants with symbols. Folding the constants here keeps the formulas small and
their text independent of how the rule was written down, which the record of a proof relies on.
"""

from typing import TypeAlias, cast

import z3

Bool: TypeAlias = "bool | z3.BoolRef"
Int: TypeAlias = "int | z3.ArithRef"


def integer(name: str) -> z3.ArithRef:
    """A free integer."""
    return cast(z3.ArithRef, z3.Int(name))


def boolean(name: str) -> z3.BoolRef:
    """A free truth value."""
    return cast(z3.BoolRef, z3.Bool(name))


def formula(condition: Bool) -> z3.BoolRef:
    """The condition as a z3 formula, constants included."""
    return z3.BoolVal(condition) if isinstance(condition, bool) else condition


def negation(condition: Bool) -> Bool:
    """Not `condition`; a double negation vanishes."""
    if isinstance(condition, bool):
        return not condition
    return cast(z3.BoolRef, condition.arg(0) if z3.is_not(condition) else z3.Not(condition))


def all_of(*conditions: Bool) -> Bool:
    """The conjunction; true when empty."""
    kept = [condition for condition in conditions if condition is not True]
    if any(condition is False for condition in kept):
        return False
    if not kept:
        return True
    return kept[0] if len(kept) == 1 else cast(z3.BoolRef, z3.And(*kept))


def any_of(*conditions: Bool) -> Bool:
    """The disjunction; false when empty."""
    kept = [condition for condition in conditions if condition is not False]
    if any(condition is True for condition in kept):
        return True
    if not kept:
        return False
    return kept[0] if len(kept) == 1 else cast(z3.BoolRef, z3.Or(*kept))


def implies(premise: Bool, goal: Bool) -> Bool:
    """Goal wherever premise."""
    if premise is True or goal is True:
        return goal
    if premise is False:
        return True
    if goal is False:
        return negation(premise)
    return cast(z3.BoolRef, z3.Implies(premise, goal))


def same_truth(left: Bool, right: Bool) -> Bool:
    """Both or neither."""
    if isinstance(left, bool):
        return right if left else negation(right)
    if isinstance(right, bool):
        return left if right else negation(left)
    return True if left.eq(right) else cast(z3.BoolRef, left == right)


def choose(condition: Bool, then: Int, otherwise: Int) -> Int:
    """`then` where condition, else `otherwise`."""
    if isinstance(condition, bool):
        return then if condition else otherwise
    if identical(then, otherwise):
        return then
    return cast(z3.ArithRef, z3.If(condition, then, otherwise))


def choose_truth(condition: Bool, then: Bool, otherwise: Bool) -> Bool:
    """The truth-valued `choose`."""
    if isinstance(condition, bool):
        return then if condition else otherwise
    if isinstance(then, bool) and isinstance(otherwise, bool):
        if then == otherwise:
            return then
        return condition if then else negation(condition)
    if isinstance(then, bool):
        return any_of(condition, otherwise) if then else all_of(negation(condition), otherwise)
    if isinstance(otherwise, bool):
        return any_of(negation(condition), then) if otherwise else all_of(condition, then)
    return then if then.eq(otherwise) else cast(z3.BoolRef, z3.If(condition, then, otherwise))


def identical(left: Int, right: Int) -> bool:
    """The same term, by structure."""
    if isinstance(left, int) or isinstance(right, int):
        return isinstance(left, int) and isinstance(right, int) and left == right
    return bool(left.eq(right))


def less(left: Int, right: Int) -> Bool:
    """`left` below `right`."""
    return left < right


def equal(left: Int, right: Int) -> Bool:
    """The same number."""
    return True if identical(left, right) else left == right

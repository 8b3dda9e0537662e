"""What a lifter asks of numbers: Python's integer arithmetic, exactly or not at all.

A domain creates the symbolic inputs, owns their side conditions, and turns a solver's answer back
into Python integers. An operation a domain cannot express raises `Unsupported`.
"""

import random
from typing import Protocol, TypeAlias

import z3

from truehit.proofs.lift.evaluator import Assignment as Assignment
from truehit.proofs.terms import Bool

Value: TypeAlias = object
"""A domain's own integer, or a plain Python int."""


class Domain(Protocol):
    """Integers of one encoding. Division and remainder are Python's: towards minus infinity."""

    def integer(self, name: str) -> Value: ...

    def boolean(self, name: str) -> Bool: ...

    def add(self, left: Value, right: Value) -> Value: ...

    def subtract(self, left: Value, right: Value) -> Value: ...

    def multiply(self, left: Value, right: Value) -> Value: ...

    def divide(self, left: Value, right: Value) -> Value: ...

    def remainder(self, left: Value, right: Value) -> Value: ...

    def less(self, left: Value, right: Value) -> Bool: ...

    def equal(self, left: Value, right: Value) -> Bool: ...

    def merge(self, condition: Bool, then: Value, otherwise: Value) -> Value: ...

    def holds(self, value: Value) -> bool:
        """Whether `value` is an integer of this domain."""
        ...

    def side_conditions(self) -> list[z3.BoolRef]: ...

    def evaluate(self, model: "Assignment | z3.ModelRef", value: Value) -> int: ...

    def sample(self, generator: random.Random) -> dict[str, int | bool]:
        """A random assignment that satisfies the side conditions."""
        ...


class Names:
    """Hands out each input name once, so that two inputs are never one by accident."""

    def __init__(self) -> None:
        self._taken: dict[str, type] = {}

    def take(self, name: str, sort: type) -> None:
        """Reserve a name.

        Raises:
            ValueError: the name is taken; bind the second input to the first one's value.
        """
        if name in self._taken:
            raise ValueError(f"input {name!r} exists in this domain: bind it to its value instead")
        self._taken[name] = sort

    def of(self, sort: type) -> list[str]:
        """The names of one sort, in order of creation."""
        return [name for name, kind in self._taken.items() if kind is sort]

"""Does a lifted function say what CPython does? Thousands of random inputs, results and refusals.

A run that CPython completes must satisfy the definedness conditions and give the lifted result; a
run that raises must violate one.
"""

import dataclasses
import inspect
import random
import typing
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace

import z3

from truehit.proofs.lift.concrete import Extracted, Inputs, nested
from truehit.proofs.lift.domain import Domain, Value
from truehit.proofs.lift.evaluator import Assignment, evaluate_term
from truehit.proofs.lift.lifted import Lifted
from truehit.proofs.lift.values import Maybe
from truehit.proofs.terms import all_of, formula

RAISED = (AssertionError, ZeroDivisionError, TypeError, ValueError)


@dataclass(frozen=True, slots=True)
class Mismatch:
    """Inputs on which the lifted function and CPython differ; None for a run that raises."""

    inputs: Inputs
    lifted: object
    python: object


@dataclass(frozen=True, slots=True)
class Agreement:
    """How many samples were compared, how many of them were defined, and where they differ."""

    samples: int
    defined: int
    mismatches: tuple[Mismatch, ...]


def agreement(
    lifted: Lifted,
    python_callable: Callable[..., object] | Extracted,
    samples: int = 2000,
    seed: int = 0,
) -> Agreement:
    """Compare a lifted function with the Python one on random inputs of its domain."""
    generator = random.Random(seed)
    run = python_callable.run if isinstance(python_callable, Extracted) else runner(python_callable)
    condition = formula(all_of(*(item.condition for item in lifted.defined)))
    mismatches: list[Mismatch] = []
    defined = 0
    for _ in range(samples):
        model = lifted.domain.sample(generator)
        inputs = concrete_inputs(lifted, model)
        holds = bool(evaluate_term(model, condition))
        expected = (concrete(lifted.domain, model, lifted.result),) if holds else None
        try:
            found: tuple[object] | None = (run(inputs),)
        except RAISED:
            found = None
        defined += holds
        if expected != found:
            mismatches.append(Mismatch(inputs, expected, found))
    return Agreement(samples, defined, tuple(mismatches))


def concrete_inputs(lifted: Lifted, model: "Assignment | z3.ModelRef") -> dict[str, object]:
    """The Python value of every input under an assignment."""
    values = {path: concrete(lifted.domain, model, v) for path, v in lifted.inputs.items()}
    return values | lifted.constants


def concrete(domain: Domain, model: "Assignment | z3.ModelRef", value: Value) -> object:
    """The Python value of a lifted one under an assignment."""
    match value:
        case bool() | z3.BoolRef():
            return bool(evaluate_term(model, value))
        case None:
            return None
        case Maybe(absent, inner):
            return None if evaluate_term(model, absent) else concrete(domain, model, inner)
        case tuple():
            return tuple(concrete(domain, model, item) for item in value)
    return domain.evaluate(model, value)


def runner(function: Callable[..., object]) -> Callable[[Inputs], object]:
    """A function of data classes as a function of dotted inputs.

    Instances are made without their constructor: a rule is lifted for all field values, also those
    a constructor would refuse.
    """
    hints = typing.get_type_hints(function)
    parameters = list(inspect.signature(function).parameters)

    def make(path: str) -> object:
        kind: object = hints.get(path.split(".")[0])
        for name in path.split(".")[1:]:
            kind = typing.get_type_hints(kind).get(name) if isinstance(kind, type) else None
        if isinstance(kind, type) and dataclasses.is_dataclass(kind):
            return object.__new__(kind)
        return SimpleNamespace()

    def run(inputs: Inputs) -> object:
        roots = nested(inputs, make)
        return function(*(roots[name] if name in roots else make(name) for name in parameters))

    return run

"""An obligation run by CPython on concrete inputs: is the premise true, and is the goal false?"""

import dataclasses
import typing
from collections.abc import Mapping
from dataclasses import dataclass

from truehit.proofs.obligations.names import hints
from truehit.proofs.obligations.obligation import Function, Obligation, Step
from truehit.reference.ruleset import RuleSet

Values = dict[str, int | bool]
RAISED = (AssertionError, ZeroDivisionError, TypeError, ValueError)


@dataclass(frozen=True, slots=True)
class Replay:
    """What happened. `values`: inputs and results; a run that raised has no goal."""

    premise: bool
    goal: bool
    values: Mapping[str, int | bool]

    @property
    def refutes(self) -> bool:
        """Premise true and goal false."""
        return self.premise and not self.goal


def replay(
    obligation: Obligation,
    steps: tuple[Step, ...],
    rules: RuleSet,
    inputs: Mapping[str, int | bool],
    goal: tuple[Function, ...],
) -> Replay:
    """Run it. Results that are given among the inputs are not computed (the havoc control)."""
    values: Values = dict(inputs)
    try:
        for step in steps:
            if step.results[0] not in values:
                run_step(step, rules, values)
    except RAISED:
        return Replay(_holds(obligation.premise, rules, values), False, values)
    premise = _holds(obligation.premise, rules, values)
    return Replay(premise, _holds(goal, rules, values), values)


def run_step(step: Step, rules: RuleSet, values: Values) -> None:
    """Compute the results of a step into `values`."""
    found = call(step.function, rules, values, step.rename)
    parts = found if isinstance(found, tuple) else (found,)
    for name, part in zip(step.results, parts, strict=True):
        values[name] = typing.cast(int, part)


def call(
    function: Function,
    rules: RuleSet,
    values: Mapping[str, int | bool],
    rename: Mapping[str, str],
) -> object:
    """Call a function with its parameters and fields taken by name."""
    arguments: list[object] = []
    for name, kind in hints(function):
        if kind is RuleSet:
            arguments.append(rules)
        elif dataclasses.is_dataclass(kind):
            fields = [f.name for f in dataclasses.fields(kind)]
            # A field that no lifted path reads has no value of its own: any will do.
            given = {f: values.get(rename.get(f, f), 0) for f in fields}
            arguments.append(kind(**given))
        else:
            arguments.append(values.get(rename.get(name, name), 0))
    return function(*arguments)


def _holds(functions: tuple[Function, ...], rules: RuleSet, values: Values) -> bool:
    try:
        return all(call(function, rules, values, {}) for function in functions)
    except RAISED:
        return False

"""Do the readings of a rule agree? Executed by CPython, lifted, and judged by the laws' predicates.

For every rule and every case of its small scope: the lifted term has CPython's value, and the
predicate that is the rule's goal, lifted and executed, says the same of it.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from truehit.proofs.lift import IntegerDomain, lift_function
from truehit.proofs.lift.evaluator import evaluate_terms
from truehit.proofs.readings import READINGS

Case = dict[str, int | bool]
AGREEMENTS: tuple[str, ...] = tuple(reading.name for reading in READINGS)


@dataclass(frozen=True, slots=True)
class Agreed:
    """How many cases agreed, and the first that did not."""

    name: str
    cases: int
    differences: int
    first: str | None
    bound: str


def _flat(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Case:
    """Arguments by the names the lifter gives them, and query fields by their own names too."""
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    flat: Case = {}
    for name, argument in zip(names, arguments, strict=True):
        if isinstance(argument, int):
            flat[name] = argument
        else:
            for field, value in asdict(argument).items():
                flat[f"{name}.{field}"] = flat[field] = value
    return flat


class _LiftedFunction:
    """A lifted function called with plain numbers."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._lifted = lift_function(function, IntegerDomain())
        self._names = {path: str(value) for path, value in self._lifted.inputs.items()}

    def __call__(self, case: Case) -> int | bool:
        assignment = {name: case[path] for path, name in self._names.items()}
        return evaluate_terms(assignment, [self._lifted.result])[0]


def _goal_arguments(goal: Callable[..., bool], case: Case) -> Case:
    names = goal.__code__.co_varnames[: goal.__code__.co_argcount]
    return {name: case[name] for name in names}


def agree(name: str) -> Agreed:
    """Compare the readings of one rule on its small scope and on a sample of the next larger
    one."""
    reading = {r.name: r for r in READINGS}[name]
    lifted = _LiftedFunction(reading.function)
    goals = [(goal, _LiftedFunction(goal)) for goal in reading.goals]
    cases = differences = 0
    first: str | None = None
    for source in (reading.cases, reading.neighbours):
        for arguments in source():
            cases += 1
            case = _flat(reading.function, arguments)
            executed = reading.function(*arguments)
            same = lifted(case) == executed
            judged = case | {reading.result: executed}
            for goal, lifted_goal in goals:
                given = _goal_arguments(goal, judged)
                same = same and goal(**given) == bool(lifted_goal(given))
            if not same:
                differences += 1
                first = first or f"{reading.name}{arguments}"
    return Agreed(reading.name, cases, differences, first, reading.bound)

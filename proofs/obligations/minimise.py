"""The smallest inputs on which a wrong rule fails: sizes first, then the sum of all numbers.

Sizes are tried from small to large as concrete numbers, where everything is linear and quick; the
sum is then brought down by bisection. What is found is replayed by CPython like any other model.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product

import z3

from truehit.proofs.obligations.ask import RLIMIT, run
from truehit.proofs.obligations.obligation import Control, Encoding, Obligation
from truehit.proofs.obligations.question import Question, pose
from truehit.proofs.solve import solve
from truehit.proofs.terms import Bool, all_of, negation

MOST_FACTOR = 4
"""Each size is at most four times the one it contains: every historic defect shows within two."""


@dataclass(frozen=True, slots=True)
class Refutation:
    """A wrong rule on its smallest inputs. `values`: the inputs and what was computed from them."""

    rule_set: str
    obligation: str
    law: str
    inputs: Mapping[str, int | bool]
    values: Mapping[str, int | bool]
    solver_seconds: float


def smallest(obligation: Obligation, wrong: Control) -> Refutation | None:
    """The smallest refutation in the control's own encoding, or None if there is none."""
    encoding = wrong.encoding or obligation.encodings[0]
    seconds = 0.0
    for concrete in concretised(encoding):
        question = pose(obligation, concrete, obligation.steps_of(wrong), wrong.rules)
        found, spent = _least(question)
        seconds += spent
        if found is None:
            continue
        ran = run(obligation, wrong, found)
        if ran.refutes:
            name = wrong.rules.name if wrong.rules.name != "default" else wrong.name
            return Refutation(name, obligation.name, obligation.law, found, ran.values, seconds)
    return None


def concretised(encoding: Encoding) -> Iterator[Encoding]:
    """The encoding with concrete sizes, the smallest first; itself if its sizes are concrete."""
    if not encoding.chain:
        yield encoding
        return
    choices = product(range(1, MOST_FACTOR + 1), repeat=len(encoding.chain))
    for factors in sorted(choices, key=lambda f: (_sizes(f)[-1], sum(_sizes(f)), f)):
        sizes = dict(zip(encoding.chain, _sizes(factors), strict=True))
        aliases = {name: sizes[member] for name, member in encoding.sizes.items()}
        yield Encoding(f"{encoding.words}: {sizes}", fixed=sizes | aliases | dict(encoding.fixed))


def _sizes(factors: tuple[int, ...]) -> list[int]:
    sizes: list[int] = []
    for factor in factors:
        sizes.append(factor * (sizes[-1] if sizes else 1))
    return sizes


def _least(question: Question) -> tuple[dict[str, int | bool] | None, float]:
    """Inputs that violate the goal with the least sum, all of them at least 0; and solver time."""
    free = [value for value in question.inputs.values() if isinstance(value, z3.ArithRef)]
    flags = [value for value in question.inputs.values() if isinstance(value, z3.BoolRef)]
    total = z3.Sum([*free, *(z3.If(flag, 1, 0) for flag in flags), z3.IntVal(0)])
    failing: Bool = all_of(
        question.premise, negation(question.goal), *(value >= 0 for value in free)
    )
    best, spent = _asked(question, failing)
    if best is None:
        return None, spent
    low, high = 0, _sum(question, best)
    while low < high:
        middle = (low + high) // 2
        smaller, seconds = _asked(question, all_of(failing, total <= middle))
        spent += seconds
        if smaller is None:
            low = middle + 1
        else:
            best, high = smaller, _sum(question, smaller)
    return best, spent


def _asked(question: Question, condition: Bool) -> tuple[dict[str, int | bool] | None, float]:
    answer = solve(question.text(condition), RLIMIT)
    found = question.concrete(answer.model) if answer.verdict == "sat" else None
    return found, answer.seconds


def _sum(question: Question, inputs: Mapping[str, int | bool]) -> int:
    free = (name for name, value in question.inputs.items() if isinstance(value, z3.ExprRef))
    return sum(int(inputs[name]) for name in free)

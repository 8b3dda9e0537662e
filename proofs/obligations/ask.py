"""Ask a solver about an obligation, its controls, its cover points and its havoc control.

A model counts only when CPython agrees: *refuted* is premise true and goal false on concrete
inputs; a model that does not replay is a *model finding*.
"""

from dataclasses import dataclass

from truehit.proofs.lift.lifted import Provenance
from truehit.proofs.obligations.obligation import Control, Cover, Encoding, Obligation
from truehit.proofs.obligations.question import Question, pose
from truehit.proofs.obligations.replay import Replay, replay
from truehit.proofs.solve import Answer, solve

RLIMIT = 100_000_000
"""Several times what the largest question needs; a count, so no machine is too slow for it."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One answered question. `inputs` is empty unless the answer is a model."""

    verdict: str
    text: str
    answer: Answer
    inputs: dict[str, int | bool]
    lifted: tuple[Provenance, ...]


def texts(obligation: Obligation) -> list[str]:
    """The SMT-LIB texts whose unsatisfiability proves the obligation."""
    return [pose(obligation, e, obligation.steps).violation() for e in obligation.encodings]


def prove(obligation: Obligation, encoding: Encoding) -> Finding:
    """Does our rule satisfy the goal for all inputs of the encoding?"""
    question = pose(obligation, encoding, obligation.steps)
    return refute(obligation, question, Control("ours"))


def control(obligation: Obligation, wrong: Control) -> Finding:
    """A wrong rule must be refuted."""
    encoding = wrong.encoding or obligation.encodings[0]
    question = pose(obligation, encoding, obligation.steps_of(wrong), wrong.rules)
    return refute(obligation, question, wrong)


def havoc(obligation: Obligation) -> Finding:
    """The rule's result left open must be refuted: the goal says something about it."""
    freed = obligation.subject
    question = pose(obligation, obligation.encodings[0], obligation.steps, freed=freed)
    return refute(obligation, question, Control("havoc"))


def refute(obligation: Obligation, question: Question, wrong: Control) -> Finding:
    """Look for premise true and goal false, and replay what is found."""
    text = question.violation()
    answer = solve(text, RLIMIT)
    if answer.verdict != "sat":
        verdict = "proved" if answer.verdict == "unsat" else "unknown"
        return Finding(verdict, text, answer, {}, question.lifted)
    inputs = question.concrete(answer.model)
    ran = run(obligation, wrong, inputs)
    verdict = "refuted" if ran.refutes else "model finding"
    return Finding(verdict, text, answer, inputs, question.lifted)


def run(obligation: Obligation, wrong: Control, inputs: dict[str, int | bool]) -> Replay:
    """An obligation with a wrong rule on concrete inputs, by CPython."""
    return replay(obligation, obligation.steps_of(wrong), wrong.rules, inputs, obligation.goal)


def cover(obligation: Obligation, wanted: Cover) -> Finding:
    """An interesting case must be possible, under the premise and our own rule."""
    encoding = wanted.encoding or obligation.encodings[0]
    question = pose(obligation, encoding, obligation.steps, goal=(wanted.case,))
    text = question.case()
    answer = solve(text, RLIMIT)
    if answer.verdict != "sat":
        verdict = "impossible" if answer.verdict == "unsat" else "unknown"
        return Finding(verdict, text, answer, {}, question.lifted)
    inputs = question.concrete(answer.model)
    ours = Control("ours")
    steps = obligation.steps_of(ours)
    ran = replay(obligation, steps, ours.rules, inputs, (*obligation.goal, wanted.case))
    verdict = "satisfied" if ran.premise and ran.goal else "model finding"
    return Finding(verdict, text, answer, inputs, question.lifted)

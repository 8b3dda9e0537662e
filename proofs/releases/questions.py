"""The questions put to a solver about one release: premise and not goal, as SMT-LIB text."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import z3

from truehit.proofs.lift import Value, lift_function
from truehit.proofs.releases import goals
from truehit.proofs.releases.chunk import Chunk
from truehit.proofs.releases.scope import Scope
from truehit.proofs.releases.subject import Reading, Subject
from truehit.proofs.solve import smtlib
from truehit.proofs.terms import Bool, all_of, formula, negation

GOALS: Mapping[str, Callable[[Chunk], bool]] = {
    "range": goals.in_range,
    "endalign": goals.end_aligned,
    "midblock": goals.in_block_or_exported,
    "midblock_strict": goals.in_block,
    "oneboundary": goals.one_boundary,
    "progress": goals.progresses,
}
DEFINED = "defined"
OBLIGATIONS = (*GOALS, DEFINED)


@dataclass(frozen=True, slots=True)
class Question:
    """One obligation in one scope; the text is satisfiable exactly if it is violated."""

    obligation: str
    scope: Scope
    text: str
    reading: Reading


def premise(reading: Reading) -> Bool:
    """The premise over the reading's symbols."""
    return _predicate(goals.premise, reading)


def violation(reading: Reading, obligation: str) -> Bool:
    """The negated goal over the reading's symbols."""
    if obligation == DEFINED:
        return negation(all_of(*(item.condition for item in reading.defined)))
    return negation(_predicate(GOALS[obligation], reading))


def questions(subject: Subject, scope: Scope) -> list[Question]:
    """All obligations of a release in one scope.

    Raises:
        Unsupported: the release leaves the liftable fragment.
    """
    reading = subject.read(scope)
    return [Question(name, scope, violation_text(reading, name), reading) for name in OBLIGATIONS]


def violation_text(reading: Reading, obligation: str) -> str:
    """Satisfiable exactly if some chunk meets the premise and violates the obligation."""
    given = [*reading.domain.side_conditions(), formula(premise(reading))]
    return smtlib([*given, formula(violation(reading, obligation))])


def cover_text(question: Question) -> str:
    """The premise alone: where it cannot be met, a proof would say nothing."""
    reading = question.reading
    return smtlib([*reading.domain.side_conditions(), formula(premise(reading))])


def cheaper_text(question: Question, cost: int) -> str:
    """The question at concrete sizes, for an example that costs less."""
    reading = question.reading
    price = lift_function(goals.cost, reading.domain, _bind(reading)).result
    given = [*reading.domain.side_conditions(), formula(premise(reading))]
    below = formula(reading.domain.less(price, cost))
    return smtlib([*given, formula(violation(reading, question.obligation)), below])


def _predicate(function: Callable[[Chunk], bool], reading: Reading) -> Bool:
    found = lift_function(function, reading.domain, _bind(reading)).result
    assert isinstance(found, bool | z3.BoolRef)
    return found


def _bind(reading: Reading) -> dict[str, Value]:
    return {f"q.{word}": value for word, value in reading.words.items()}

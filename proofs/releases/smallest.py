"""The smallest example of a refutation: first the sizes, then features and tokens.

CPython makes an example smaller step by step, then the solver is asked for any cheaper one, until
it says there is none. At all sizes at once a cost in tokens is not linear, so the sizes are tried
in a reader's order and the first that breaks the goal is taken.
"""

from collections.abc import Mapping

from truehit.proofs.lift.evaluator import Assignment
from truehit.proofs.releases.polish import cost, polish
from truehit.proofs.releases.questions import Question, cheaper_text, violation_text
from truehit.proofs.releases.replay import Example, inputs_of, replay
from truehit.proofs.releases.scope import AllSizes, Sizes, small_geometries
from truehit.proofs.releases.subject import Reading, Subject
from truehit.proofs.solve import solve

RLIMIT = 5_000_000
"""Fifty times what any geometry of the seven known releases needed."""
CHEAPER_RLIMIT = 500_000
"""Past it an example may stay a little larger than it has to."""
MOST_ROUNDS = 8


class Readings:
    """The liftings of one release by geometry, made once each."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self._made: dict[Sizes, Reading] = {}

    def at(self, sizes: Sizes) -> Reading:
        """The reading at concrete sizes."""
        if sizes not in self._made:
            self._made[sizes] = self._subject.read(sizes)
        return self._made[sizes]


def smallest(
    subject: Subject, question: Question, found: Assignment, readings: Readings
) -> tuple[Example | None, bool]:
    """The smallest violation that CPython confirms, and whether it is known to be the smallest.

    `found` is the solver's model of the question itself.
    """
    if isinstance(question.scope, AllSizes):
        for sizes in small_geometries():
            reading = readings.at(sizes)
            text = violation_text(reading, question.obligation)
            answer = solve(text, RLIMIT)
            if answer.verdict == "sat":
                there = Question(question.obligation, sizes, text, reading)
                return _shrunk(subject, there, inputs_of(reading, answer.model))
    return _shrunk(subject, question, inputs_of(question.reading, found))


def _shrunk(
    subject: Subject, question: Question, inputs: Mapping[str, object]
) -> tuple[Example | None, bool]:
    example: Example | None = None
    for _ in range(MOST_ROUNDS):
        confirmed = replay(subject, question.obligation, inputs)
        if confirmed is None:
            return example, False
        inputs = polish(subject, question.obligation, inputs)
        example = replay(subject, question.obligation, inputs)
        if isinstance(question.scope, AllSizes):
            return example, False
        answer = solve(cheaper_text(question, cost(inputs)), CHEAPER_RLIMIT)
        if answer.verdict != "sat":
            return example, answer.verdict == "unsat"
        inputs = inputs_of(question.reading, answer.model)
    return example, False

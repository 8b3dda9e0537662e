"""The concrete reading: does this question, run by CPython on the source text, break the goal?"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from truehit.proofs.lift.agreement import RAISED, concrete
from truehit.proofs.lift.evaluator import Assignment
from truehit.proofs.releases import goals
from truehit.proofs.releases.chunk import SIZES, Chunk
from truehit.proofs.releases.questions import DEFINED, GOALS
from truehit.proofs.releases.subject import Reading, Subject, completed


@dataclass(frozen=True, slots=True)
class Example:
    """A violation seen in CPython: the question and the splitter's answer (None: it raised)."""

    inputs: dict[str, int]
    scheduled: int | None


def replay(subject: Subject, obligation: str, inputs: Mapping[str, object]) -> Example | None:
    """Run one question; the violation, or nothing where premise fails or the goal holds."""
    return violations(subject, (obligation,), inputs).get(obligation)


def violations(
    subject: Subject, obligations: Iterable[str], inputs: Mapping[str, object]
) -> dict[str, Example]:
    """Run one question; the violation of every obligation that its answer breaks."""
    asked = Chunk(**completed(inputs), scheduled=0, exported=False)  # type: ignore[arg-type]
    if not goals.premise(asked):
        return {}
    try:
        answered = subject.run(inputs)
    except RAISED:
        return {DEFINED: Example(shown(inputs), None)} if DEFINED in obligations else {}
    example = Example(shown(inputs), answered.scheduled)
    return {o: example for o in obligations if o != DEFINED and not GOALS[o](answered)}


def inputs_of(reading: Reading, model: Assignment) -> dict[str, object]:
    """A solver's model as a question: the words the release reads, and its extra inputs."""
    named = {word: reading.words[word] for word in (*reading.asked, *SIZES)} | reading.extra
    return {name: concrete(reading.domain, model, value) for name, value in named.items()}


def shown(inputs: Mapping[str, object]) -> dict[str, int]:
    """The inputs worth showing: those that are not zero, false or None."""
    return {name: int(value) for name, value in inputs.items() if isinstance(value, int) and value}

"""Two splitters over one symbolic chunk: the question whether any input tells them apart.

Both texts are lifted with the same names for the same words, so a word is one symbol in both. A
word that only one of them reads is held neutral in the *shared* domain, and free in the *whole*
one. Two runs differ if one raises and the other does not, or if both answer and not alike.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import z3

from truehit.proofs.lift import Maybe, Value, lift_function
from truehit.proofs.lift.agreement import RAISED
from truehit.proofs.lift.evaluator import Assignment
from truehit.proofs.releases import goals
from truehit.proofs.releases.chunk import SIZES, Chunk
from truehit.proofs.releases.replay import inputs_of
from truehit.proofs.releases.scope import Scope
from truehit.proofs.releases.subject import Reading, Subject, chunk, completed
from truehit.proofs.solve import smtlib
from truehit.proofs.terms import Bool, all_of, any_of, formula, negation, same_truth


class Rule(StrEnum):
    """Where a chunk ends; whether the manager exports a state from inside of it, asked where both
    end the chunk alike."""

    SPLITTER = "chunk splitter"
    EXPORT = "checkpoint export"


class Extent(StrEnum):
    """The inputs that both read, or those that either reads."""

    SHARED = "shared"
    WHOLE = "whole"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a text answers to a question; None: it raised."""

    scheduled: int | None
    exported: bool

    def words(self, rule: Rule) -> str:
        """The answer of one rule."""
        if self.scheduled is None:
            return "raises"
        if rule is Rule.SPLITTER:
            return str(self.scheduled)
        return "exports" if self.exported else "exports nothing"


@dataclass(frozen=True, slots=True)
class Difference:
    """An input on which CPython, running both texts, sees them differ."""

    inputs: dict[str, object]
    base: Outcome
    head: Outcome


@dataclass(frozen=True, slots=True)
class Pair:
    """Two subjects, ready to be read and run."""

    base: Subject
    head: Subject

    def read(self, scope: Scope) -> "Together":
        """Both texts over the same chunk.

        Raises:
            Unsupported: one of them leaves the liftable fragment.
        """
        return Together(scope, self.base.read(scope), self.head.read(scope))

    def run(self, rule: Rule, inputs: Mapping[str, object]) -> Difference | None:
        """Run both; nothing where the premise fails or they answer alike."""
        if not goals.premise(chunk({**completed(inputs), "scheduled": 0, "exported": False})):
            return None
        base, head = outcome(self.base, inputs), outcome(self.head, inputs)
        alike = base.scheduled == head.scheduled
        differ = not alike if rule is Rule.SPLITTER else alike and base.exported != head.exported
        return Difference(dict(inputs), base, head) if differ else None


@dataclass(frozen=True, slots=True)
class Together:
    """Both readings in one scope."""

    scope: Scope
    base: Reading
    head: Reading

    @property
    def one_sided(self) -> tuple[str, ...]:
        """The words that only one side reads."""
        return tuple(sorted(set(self.base.asked) ^ set(self.head.asked)))

    def question(self, rule: Rule, extent: Extent) -> str:
        """Satisfiable exactly if some input of the extent tells the texts apart."""
        return smtlib(self._asked(rule, extent))

    def cheaper(self, rule: Rule, extent: Extent, cost: int) -> str:
        """The same at concrete sizes, for an input that costs less."""
        price = lift_function(goals.cost, self.base.domain, self._bind()).result
        below = formula(self.base.domain.less(price, cost))
        return smtlib([*self._asked(rule, extent), below])

    def inputs(self, model: Assignment) -> dict[str, object]:
        """A model as a question that both can be run with."""
        return {**inputs_of(self.base, model), **inputs_of(self.head, model)}

    def cover(self, extent: Extent) -> str:
        """The domain alone: where it is empty, a proof would say nothing."""
        return smtlib(self._domain(extent))

    def _asked(self, rule: Rule, extent: Extent) -> list[z3.BoolRef]:
        return [*self._domain(extent), formula(self._differ(rule))]

    def _domain(self, extent: Extent) -> list[z3.BoolRef]:
        sides = [*self.base.domain.side_conditions(), *self.head.domain.side_conditions()]
        premise = lift_function(goals.premise, self.base.domain, self._bind()).result
        assert isinstance(premise, bool | z3.BoolRef)
        held = [self._neutral(word) for word in self.one_sided] if extent is Extent.SHARED else []
        return [*sides, formula(premise), *map(formula, held)]

    def _differ(self, rule: Rule) -> Bool:
        defined = [all_of(*(item.condition for item in r.defined)) for r in (self.base, self.head)]
        one, other = self.base.words, self.head.words
        alike = self.base.domain.equal(one["scheduled"], other["scheduled"])
        if rule is Rule.SPLITTER:
            answers = all_of(*defined, negation(alike))
            return any_of(negation(same_truth(*defined)), answers)
        exports = [side["exported"] for side in (one, other)]
        assert all(isinstance(export, bool | z3.BoolRef) for export in exports)
        return all_of(*defined, alike, negation(same_truth(exports[0], exports[1])))

    def _words(self) -> dict[str, Value]:
        """Every word that either reads, as its symbol."""
        read = {word: self.head.words[word] for word in (*self.head.asked, *SIZES)}
        return {**self.base.words, **read, "scheduled": 0, "exported": False}

    def _bind(self) -> dict[str, Value]:
        return {f"q.{word}": value for word, value in self._words().items()}

    def _neutral(self, word: str) -> Bool:
        match self._words()[word]:
            case bool() | z3.BoolRef() as truth:
                return negation(truth)
            case Maybe(absent=absent):
                return absent
            case number:
                return self.base.domain.equal(number, 0)


def outcome(subject: Subject, inputs: Mapping[str, object]) -> Outcome:
    """One text's answer in CPython."""
    try:
        answered: Chunk = subject.run(inputs)
    except RAISED:
        return Outcome(None, False)
    return Outcome(answered.scheduled, answered.exported)

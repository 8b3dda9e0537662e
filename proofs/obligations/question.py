"""An obligation in one encoding as formulas: lifted premise, rules and goal over shared inputs."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

import z3

from truehit.proofs.lift import IntegerDomain, Lifted, Provenance, RadixDomain, Value, lift_function
from truehit.proofs.lift.domain import Assignment
from truehit.proofs.lift.evaluator import constants, evaluate_term
from truehit.proofs.obligations.names import Read, reads, result_sorts, rules_parameter
from truehit.proofs.obligations.obligation import Encoding, Function, Obligation, Step
from truehit.proofs.solve import smtlib
from truehit.proofs.terms import Bool, all_of, formula, negation
from truehit.reference.ruleset import DEFAULT, RuleSet

DECLARED = re.compile(r"^\(declare-fun \|?([^| ]+)\|? \(\)", re.MULTILINE)

Domain = IntegerDomain | RadixDomain


@dataclass(frozen=True, slots=True)
class Question:
    """Premise and goal as formulas. `inputs`: name to value in the domain, freed results included;
    `results`: the same of what the rules compute, meaningful where `ran`.

    `lifted`: where every lifted function stands.
    """

    domain: Domain
    inputs: dict[str, Value]
    results: dict[str, Value]
    ran: Bool
    premise: Bool
    goal: Bool
    lifted: tuple[Provenance, ...]

    def violation(self) -> str:
        """SMT-LIB text that is satisfiable iff the goal can fail."""
        return self.text(all_of(self.premise, negation(self.goal)))

    def case(self) -> str:
        """SMT-LIB text that is satisfiable iff premise and goal can hold together."""
        return self.text(all_of(self.premise, self.goal))

    def concrete(self, model: Assignment) -> dict[str, int | bool]:
        """The Python values of the inputs under a solver's model."""
        return {name: _concrete(self.domain, model, v) for name, v in self.inputs.items()}

    def concrete_results(self, model: Assignment) -> dict[str, int | bool]:
        """The Python values of what the rules compute, under a solver's model."""
        return {name: _concrete(self.domain, model, v) for name, v in self.results.items()}

    def assertions(self, condition: Bool) -> list[z3.BoolRef]:
        """The condition, with the side conditions of the inputs it mentions."""
        asked = formula(condition)
        # The solver's own list of declarations is far cheaper than a walk over the formula.
        mentioned = set(DECLARED.findall(smtlib([asked])))
        domain = self.domain
        radices = {str(r) for r in domain.radices} if isinstance(domain, RadixDomain) else set()
        kept = []
        for side in domain.side_conditions():
            named = {str(constant) for constant in constants(side)}
            if named <= radices or named & (mentioned - radices):
                kept.append(side)
        return [*kept, asked]

    def text(self, condition: Bool) -> str:
        """SMT-LIB text of a condition over the inputs."""
        return smtlib(self.assertions(condition))


def pose(
    obligation: Obligation,
    encoding: Encoding,
    steps: tuple[Step, ...],
    rules: RuleSet = DEFAULT,
    goal: tuple[Function, ...] | None = None,
    freed: tuple[str, ...] = (),
) -> Question:
    """Lift an obligation. `goal`: another goal than its own; `freed`: results left open (havoc).

    Raises:
        Unsupported: a function leaves the fragment, or the encoding cannot express it.
    """
    book = _Book(encoding, rules)
    results = {name for step in steps for name in step.results}
    for step in steps:
        if step.results[0] in freed:
            book.free(step)
        else:
            book.take(step)
    premise = book.condition(obligation.premise, results)
    wanted = book.condition(obligation.goal if goal is None else goal, results)
    ran = all_of(*book.defined)
    computed = {name: book.values[name] for name in results if name not in book.inputs}
    goal_holds = all_of(ran, wanted)
    return Question(
        book.domain, book.inputs, computed, ran, premise, goal_holds, tuple(book.lifted)
    )


class _Book:
    """Values by name while an obligation is lifted."""

    def __init__(self, encoding: Encoding, rules: RuleSet) -> None:
        self.encoding = encoding
        self.rules = rules
        self.domain: Domain = RadixDomain(*encoding.chain) if encoding.chain else IntegerDomain()
        self.inputs: dict[str, Value] = {}
        self.values: dict[str, Value] = {}
        self.defined: list[Bool] = []
        self.lifted: list[Provenance] = []

    def take(self, step: Step) -> None:
        """Lift a step and keep its results."""
        lifted = self._lift(step.function, step.rename)
        self.defined += [item.condition for item in lifted.defined]
        found = lifted.result
        parts = found if isinstance(found, tuple) else (found,)
        self.values.update(zip(step.results, parts, strict=True))

    def free(self, step: Step) -> None:
        """Results that may be anything."""
        for name, sort in zip(step.results, result_sorts(step.function), strict=True):
            self.values[name] = self.inputs[name] = self._fresh(name, sort)

    def condition(self, functions: tuple[Function, ...], results: set[str]) -> Bool:
        """The conjunction of predicates, each defined."""
        found: list[Bool] = []
        for function in functions:
            lifted = self._lift(function, {})
            found += [item.condition for item in lifted.defined]
            found.append(cast(Bool, lifted.result))
        return all_of(*found)

    def _lift(self, function: Function, rename: Mapping[str, str]) -> Lifted:
        bind: dict[str, Value] = {r.path: self._value(r) for r in reads(function, rename)}
        parameter = rules_parameter(function)
        if parameter is not None:
            bind[parameter] = self.rules
        lifted = lift_function(function, self.domain, bind)
        self.lifted.append(lifted.provenance)
        return lifted

    def _value(self, read: Read) -> Value:
        if read.name not in self.values:
            self.values[read.name] = self._input(read)
            self.inputs[read.name] = self.values[read.name]
        return self.values[read.name]

    def _input(self, read: Read) -> Value:
        encoding, domain = self.encoding, self.domain
        if read.name in encoding.fixed:
            return encoding.fixed[read.name]
        if isinstance(domain, RadixDomain):
            member = encoding.sizes.get(read.name, read.name)
            if member in encoding.chain:
                return domain.size(member)
        return self._fresh(read.name, read.sort)

    def _fresh(self, name: str, sort: type) -> Value:
        if sort is bool:
            return self.domain.boolean(name)
        if isinstance(self.domain, RadixDomain):
            member = self.encoding.counted.get(name)
            level = self.encoding.chain.index(member) + 1 if member else 0
            return self.domain.integer(name, level)
        return self.domain.integer(name)


def _concrete(domain: Domain, model: Assignment, value: Value) -> int | bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, z3.BoolRef):
        return bool(evaluate_term(model, value))
    return domain.evaluate(model, value)

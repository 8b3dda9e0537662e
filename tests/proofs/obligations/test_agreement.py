"""What is solved is what runs: every lifted rule, and every lifted question, agrees with CPython.

Rules by themselves in plain integers; then whole questions, renames and sizes included, in every
encoding of all block sizes: each result of a rule, the premise and the goal, on random inputs.
"""

import random
from collections import Counter
from collections.abc import Mapping
from math import ceil

import pytest

from truehit.proofs.lift import IntegerDomain, lift_function
from truehit.proofs.lift.agreement import agreement
from truehit.proofs.lift.evaluator import evaluate_term
from truehit.proofs.obligations.catalogue import OBLIGATIONS
from truehit.proofs.obligations.names import reads, rules_parameter
from truehit.proofs.obligations.obligation import Control, Encoding, Function, Obligation
from truehit.proofs.obligations.question import Question, pose
from truehit.proofs.obligations.replay import replay
from truehit.proofs.terms import formula
from truehit.reference.ruleset import DEFAULT, RuleSet

SAMPLES = 2000


def lifted_functions() -> dict[str, tuple[Function, RuleSet]]:
    """Every function that is lifted; one that takes a rule set once for each it is asked under."""
    found: dict[str, tuple[Function, RuleSet]] = {}

    def add(function: Function, rules: RuleSet) -> None:
        chosen = f" under {rules.name}" if rules_parameter(function) else ""
        module = function.__module__.removeprefix("truehit.")
        found[f"{module}.{function.__name__}{chosen}"] = (function, rules)

    for obligation in OBLIGATIONS:
        for predicate in (*obligation.premise, *obligation.goal):
            add(predicate, DEFAULT)
        for step in obligation.steps:
            add(step.function, DEFAULT)
        for control in obligation.controls:
            for step in control.steps:
                add(step.function, control.rules)
    return found


FUNCTIONS = lifted_functions()


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_function_agrees(name: str) -> None:
    function, rules = FUNCTIONS[name]
    domain = IntegerDomain()
    bind: dict[str, object] = {
        read.path: domain.boolean(read.path) if read.sort is bool else domain.integer(read.path)
        for read in reads(function, {})
    }
    parameter = rules_parameter(function)
    if parameter is not None:
        bind[parameter] = rules
    lifted = lift_function(function, domain, bind)
    compared = agreement(lifted, function, SAMPLES)
    assert compared.samples == SAMPLES and compared.defined > SAMPLES // 20
    assert compared.mismatches == ()


def radix_questions() -> list[tuple[str, Obligation, Encoding]]:
    return [
        (f"{obligation.name}: {encoding.words}", obligation, encoding)
        for obligation in OBLIGATIONS
        for encoding in obligation.encodings
        if encoding.chain
    ]


RADIX = radix_questions()
STANDS_IN = Counter(step.function for _, obligation, _ in RADIX for step in obligation.steps)


def samples_of(obligation: Obligation) -> int:
    """So many that each function gets its samples over all the questions it stands in."""
    return max(ceil(SAMPLES / STANDS_IN[step.function]) for step in obligation.steps)


@pytest.mark.parametrize(
    ("obligation", "encoding"), [q[1:] for q in RADIX], ids=[q[0] for q in RADIX]
)
def test_question_agrees(obligation: Obligation, encoding: Encoding) -> None:
    question = pose(obligation, encoding, obligation.steps)
    generator = random.Random(0)
    for _ in range(samples_of(obligation)):
        compare(obligation, question, question.domain.sample(generator))


def compare(obligation: Obligation, question: Question, drawn: Mapping[str, int | bool]) -> None:
    """One assignment, lifted and run."""
    inputs = question.concrete(drawn)
    ran = replay(obligation, obligation.steps, Control("ours").rules, inputs, obligation.goal)
    assert bool(evaluate_term(drawn, formula(question.premise))) == ran.premise, inputs
    assert bool(evaluate_term(drawn, formula(question.goal))) == ran.goal, inputs
    if evaluate_term(drawn, formula(question.ran)):
        assert question.concrete_results(drawn) == {n: ran.values[n] for n in question.results}

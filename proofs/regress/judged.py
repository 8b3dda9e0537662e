"""Run a scenario under a rule set and judge it: the one way regression tests, shrinking and search
ask."""

from functools import lru_cache

from truehit.proofs.regress.targets import Target
from truehit.reference.ruleset import RULE_SETS
from truehit.reference.run import Run, run
from truehit.spec.laws.base import Violation
from truehit.spec.laws.judge import Verdict, check_trace
from truehit.spec.scenario import Scenario
from truehit.spec.scenario_file import parse_scenario


def judged(scenario: Scenario, rules: str) -> tuple[Run, Verdict]:
    """The run and the verdict of all thirteen laws on its trace."""
    result = run(scenario, RULE_SETS[rules])
    return result, check_trace(result.events)


@lru_cache(maxsize=64)
def judged_text(text: str, rules: str) -> Verdict:
    """The verdict on a scenario given as YAML text."""
    return judged(parse_scenario(text, ".yaml"), rules)[1]


def first_of(verdict: Verdict, law: str, saying: str = "") -> Violation | None:
    """The first violation of a law whose sentence contains `saying`, or None."""
    return next((v for v in verdict.of_law(law) if saying in v.sentence), None)


def chunks_if_discriminating(scenario: Scenario, target: Target) -> int | None:
    """How many prefill chunks the run took if it shows the target's defect and nothing else
    does."""
    result, verdict = judged(scenario, target.rules)
    if first_of(verdict, target.law, target.saying) is None:
        return None
    if any(judged(scenario, rules)[1].violations for rules in ("default", *target.holding)):
        return None
    return sum(len(served.carve) for served in result.served)

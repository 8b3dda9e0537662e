"""The engines that are held to the oracle, each in the form of a subject."""

from truehit.engine.run import run
from truehit.proofs.differ.subject import Traced
from truehit.spec.scenario import Scenario


def engine(scenario: Scenario, rules: str) -> Traced:
    """The fast engine."""
    result = run(scenario, rules)
    return Traced(result.events, result.steps)

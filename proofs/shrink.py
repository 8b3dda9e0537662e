"""Shrink a scenario by domain cost while it still fails: greedy, first improvement, until none is
left."""

from collections.abc import Callable

from truehit.proofs.cost import Cost, cost
from truehit.proofs.shrink_moves import moves
from truehit.spec.geometry_checks import check
from truehit.spec.geometry_error import GeometryError
from truehit.spec.scenario import Scenario
from truehit.spec.scenario_checks import check_scenario
from truehit.spec.scenario_errors import ScenarioError


def is_valid(scenario: Scenario) -> bool:
    """True iff the scenario would be accepted from a file."""
    try:
        check(scenario.geometry)
        check_scenario(scenario)
    except (GeometryError, ScenarioError):
        return False
    return True


def shrink(
    scenario: Scenario, chunks_if_failing: Callable[[Scenario], int | None], tries: int = 20_000
) -> Scenario:
    """The smallest scenario found that still fails.

    `chunks_if_failing` runs a scenario: None if it does not fail, else how many prefill chunks it
    took."""
    chunks = chunks_if_failing(scenario)
    if chunks is None:
        raise ValueError(f"scenario {scenario.name} does not fail, so there is nothing to shrink")
    best, best_cost = scenario, cost(scenario, chunks)
    improved = True
    while improved and tries > 0:
        improved = False
        for candidate in moves(best):
            tries -= 1
            smaller = _smaller(candidate, best_cost, chunks_if_failing)
            if smaller is not None:
                best, best_cost, improved = candidate, smaller, True
                break
            if tries <= 0:
                break
    return best


def _smaller(
    candidate: Scenario, best: Cost, chunks_if_failing: Callable[[Scenario], int | None]
) -> Cost | None:
    """The candidate's cost if it fails and costs less."""
    if cost(candidate, 0) >= best or not is_valid(candidate):
        return None
    chunks = chunks_if_failing(candidate)
    if chunks is None:
        return None
    candidate_cost = cost(candidate, chunks)
    return candidate_cost if candidate_cost < best else None

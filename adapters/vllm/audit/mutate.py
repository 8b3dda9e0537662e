"""Neighbours of a scenario that exercised something new: one thing of it is drawn again."""

from dataclasses import replace
from random import Random

from truehit.adapters.vllm.audit.draw import Supported, can_start, draw
from truehit.spec.scenario import After, AtStep, Moment, Request, Scenario

OFF = (-2, -1, 1, 2)
TRIES = 8


def mutate(random: Random, scenario: Scenario, supported: Supported) -> Scenario:
    """A valid neighbour, or a fresh scenario when none is found."""
    for _ in range(TRIES):
        changed = _changed(random, scenario, supported)
        if can_start(changed):
            return changed
    return draw(random, supported)


def _changed(random: Random, scenario: Scenario, supported: Supported) -> Scenario:
    geometry = scenario.geometry
    match random.randrange(6):
        case 0:
            budget = max(geometry.budget_tokens + random.choice(OFF), 1 + geometry.drafts)
            return replace(scenario, geometry=replace(geometry, budget_tokens=budget))
        case 1:
            pool = max(geometry.pool_blocks + random.choice(OFF), 2)
            return replace(scenario, geometry=replace(geometry, pool_blocks=pool))
        case 2:
            return _longer(random, scenario)
        case 3:
            return _again(random, scenario)
        case 4:
            return _earlier(random, scenario)
        case _:
            other = draw(random, supported).geometry
            fresh = replace(
                geometry,
                retention=other.retention,
                drop=other.drop if other.drafts and geometry.drafts else geometry.drop,
                checkpoint_alignment_tokens=other.checkpoint_alignment_tokens,
                reserve_full_sequence=other.reserve_full_sequence,
            )
            return replace(scenario, geometry=fresh)


def _with(scenario: Scenario, index: int, request: Request) -> Scenario:
    requests = list(scenario.requests)
    requests[index] = request
    return replace(scenario, requests=tuple(requests))


def _longer(random: Random, scenario: Scenario) -> Scenario:
    index = random.randrange(len(scenario.requests))
    request = scenario.requests[index]
    last = request.segments[-1]
    tokens = max(last.tokens + random.choice(OFF), 1)
    return _with(
        scenario,
        index,
        replace(request, segments=(*request.segments[:-1], replace(last, tokens=tokens))),
    )


def _again(random: Random, scenario: Scenario) -> Scenario:
    """A resend after one of them is done."""
    first = random.choice(scenario.requests)
    name = f"s{len(scenario.requests)}"
    moment = random.choice([Moment.FINISHED, Moment.PREFILLED])
    resend = replace(first, name=name, arrival=After(first.name, moment), output="")
    return replace(scenario, requests=(*scenario.requests, resend))


def _earlier(random: Random, scenario: Scenario) -> Scenario:
    index = random.randrange(len(scenario.requests))
    return _with(scenario, index, replace(scenario.requests[index], arrival=AtStep(0)))

"""What a well-formed scenario can still get wrong: names, lengths, numbers, impossible orders.

Works on the dataclasses, so a scenario made in code is refused in the same words as one from a
file. Paths name a request by its name: `requests[r2].shares[0]`.
"""

from collections.abc import Callable, Iterator
from graphlib import CycleError, TopologicalSorter

from truehit.spec.scenario import After, AtStep, Pressure, Request, ResetCache, Scenario
from truehit.spec.scenario_errors import ScenarioError

OUTPUT_PREFIX = "output:"


def check_scenario(scenario: Scenario) -> None:
    """Raise the first `ScenarioError`. The geometry is checked elsewhere."""
    for find in _CHECKS:
        for error in find(scenario):
            raise error


def makers_of_streams(scenario: Scenario) -> dict[str, list[Request]]:
    """By stream: the requests that generate it, in the order of the scenario."""
    makers: dict[str, list[Request]] = {}
    for request in scenario.requests:
        makers.setdefault(request.output_name, []).append(request)
    return makers


def _names(scenario: Scenario) -> Iterator[ScenarioError]:
    if not scenario.requests:
        yield ScenarioError("requests", "has 0 requests; 1 works")
    seen: set[str] = set()
    for index, request in enumerate(scenario.requests):
        where = f"requests[{index}].name"
        if not request.name:
            yield ScenarioError(where, f"has 0 letters; r{index} works")
        if request.name in seen:
            count = sum(1 for other in scenario.requests if other.name == request.name)
            sentence = f"'{request.name}' names {count} requests; '{request.name}-{index}' works"
            yield ScenarioError(where, sentence)
        seen.add(request.name)


def _numbers(scenario: Scenario) -> Iterator[ScenarioError]:
    for index, budget in enumerate(scenario.budgets):
        yield from _at_least(f"budgets[{index}]", budget, 1)
        most = scenario.geometry.budget_tokens
        if budget > most:
            sentence = f"is {budget}, above budget_tokens {most}; {most} works"
            yield ScenarioError(f"budgets[{index}]", sentence)
    if scenario.encoder_budget_tokens is not None:
        yield from _at_least("encoder_budget_tokens", scenario.encoder_budget_tokens, 1)
    yield from _at_least("max_steps", scenario.max_steps, 1)
    for request in scenario.requests:
        yield from _request_numbers(request, f"requests[{request.name}]")


def _request_numbers(request: Request, path: str) -> Iterator[ScenarioError]:
    if not request.segments:
        yield ScenarioError(f"{path}.segments", "has 0 segments; 1 works")
    for index, segment in enumerate(request.segments):
        yield from _at_least(f"{path}.segments[{index}]", segment.tokens, 1)
    yield from _at_least(f"{path}.output_tokens", request.output_tokens, 1)
    for index, share in enumerate(request.shares):
        yield from _at_least(f"{path}.shares[{index}]", share, 1)
    for index, accepted in enumerate(request.accepted):
        yield from _at_least(f"{path}.accepted[{index}]", accepted, 0)
    yield from _at_least(f"{path}.external_tokens", request.external_tokens, 0)
    match request.arrival:
        case AtStep(step):
            yield from _at_least(f"{path}.at", step, 0)
        case After(delay_steps=delay):
            yield from _at_least(f"{path}.after", delay, 0)


def _lengths(scenario: Scenario) -> Iterator[ScenarioError]:
    geometry = scenario.geometry
    for request in scenario.requests:
        path = f"requests[{request.name}]"
        room = geometry.max_model_tokens - request.prompt_tokens
        if room < 1:
            why = f"is {request.prompt_tokens} tokens of prompt, which with 1 of output exceed"
            works = geometry.max_model_tokens - 1
            sentence = f"{why} max_model_tokens {geometry.max_model_tokens}; {works} works"
            yield ScenarioError(f"{path}.segments", sentence)
        if request.output_tokens > room:
            why = f"is {request.output_tokens}: after {request.prompt_tokens} of prompt it exceeds"
            sentence = f"{why} max_model_tokens {geometry.max_model_tokens}; {room} works"
            yield ScenarioError(f"{path}.output_tokens", sentence)
        for index, accepted in enumerate(request.accepted):
            if accepted > geometry.drafts:
                sentence = f"is {accepted} of {geometry.drafts} drafts; {geometry.drafts} works"
                yield ScenarioError(f"{path}.accepted[{index}]", sentence)
        last = request.prompt_tokens - 1
        if request.external_tokens > last:
            why = f"is {request.external_tokens}: the last of {request.prompt_tokens} prompt tokens"
            yield ScenarioError(
                f"{path}.external_tokens", f"{why} is always computed; {last} works"
            )


def _encoder(scenario: Scenario) -> Iterator[ScenarioError]:
    budget = scenario.encoder_budget_tokens
    for request in scenario.requests:
        prompt = request.prompt_tokens
        for index, item in enumerate(request.encoder_items):
            path = f"requests[{request.name}].encoder_items[{index}]"
            yield from _at_least(f"{path}.at", item.at, 0)
            yield from _at_least(f"{path}.tokens", item.tokens, 1)
            if item.at >= prompt:
                sentence = f"is {item.at}, outside the {prompt} prompt tokens; {prompt - 1} works"
                yield ScenarioError(f"{path}.at", sentence)
            if item.at + item.tokens > prompt:
                why = f"is {item.tokens}: from {item.at} on it passes the {prompt} prompt tokens"
                yield ScenarioError(f"{path}.tokens", f"{why}; {prompt - item.at} works")
            if budget is not None and item.tokens > budget:
                why = f"is {item.tokens}, more than encoder_budget_tokens {budget} of any step"
                yield ScenarioError(f"{path}.tokens", f"{why}; {budget} works")


def _actions(scenario: Scenario) -> Iterator[ScenarioError]:
    names = {request.name for request in scenario.requests}
    for index, action in enumerate(scenario.actions):
        path = f"actions[{index}]"
        yield from _at_least(f"{path}.step", action.step, 0)
        match action:
            case Pressure(blocks=blocks, for_steps=steps):
                yield from _at_least(f"{path}.blocks", blocks, 1)
                yield from _at_least(f"{path}.for_steps", steps, 1)
                limit = scenario.geometry.pool_blocks - 1
                if blocks > limit:
                    why = f"is {blocks} of {limit} blocks that are not null"
                    yield ScenarioError(f"{path}.blocks", f"{why}; {limit} works")
            case ResetCache():
                pass
            case _ if action.request not in names:
                yield _unknown_request(f"{path}.request", action.request, scenario)


def _references(scenario: Scenario) -> Iterator[ScenarioError]:
    names = {request.name for request in scenario.requests}
    streams = makers_of_streams(scenario)
    for request in scenario.requests:
        path = f"requests[{request.name}]"
        if isinstance(request.arrival, After) and request.arrival.request not in names:
            yield _unknown_request(f"{path}.after", request.arrival.request, scenario)
        for index, segment in enumerate(request.segments):
            makers = streams.get(segment.name, [])
            where = f"{path}.segments[{index}]"
            if not makers and segment.name.startswith(OUTPUT_PREFIX):
                yield _unknown_request(where, segment.name.removeprefix(OUTPUT_PREFIX), scenario)
            if makers and segment.tokens > max(maker.output_tokens for maker in makers):
                longest = max(maker.output_tokens for maker in makers)
                why = f"is {segment.tokens} tokens of '{segment.name}', which generates {longest}"
                yield ScenarioError(where, f"{why}; {longest} works")


def _cycles(scenario: Scenario) -> Iterator[ScenarioError]:
    """No request waits, by its arrival or for what is generated into its prompt, for itself."""
    streams = makers_of_streams(scenario)
    waits = {request.name: _waits_for(request, streams) for request in scenario.requests}
    try:
        TopologicalSorter(waits).prepare()
    except CycleError as error:
        cycle: list[str] = error.args[1]
        sentence = f"{' before '.join(cycle)} never happens; a circle of 0 requests works"
        yield ScenarioError(f"requests[{cycle[-1]}]", sentence)


def _waits_for(request: Request, streams: dict[str, list[Request]]) -> set[str]:
    names: set[str] = set()
    if isinstance(request.arrival, After):
        names.add(request.arrival.request)
    for segment in request.segments:
        makers = streams.get(segment.name)
        if makers:
            names.add(makers[0].name)
    return names


def _at_least(path: str, number: int, least: int) -> Iterator[ScenarioError]:
    if number < least:
        yield ScenarioError(path, f"is {number}; {least} works")


def _unknown_request(path: str, name: str, scenario: Scenario) -> ScenarioError:
    sentence = f"'{name}' is none of the {len(scenario.requests)} requests"
    return ScenarioError(path, f"{sentence}; '{scenario.requests[0].name}' works")


_CHECKS: tuple[Callable[[Scenario], Iterator[ScenarioError]], ...] = (
    _names,
    _numbers,
    _lengths,
    _encoder,
    _actions,
    _references,
    _cycles,
)

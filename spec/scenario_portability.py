"""Which fields of a scenario a real engine cannot be made to follow."""

from truehit.spec.scenario import After, AtStep, Moment, Preempt, Pressure, Request, Scenario
from truehit.spec.scenario_checks import makers_of_streams


def portability(scenario: Scenario) -> list[str]:
    """One line for every field that only the oracle follows; an empty list: portable.

    Arrival at step 0 is portable: everything is submitted before the first step.
    """
    found: list[str] = []
    if scenario.budgets:
        found.append("budgets: the tokens of a step are decreed; neighbours are portable")
    by_name = {request.name: request for request in scenario.requests}
    streams = makers_of_streams(scenario)
    for request in scenario.requests:
        found.extend(_decrees(request))
        found.extend(_foresight(request, streams, by_name))
    for index, action in enumerate(scenario.actions):
        if isinstance(action, Preempt | Pressure):
            kind = type(action).__name__.lower()
            found.append(f"actions[{index}]: {kind} is decreed; a smaller pool is portable")
    return found


def _decrees(request: Request) -> list[str]:
    path = f"requests[{request.name}]"
    found: list[str] = []
    if isinstance(request.arrival, AtStep) and request.arrival.step > 0:
        found.append(f"{path}.at: arrives at step {request.arrival.step}; after: is portable")
    if request.shares:
        found.append(f"{path}.shares: the tokens offered are decreed; neighbours are portable")
    return found


def _foresight(
    request: Request, streams: dict[str, list[Request]], by_name: dict[str, Request]
) -> list[str]:
    """Segments that contain what another request may not have generated yet."""
    found: list[str] = []
    for index, segment in enumerate(request.segments):
        makers = [maker.name for maker in streams.get(segment.name, [])]
        if makers and _finished_before(request, by_name).isdisjoint(makers):
            found.append(
                f"requests[{request.name}].segments[{index}]: '{segment.name}' is used before it "
                f"is known; after: {makers[0]}.finished is portable"
            )
    return found


def _finished_before(request: Request, by_name: dict[str, Request]) -> set[str]:
    """The requests that have surely finished when this one arrives."""
    finished: set[str] = set()
    arrival = request.arrival
    while isinstance(arrival, After):
        if arrival.moment is Moment.FINISHED:
            finished.add(arrival.request)
        arrival = by_name[arrival.request].arrival
    return finished

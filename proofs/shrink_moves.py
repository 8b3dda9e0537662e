"""Smaller neighbours of a scenario, the boldest first. Invalid ones are dropped by the caller."""

from collections.abc import Iterator
from dataclasses import replace

from truehit.spec.geometry import Dense, Geometry, Group, Kind, NoDrop, ReachOnly
from truehit.spec.scenario import After, AtStep, Moment, Policy, Request, Scenario
from truehit.spec.tokens import Segment


def moves(scenario: Scenario) -> Iterator[Scenario]:
    """Every one-step simplification."""
    yield from _fewer_requests(scenario)
    for index in range(len(scenario.actions)):
        actions = scenario.actions[:index] + scenario.actions[index + 1 :]
        yield replace(scenario, actions=actions)
    if scenario.budgets:
        yield replace(scenario, budgets=())
        yield replace(scenario, budgets=scenario.budgets[:-1])
    if scenario.policy is not Policy.FCFS:
        yield replace(scenario, policy=Policy.FCFS)
    if scenario.encoder_budget_tokens is not None:
        yield replace(scenario, encoder_budget_tokens=None)
    for geometry in _geometries(scenario.geometry):
        yield replace(scenario, geometry=geometry)
    for index, request in enumerate(scenario.requests):
        for smaller in _requests(request):
            requests = list(scenario.requests)
            requests[index] = smaller
            yield replace(scenario, requests=tuple(requests))
    yield from _streams(scenario)
    for index, action in enumerate(scenario.actions):
        if action.step > 0:
            earlier = list(scenario.actions)
            earlier[index] = replace(action, step=action.step - 1)
            yield replace(scenario, actions=tuple(earlier))


def _fewer_requests(scenario: Scenario) -> Iterator[Scenario]:
    for index, gone in enumerate(scenario.requests):
        rest = scenario.requests[:index] + scenario.requests[index + 1 :]
        fixed = tuple(
            replace(r, arrival=gone.arrival)
            if isinstance(r.arrival, After) and r.arrival.request == gone.name
            else r
            for r in rest
        )
        actions = tuple(a for a in scenario.actions if getattr(a, "request", None) != gone.name)
        yield replace(scenario, requests=fixed, actions=actions)


def _numbers(value: int, least: int) -> Iterator[int]:
    """Smaller numbers, halving first."""
    seen = set()
    for candidate in (least, (least + value) // 2, value - 8, value - 3, value - 2, value - 1):
        if least <= candidate < value and candidate not in seen:
            seen.add(candidate)
            yield candidate


def _streams(scenario: Scenario) -> Iterator[Scenario]:
    """Cut the same stream to the same length wherever it is used."""
    lengths: dict[str, int] = {}
    for request in scenario.requests:
        for segment in request.segments:
            lengths[segment.name] = max(lengths.get(segment.name, 0), segment.tokens)
    for name, tokens in lengths.items():
        for fewer in _numbers(tokens, 1):
            requests = tuple(
                replace(r, segments=tuple(_cut(s, name, fewer) for s in r.segments))
                for r in scenario.requests
            )
            yield replace(scenario, requests=requests)


def _cut(segment: Segment, name: str, tokens: int) -> Segment:
    if segment.name != name or segment.tokens <= tokens:
        return segment
    return Segment(name, tokens)


def _requests(request: Request) -> Iterator[Request]:
    if len(request.segments) > 1:
        for index in range(len(request.segments)):
            rest = request.segments[:index] + request.segments[index + 1 :]
            yield replace(request, segments=rest)
    for index, segment in enumerate(request.segments):
        for fewer in _numbers(segment.tokens, 1):
            segments = list(request.segments)
            segments[index] = Segment(segment.name, fewer)
            yield replace(request, segments=tuple(segments))
    for fewer in _numbers(request.output_tokens, 1):
        yield replace(request, output_tokens=fewer)
    if request.arrival != AtStep(0):
        yield replace(request, arrival=AtStep(0))
    match request.arrival:
        case After(name, moment, delay):
            if delay:
                yield replace(request, arrival=After(name, moment, 0))
            if moment is not Moment.FINISHED:
                yield replace(request, arrival=After(name, Moment.FINISHED, 0))
        case AtStep():
            pass
    if request.accepted:
        yield replace(request, accepted=())
        yield replace(request, accepted=request.accepted[:-1])
    if request.shares:
        yield replace(request, shares=())
        yield replace(request, shares=request.shares[:-1])
        for index, share in enumerate(request.shares):
            for fewer in _numbers(share, 1):
                shares = list(request.shares)
                shares[index] = fewer
                yield replace(request, shares=tuple(shares))
    if request.encoder_items:
        yield replace(request, encoder_items=())
    for fewer in _numbers(request.external_tokens, 0):
        yield replace(request, external_tokens=fewer)
    if request.salt:
        yield replace(request, salt="")
    if request.priority:
        yield replace(request, priority=0)


def _geometries(geometry: Geometry) -> Iterator[Geometry]:
    for index in range(len(geometry.groups)):
        groups = geometry.groups[:index] + geometry.groups[index + 1 :]
        yield replace(geometry, groups=groups)
    if not isinstance(geometry.drop, NoDrop):
        yield replace(geometry, drop=NoDrop(), groups=tuple(_plain(g) for g in geometry.groups))
    for index, group in enumerate(geometry.groups):
        if group.drafted:
            yield _with_group(geometry, index, replace(group, drafted=False))
    if geometry.fine_hits:
        yield replace(geometry, fine_hits=False, hash_unit_tokens=geometry.block_gcd_tokens)
    for drafts in _numbers(geometry.drafts, 0):
        yield replace(geometry, drafts=drafts)
    if not isinstance(geometry.retention, Dense):
        yield replace(geometry, retention=Dense())
        if not isinstance(geometry.retention, ReachOnly):
            yield replace(geometry, retention=ReachOnly())
    if geometry.checkpoints:
        yield replace(geometry, checkpoint_alignment_tokens=None)
        yield replace(geometry, checkpoint_alignment_tokens=1)
    if geometry.steps_in_flight > 1:
        yield replace(geometry, steps_in_flight=geometry.steps_in_flight - 1)
    if not geometry.reserve_full_sequence:
        yield replace(geometry, reserve_full_sequence=True)
    if geometry.long_prefill_threshold_tokens is not None:
        yield replace(geometry, long_prefill_threshold_tokens=None)
    if geometry.max_running != 256:
        yield replace(geometry, max_running=256)
    yield from _blocks(geometry)
    for budget in _numbers(geometry.budget_tokens, 1):
        yield replace(geometry, budget_tokens=budget)
    for pool in _numbers(geometry.pool_blocks, 2):
        yield replace(geometry, pool_blocks=pool)


def _plain(group: Group) -> Group:
    return replace(group, drafted=False)


def _with_group(geometry: Geometry, index: int, group: Group) -> Geometry:
    groups = list(geometry.groups)
    groups[index] = group
    return replace(geometry, groups=tuple(groups))


def _blocks(geometry: Geometry) -> Iterator[Geometry]:
    """Smaller blocks: one group, or all state groups together; the hash unit follows."""
    sizes = {g.block_tokens for g in geometry.groups}
    for size in sorted(sizes, reverse=True):
        for smaller in range(1, size):
            all_of_size = tuple(
                replace(g, block_tokens=smaller) if g.block_tokens == size else g
                for g in geometry.groups
            )
            states = tuple(
                replace(g, block_tokens=smaller)
                if g.block_tokens == size and g.kind is Kind.RECURRENT_STATE
                else g
                for g in geometry.groups
            )
            others = tuple(
                replace(g, block_tokens=smaller)
                if g.block_tokens == size and g.kind is not Kind.RECURRENT_STATE
                else g
                for g in geometry.groups
            )
            for groups in (all_of_size, states, others):
                candidate = replace(geometry, groups=groups)
                if candidate.lookup_groups:
                    unit = candidate.block_gcd_tokens
                    yield replace(candidate, hash_unit_tokens=unit)
                    if candidate.fine_hits:
                        yield replace(candidate, hash_unit_tokens=1)

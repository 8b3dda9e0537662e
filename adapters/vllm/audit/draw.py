"""Scenarios for a real scheduler, drawn so that its edges are met.

Lengths lie at multiples of blocks and hash units, one to either side, and as far off as a drop or
the drafts reach; pools lie a few blocks above what the engine's own start-up asks for; block sizes
differ by default. Everything drawn is what a start-up accepts.
"""

from dataclasses import dataclass, replace
from enum import StrEnum
from math import gcd, lcm
from random import Random

from truehit.adapters.vllm.audit.traffic import draw_actions, draw_requests
from truehit.proofs.shrink import is_valid
from truehit.spec.geometry import (
    BlockDrop,
    Dense,
    Drop,
    DropCap,
    Geometry,
    Group,
    Interval,
    Kind,
    Lookahead,
    NoDrop,
    ReachOnly,
    Retention,
)
from truehit.spec.scenario import Policy, Scenario
from truehit.spec.units import ceil_div

STATE_BLOCKS = 2
"""A start-up asks for the running state and the one it was copied from, besides scratch."""


SPARE_BLOCKS = (0, 1, 1, 2, 2, 3, 4, 6, 9, 17, 401, 401, 401, 401)
"""Above what a start-up asks for."""


class Stratum(StrEnum):
    """Which block sizes meet: any, equal ones, pages no larger than the state's block."""

    ANY = "any"
    EQUAL = "equal"
    PAGES_BELOW = "pages below"


@dataclass(frozen=True, slots=True)
class Supported:
    """What the release can be asked for. `lookahead`: keys that cover tokens beyond their end;
    `rings`: circular buffers."""

    lookahead: bool = True
    checkpoints: bool = True
    rings: bool = True


def draw(random: Random, supported: Supported = Supported()) -> Scenario:
    """One scenario; draws again until a file may hold it and an engine starts with it."""
    while True:
        scenario = _draw(random, supported)
        if can_start(scenario):
            return scenario


def can_start(scenario: Scenario) -> bool:
    """A file may hold it, and the pool is no smaller than a start-up asks for."""
    least = start_up_blocks(scenario.geometry)
    return scenario.geometry.pool_blocks >= least and is_valid(scenario)


def _draw(random: Random, supported: Supported) -> Scenario:
    geometry = _geometry(random, supported)
    requests = draw_requests(random, geometry)
    return Scenario(
        name="drawn",
        geometry=geometry,
        requests=requests,
        actions=draw_actions(random, requests),
        policy=random.choices([Policy.FCFS, Policy.PRIORITY], [3, 1])[0],
        max_steps=500,
    )


def _geometry(random: Random, supported: Supported) -> Geometry:
    groups, drafts = _groups(random, supported)
    lookups = [group for group in groups if group.kind is not Kind.CIRCULAR_BUFFER]
    shared = gcd(*(group.block_tokens for group in lookups))
    unit = shared if random.random() < 0.7 else random.choice(_divisors(shared))
    fine = is_fine(groups, unit)
    if not fine:
        unit = shared
    state = next(g.block_tokens for g in groups if g.kind is Kind.RECURRENT_STATE)
    base = Geometry(
        groups,
        hash_unit_tokens=unit,
        fine_hits=fine,
        drafts=drafts,
        drop=_drop(random, drafts, supported),
        retention=_retention(random, lcm(*(g.block_tokens for g in groups))),
        max_model_tokens=random.choice([200, 320, 480, 640]),
        checkpoint_alignment_tokens=_checkpoints(random, state, supported),
        reserve_full_sequence=random.random() < 0.7,
        max_running=random.choice([1, 2, 3, 4, 4]),
    )
    budget = _budget(random, state, unit, drafts)
    threshold = _budget(random, state, unit, drafts) if random.random() < 0.15 else None
    if threshold is not None and threshold >= budget:
        threshold = None
    pool = start_up_blocks(base) + random.choice(SPARE_BLOCKS)
    return replace(
        base, budget_tokens=budget, long_prefill_threshold_tokens=threshold, pool_blocks=pool
    )


def _groups(random: Random, supported: Supported) -> tuple[tuple[Group, ...], int]:
    stratum = random.choice([Stratum.ANY, Stratum.ANY, Stratum.EQUAL, Stratum.PAGES_BELOW])
    state = random.choice([32, 64, 96]) if random.random() < 0.8 else random.choice([8, 16, 48])
    drafts = random.choice([0, 0, 1, 2, 3])
    page = _page(random, stratum, state)
    drafted = drafts > 0 and random.random() < 0.8
    groups = [Group("attention", Kind.FULL_ATTENTION, page, drafted=drafted)]
    if random.random() < 0.25:
        other = _page(random, stratum, state)
        flagged = drafts > 0 and random.random() < 0.5
        groups.append(Group("drafter", Kind.FULL_ATTENTION, other, drafted=flagged))
    if random.random() < 0.08:
        window = random.choice([page, page + 1, 2 * page, 3 * page - 1])
        groups.append(Group("window", Kind.SLIDING_WINDOW, page, window_tokens=window))
    groups.append(Group("state", Kind.RECURRENT_STATE, state))
    if random.random() < 0.08:
        groups.append(Group("state2", Kind.RECURRENT_STATE, state))
    if supported.rings and random.random() < 0.06:
        groups.append(Group("ring", Kind.CIRCULAR_BUFFER, random.choice([4, 8, 16])))
    return tuple(groups), drafts


def _page(random: Random, stratum: Stratum, state: int) -> int:
    match stratum:
        case Stratum.EQUAL:
            return state
        case Stratum.PAGES_BELOW:
            return random.choice([size for size in (8, 16, 32, 48) if size <= state])
        case Stratum.ANY:
            return random.choice([16, 32, 48, 64])


def is_fine(groups: tuple[Group, ...], unit: int) -> bool:
    """Whether a release takes hits inside of blocks: a state block is larger than the unit, and
    windows are not."""
    states = [g for g in groups if g.kind is Kind.RECURRENT_STATE]
    windows = [g for g in groups if g.kind is Kind.SLIDING_WINDOW]
    return any(g.block_tokens > unit for g in states) and all(
        g.block_tokens == unit for g in windows
    )


def _divisors(number: int) -> list[int]:
    return [size for size in (4, 8, 16, 32) if number % size == 0] or [number]


def _drop(random: Random, drafts: int, supported: Supported) -> Drop:
    """n-grams drop nothing; a drafter's keys look ahead, one token for each of its modules, or its
    pages are dropped."""
    if not drafts or random.random() < 0.15:
        return NoDrop()
    if supported.lookahead and random.random() < 0.5:
        return Lookahead(random.choice([1, 1, drafts]))
    return BlockDrop(DropCap.MARGIN)


def _retention(random: Random, base: int) -> Retention:
    match random.randrange(4):
        case 0:
            return Interval(base * random.choice([1, 2, 4]))
        case 1:
            return Dense()
        case _:
            return ReachOnly()


def _checkpoints(random: Random, state: int, supported: Supported) -> int | None:
    if not supported.checkpoints or random.random() < 0.6:
        return None
    return random.choice([1, 1, *(size for size in (4, 8, 16, state) if state % size == 0)])


def _budget(random: Random, state: int, unit: int, drafts: int) -> int:
    around = random.choice([state // 2, state, state, 2 * state, 3 * state, 5 * state, 400])
    off = random.choice([0, 0, -1, 1, drafts, random.randrange(-unit, unit)])
    return max(around + off, 1 + drafts, 8)


def start_up_blocks(geometry: Geometry) -> int:
    """What a start-up asks for: one request of the longest length. The null block is not counted
    there, though it is one of the pool."""
    blocks = 0
    for group in geometry.groups:
        if group.kind is Kind.RECURRENT_STATE:
            blocks += STATE_BLOCKS + geometry.drafts + geometry.checkpoints
        elif group.kind is Kind.CIRCULAR_BUFFER:
            blocks += 1
        else:
            blocks += ceil_div(geometry.max_model_tokens, group.block_tokens)
    return blocks

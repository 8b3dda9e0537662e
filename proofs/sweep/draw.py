"""Draw a small scenario with given features: sizes at block edges, siblings, resends, later turns.

Blocks are 2 to 16 tokens and prompts a few blocks, because every rule is about remainders: a defect
that needs large numbers needs large quotients, and those are the solver's part."""

from math import gcd, lcm
from random import Random

from truehit.proofs.sweep.features import Feature
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
from truehit.spec.scenario import (
    Abort,
    Action,
    After,
    Arrival,
    AtStep,
    EncoderItem,
    Fail,
    Moment,
    Policy,
    Preempt,
    Pressure,
    Request,
    ResetCache,
    Scenario,
)
from truehit.spec.tokens import Segment

Features = frozenset[Feature]
MAX_MODEL_TOKENS = 512


def draw_groups(random: Random, on: Features) -> tuple[Group, ...]:
    """One state block, one or two attention groups; equal blocks unless switched on."""
    block = random.choice((4, 6, 8, 12, 16))
    unequal = Feature.UNEQUAL_BLOCKS in on
    first = random.choice([b for b in (2, 3, 4, 6, 8) if b != block]) if unequal else block
    dropping = bool({Feature.DROP_CLAMPED, Feature.DROP_MARGIN} & on)
    groups = [Group("attention", Kind.FULL_ATTENTION, first, drafted=dropping)]
    if Feature.THREE_GROUPS in on:
        second = random.choice((2, 4, 6, 8)) if unequal else block
        groups.append(
            Group("drafter", Kind.FULL_ATTENTION, second, random.random() < 0.5 and dropping)
        )
    if Feature.SLIDING_WINDOW in on:
        window = first * random.choice((1, 2, 3)) + random.choice((0, 1))
        groups.append(Group("window", Kind.SLIDING_WINDOW, first, window_tokens=window))
    if Feature.CIRCULAR_BUFFER in on:
        groups.append(Group("ring", Kind.CIRCULAR_BUFFER, random.choice((2, 3, 4))))
    own_bit = dropping and random.random() < 0.3
    groups.append(Group("state", Kind.RECURRENT_STATE, block, drafted=own_bit))
    if Feature.TWO_STATE_GROUPS in on:
        groups.append(Group("state-2", Kind.RECURRENT_STATE, block))
    return tuple(groups)


def draw_geometry(random: Random, on: Features) -> Geometry:
    """A geometry that passes the checks for every compatible set of features."""
    groups = draw_groups(random, on)
    sizes = [g.block_tokens for g in groups if g.kind is not Kind.CIRCULAR_BUFFER]
    fine = Feature.FINE_HITS in on
    unit = gcd(*sizes)
    if fine:
        unit = random.choice([d for d in range(1, unit + 1) if unit % d == 0])
    alignment = unit if fine else lcm(*sizes)
    grid = next(g.block_tokens for g in groups if g.kind is Kind.RECURRENT_STATE)
    drafts = random.choice((1, 2, 3)) if Feature.DRAFTS in on else 0
    drop: Drop = NoDrop()
    if Feature.DROP_CLAMPED in on:
        drop = BlockDrop(DropCap.CLAMPED)
    elif Feature.DROP_MARGIN in on:
        drop = BlockDrop(DropCap.MARGIN)
    elif Feature.LOOKAHEAD in on:
        drop = Lookahead(random.choice((1, 2, 3)))
    retention: Retention = Dense()
    if Feature.RETENTION_ZERO in on:
        retention = ReachOnly()
    elif Feature.RETENTION_INTERVAL in on:
        retention = Interval(lcm(alignment, grid) * random.choice((1, 2, 3)))
    budget = random.choice((64, 100, 256))
    if Feature.SMALL_BUDGET in on:
        budget = max(drafts + 1, random.choice((grid // 2, grid - 1, grid, grid + 1, 2 * grid + 1)))
    pool = 400
    if Feature.TINY_POOL in on:
        pool = random.choice((30, 40, 60))
    return Geometry(
        groups=groups,
        hash_unit_tokens=unit,
        fine_hits=fine,
        drafts=drafts,
        drop=drop,
        retention=retention,
        budget_tokens=budget,
        long_prefill_threshold_tokens=(
            random.choice((grid - 1, grid, grid + 3)) if Feature.THRESHOLD in on else None
        ),
        max_model_tokens=MAX_MODEL_TOKENS,
        pool_blocks=pool,
        checkpoint_alignment_tokens=(
            random.choice([d for d in (1, 2, grid) if grid % d == 0])
            if Feature.CHECKPOINTS in on
            else None
        ),
        steps_in_flight=random.choice((2, 3)) if Feature.STEPS_IN_FLIGHT in on else 1,
        reserve_full_sequence=Feature.NO_RESERVATION not in on,
        max_running=random.choice((2, 4, 8)),
    )


def _length(random: Random, geometry: Geometry) -> int:
    """A prompt length at or beside a multiple of a block."""
    sizes = [g.block_tokens for g in geometry.lookup_groups] + [geometry.lcm_tokens]
    base = random.choice(sizes) * random.randint(1, 5)
    length = base + random.choice((-1, 0, 1, geometry.hash_unit_tokens, random.randint(0, 7)))
    return max(1, min(length, 90))


def _path(random: Random, geometry: Geometry, earlier: list[Request]) -> tuple[Segment, ...]:
    """A fresh document, a resend, a longer or shorter sibling of an earlier request."""
    length = _length(random, geometry)
    if not earlier or random.random() < 0.15:
        return (Segment(f"doc-{len(earlier)}", length),)
    parent = random.choice(earlier)
    match random.choice(("resend", "extension", "sibling", "prefix")):
        case "resend":
            return parent.segments
        case "extension":
            return (*parent.segments, Segment(f"more-{len(earlier)}", max(1, length // 2)))
        case "prefix":
            cut = random.randint(1, parent.segments[0].tokens)
            return (Segment(parent.segments[0].name, cut),)
        case _:
            cut = random.randint(1, parent.segments[0].tokens)
            tail = Segment(f"tail-{len(earlier)}", max(1, length // 2))
            return (Segment(parent.segments[0].name, cut), tail)


def _arrival(random: Random, on: Features, earlier: list[Request]) -> Arrival:
    if not earlier:
        return AtStep(0)
    if Feature.SAME_STEP in on and random.random() < 0.6:
        return earlier[-1].arrival
    moment = random.choice((Moment.FINISHED, Moment.FINISHED, Moment.SCHEDULED, Moment.PREFILLED))
    return After(earlier[-1].name, moment, random.choice((0, 0, 1)))


def draw_requests(random: Random, on: Features, geometry: Geometry) -> tuple[Request, ...]:
    """Three to six related requests."""
    requests: list[Request] = []
    for number in range(random.randint(3, 6)):
        segments = _path(random, geometry, requests)
        if Feature.MULTI_TURN in on and requests and random.random() < 0.4:
            parent = random.choice(requests)
            said = random.randint(1, parent.output_tokens)
            segments = (
                *parent.segments,
                Segment(parent.output_name, said),
                Segment(f"turn-{number}", random.randint(1, 9)),
            )
        prompt = sum(s.tokens for s in segments)
        items: tuple[EncoderItem, ...] = ()
        if Feature.ENCODER in on and random.random() < 0.5 and prompt > 6:
            at = random.randint(0, prompt - 4)
            items = (EncoderItem(at, random.randint(1, min(6, prompt - at))),)
        requests.append(
            Request(
                name=f"r{number}",
                segments=segments,
                output_tokens=random.choice((1, 2, 5, 9, 20)),
                salt=random.choice(("", "salt")) if Feature.SALTS in on else "",
                arrival=_arrival(random, on, requests),
                priority=random.randint(0, 2) if Feature.PRIORITY in on else 0,
                accepted=_accepted(random, geometry),
                shares=_shares(random, on, geometry),
                external_tokens=(random.randint(0, prompt - 1) if Feature.EXTERNAL in on else 0),
                encoder_items=items,
            )
        )
    return tuple(requests)


def _accepted(random: Random, geometry: Geometry) -> tuple[int, ...]:
    if geometry.drafts == 0 or random.random() < 0.3:
        return ()
    return tuple(random.randint(0, geometry.drafts) for _ in range(random.randint(1, 4)))


def _shares(random: Random, on: Features, geometry: Geometry) -> tuple[int, ...]:
    if Feature.SHARES not in on or random.random() < 0.3:
        return ()
    grid = geometry.grid_tokens or 4
    return tuple(random.randint(1, 2 * grid + 1) for _ in range(random.randint(1, 3)))


def draw_actions(
    random: Random, on: Features, requests: tuple[Request, ...], pool_blocks: int
) -> tuple[Action, ...]:
    """Aborts, preemptions, failures, resets and pressure at random early steps."""
    names = [r.name for r in requests]
    actions: list[Action] = []
    if Feature.ABORT in on:
        actions.append(Abort(random.randint(1, 8), random.choice(names)))
    if Feature.PREEMPTION in on:
        actions += [Preempt(random.randint(1, 9), random.choice(names)) for _ in range(2)]
    if Feature.FAILED_STEP in on:
        actions += [Fail(random.randint(0, 9), random.choice(names)) for _ in range(2)]
    if Feature.RESET in on:
        actions.append(ResetCache(random.randint(1, 9)))
    if Feature.PRESSURE in on:
        actions.append(
            Pressure(random.randint(1, 9), random.randint(1, pool_blocks - 1), random.randint(1, 3))
        )
    return tuple(actions)


def draw(seed: int, on: Features) -> Scenario:
    """The scenario of this seed and these features; equal arguments, equal scenario."""
    random = Random(f"{seed}:{','.join(sorted(on))}")
    geometry = draw_geometry(random, on)
    requests = draw_requests(random, on, geometry)
    return Scenario(
        name=f"drawn-{seed}",
        geometry=geometry,
        requests=requests,
        actions=draw_actions(random, on, requests, geometry.pool_blocks),
        policy=Policy.PRIORITY if Feature.PRIORITY in on else Policy.FCFS,
        encoder_budget_tokens=6 if Feature.ENCODER in on else None,
        max_steps=600,
    )

"""Draw a long scenario: waves of related requests over one set of documents, features at random.

The scenarios of the sweep have three to six requests, because each is judged by its laws and has to
be small. A differential needs no small run: here several waves of them share documents, pool and
steps, so that what an early wave leaves behind (keys, holes, queues) meets a late one. Unequal
grids are the rule, equal ones the exception."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from random import Random

from truehit.proofs.regress.targets import TARGETS
from truehit.proofs.sweep.draw import draw_actions, draw_geometry, draw_requests
from truehit.proofs.sweep.features import Feature, compatible
from truehit.reference.ruleset import DEFAULT, RULE_SETS
from truehit.spec.geometry import BlockDrop, Geometry, Group, Kind
from truehit.spec.geometry_limits import SMALLEST_REQUEST_TOKENS
from truehit.spec.scenario import (
    Abort,
    Action,
    After,
    AtStep,
    Fail,
    Policy,
    Preempt,
    Pressure,
    Request,
    ResetCache,
    Scenario,
)
from truehit.spec.tokens import Segment

MAX_STEPS = 3000
"""Ends a run in which a rule set of old makes somebody wait for ever."""


class Extra(StrEnum):
    """What a drawn run may switch on beyond the features of the sweep."""

    NO_STATE = "no state group"
    SHUFFLED = "shuffled groups"
    BUDGETS = "step budgets"
    LONG_OUTPUTS = "long outputs"
    TIGHT_POOL = "tight pool"
    CROWD = "crowd"
    SECOND_WINDOW = "second window"


Switches = frozenset[Feature | Extra]
SWITCHES: tuple[Feature | Extra, ...] = (*Feature, *Extra)

_NEEDS_STATE = frozenset({Feature.TWO_STATE_GROUPS, Feature.CHECKPOINTS})


@dataclass(frozen=True, slots=True)
class Drawn:
    """A scenario, what was switched on in it, and the rule set it runs under."""

    seed: int
    on: Switches
    rules: str
    scenario: Scenario


def draw_run(seed: int, rules: str | None) -> Drawn:
    """The run of this seed; equal arguments, equal run. Without a rule set: the default in every
    other run, the rest in rotation."""
    random = Random(f"differential:{seed}")
    on = draw_switches(random)
    return Drawn(seed, on, rules or _rules_of(seed), _scenario(random, seed, on))


def _rules_of(seed: int) -> str:
    others = [name for name in RULE_SETS if name != DEFAULT.name]
    return DEFAULT.name if seed % 2 == 0 else others[seed // 2 % len(others)]


def draw_switches(random: Random) -> Switches:
    """Between one and twelve compatible switches, and unequal blocks in seven runs of eight.

    Every fourth run begins with what some historic defect needs to show: five at once for two of
    them, which chance alone does not bring together in a thousand runs."""
    chosen: set[Feature | Extra] = {Feature.UNEQUAL_BLOCKS} if random.random() < 0.875 else set()
    if random.random() < 0.25:
        chosen |= random.choice(TARGETS).features
    most = random.randint(1, 12)
    for switch in random.sample(SWITCHES, len(SWITCHES)):
        if len(chosen) < most and switch is not Feature.UNEQUAL_BLOCKS:
            grown = frozenset({*chosen, switch})
            chosen = set(grown) if _compatible(grown) else chosen
    return frozenset(chosen)


def _compatible(on: Switches) -> bool:
    if Extra.NO_STATE in on and _NEEDS_STATE & on:
        return False
    if Extra.SECOND_WINDOW in on and Feature.FINE_HITS in on:
        return False
    return compatible(features_of(on))


def features_of(on: Switches) -> frozenset[Feature]:
    """The switches that the sweep knows."""
    return frozenset(switch for switch in on if isinstance(switch, Feature))


def _scenario(random: Random, seed: int, on: Switches) -> Scenario:
    features = features_of(on)
    geometry = _geometry(random, on)
    requests: list[Request] = []
    actions: list[Action] = []
    shift = 0
    for number in range(random.randint(2, 8)):
        wave = draw_requests(random, features, geometry)
        if Extra.LONG_OUTPUTS in on:
            wave = tuple(replace(r, output_tokens=random.choice((20, 40, 70))) for r in wave)
        wanted = draw_actions(random, features, wave, geometry.pool_blocks)
        requests += _shifted_requests(wave, f"w{number}.", shift)
        actions += _shifted_actions(wanted, f"w{number}.", shift)
        shift += 0 if Extra.CROWD in on else random.randint(0, 14)
    if Extra.TIGHT_POOL in on:
        most = max(geometry.request_blocks(r.total_tokens) for r in requests)
        geometry = replace(geometry, pool_blocks=1 + most + random.randint(0, most // 2))
        actions = [_within(action, geometry.pool_blocks) for action in actions]
    budgets: tuple[int, ...] = ()
    if Extra.BUDGETS in on:
        most = geometry.budget_tokens
        budgets = tuple(random.randint(1, most) for _ in range(random.randint(1, 60)))
    return Scenario(
        name=f"drawn-{seed}",
        geometry=geometry,
        requests=tuple(requests),
        actions=tuple(actions),
        budgets=budgets,
        policy=Policy.PRIORITY if Feature.PRIORITY in on else Policy.FCFS,
        encoder_budget_tokens=6 if Feature.ENCODER in on else None,
        max_steps=MAX_STEPS,
    )


def _geometry(random: Random, on: Switches) -> Geometry:
    """A geometry of the sweep, with what the extras ask for, in a pool that takes it."""
    geometry = draw_geometry(random, features_of(on))
    if Extra.NO_STATE in on:
        groups = tuple(g for g in geometry.groups if g.kind is not Kind.RECURRENT_STATE)
        geometry = replace(geometry, groups=groups)
    if Extra.SECOND_WINDOW in on:
        groups = (*geometry.groups, _second_window(random, geometry))
        geometry = replace(geometry, groups=groups)
    if Extra.SHUFFLED in on:
        groups = tuple(random.sample(geometry.groups, len(geometry.groups)))
        geometry = replace(geometry, groups=groups)
    if Extra.CROWD in on:
        geometry = replace(geometry, max_running=32, pool_blocks=3 * geometry.pool_blocks)
    least = 1 + geometry.request_blocks(SMALLEST_REQUEST_TOKENS)
    return replace(geometry, pool_blocks=max(geometry.pool_blocks, least))


def _second_window(random: Random, geometry: Geometry) -> Group:
    """Of a block that some group has: alignment and hash unit stay what they are."""
    block = random.choice(geometry.lookup_groups).block_tokens
    window = block * random.choice((1, 2)) + random.choice((0, 1, block - 1))
    drafted = isinstance(geometry.drop, BlockDrop) and random.random() < 0.5
    return Group("window-2", Kind.SLIDING_WINDOW, block, drafted, max(window, 2))


def _shifted_requests(wave: tuple[Request, ...], prefix: str, shift: int) -> Iterator[Request]:
    """The wave under its own names, later; the documents keep theirs and are shared."""
    outputs = {r.output_name: f"output:{prefix}{r.name}" for r in wave}
    for request in wave:
        arrival = request.arrival
        match arrival:
            case AtStep(step):
                arrival = AtStep(step + shift)
            case After(name, moment, delay):
                arrival = After(f"{prefix}{name}", moment, delay)
        segments = tuple(Segment(outputs.get(s.name, s.name), s.tokens) for s in request.segments)
        yield replace(request, name=f"{prefix}{request.name}", segments=segments, arrival=arrival)


def _shifted_actions(actions: tuple[Action, ...], prefix: str, shift: int) -> Iterator[Action]:
    for action in actions:
        match action:
            case Abort(step, name) | Preempt(step, name) | Fail(step, name):
                yield replace(action, step=step + shift, request=f"{prefix}{name}")
            case ResetCache(step) | Pressure(step):
                yield replace(action, step=step + shift)


def _within(action: Action, pool_blocks: int) -> Action:
    """A pressure that a smaller pool can give."""
    if isinstance(action, Pressure):
        return replace(action, blocks=min(action.blocks, pool_blocks - 1))
    return action

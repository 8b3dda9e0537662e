"""What may heal a symptom: repairs of the engine in memory, features of a scenario switched off.

Each toggle changes one thing. A symptom that vanishes under it depends on it; the first toggle of
the list that heals names the kind, so repairs come before features, and the narrow before the wide.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import gcd

from truehit.adapters.vllm.audit.draw import is_fine, start_up_blocks
from truehit.adapters.vllm.inside.driver.historic import ALIGN_ENDS
from truehit.adapters.vllm.inside.driver.repairs import STATE_GRID
from truehit.spec.geometry import Dense, Geometry, Kind, Lookahead, NoDrop
from truehit.spec.laws.base import ViolationClass
from truehit.spec.scenario import Policy, Scenario

AMPLE_BLOCKS = 600
WASTE = frozenset({ViolationClass.WASTE})
HARM = frozenset({ViolationClass.CORRUPT, ViolationClass.WASTE})
MENDS = {STATE_GRID: HARM, ALIGN_ENDS: HARM}
"""What the defects behind the repairs do; those that are not named lose hits and no more."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A scenario and the repairs it runs with."""

    scenario: Scenario
    repairs: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Toggle:
    """`name`: what it says of a finding it heals. `mends`: of a repair, the classes of harm that
    its defect does. `switch`: the engine's or the operator's own way to do the same, if there is
    one."""

    name: str
    apply: Callable[[Trial], Trial]
    is_repair: bool = False
    mends: frozenset[ViolationClass] = frozenset()
    switch: str | None = None


def _repaired(name: str) -> Callable[[Trial], Trial]:
    return lambda trial: replace(trial, repairs=trial.repairs | {name})


def _with(change: Callable[[Scenario], Scenario]) -> Callable[[Trial], Trial]:
    return lambda trial: replace(trial, scenario=change(trial.scenario))


def _geometry(change: Callable[[Geometry], Geometry]) -> Callable[[Trial], Trial]:
    return _with(lambda scenario: replace(scenario, geometry=change(scenario.geometry)))


def _no_drafts(scenario: Scenario) -> Scenario:
    groups = tuple(replace(group, drafted=False) for group in scenario.geometry.groups)
    geometry = replace(scenario.geometry, groups=groups, drafts=0, drop=NoDrop())
    requests = tuple(replace(request, accepted=()) for request in scenario.requests)
    return replace(scenario, geometry=geometry, requests=requests)


def _all_accepted(scenario: Scenario) -> Scenario:
    requests = tuple(replace(request, accepted=()) for request in scenario.requests)
    return replace(scenario, requests=requests)


def _one_module(geometry: Geometry) -> Geometry:
    """A drafter of one module reads one token ahead."""
    if isinstance(geometry.drop, Lookahead):
        return replace(geometry, drop=Lookahead(1))
    return geometry


def _own_unit(geometry: Geometry) -> Geometry:
    unit = gcd(*(group.block_tokens for group in geometry.lookup_groups))
    return replace(geometry, hash_unit_tokens=unit, fine_hits=is_fine(geometry.groups, unit))


def _equal_sizes(geometry: Geometry) -> Geometry:
    size = geometry.grid_tokens
    if size is None:
        return geometry
    groups = tuple(replace(group, block_tokens=size) for group in geometry.groups)
    return replace(geometry, groups=groups, hash_unit_tokens=size, fine_hits=False)


def _without(kind: Kind, keep: int) -> Callable[[Geometry], Geometry]:
    """Only so many groups of a kind stay."""

    def change(geometry: Geometry) -> Geometry:
        kept, groups = 0, []
        for group in geometry.groups:
            if group.kind is kind:
                kept += 1
                if kept > keep:
                    continue
            groups.append(group)
        return replace(geometry, groups=tuple(groups))

    return change


def _room_for_null(geometry: Geometry) -> Geometry:
    return replace(geometry, pool_blocks=geometry.pool_blocks + 1)


def _ample_pool(geometry: Geometry) -> Geometry:
    blocks = start_up_blocks(geometry) * geometry.max_running + AMPLE_BLOCKS
    return replace(geometry, pool_blocks=max(geometry.pool_blocks, blocks))


def _ample_budget(geometry: Geometry) -> Geometry:
    return replace(
        geometry,
        budget_tokens=geometry.max_model_tokens * geometry.max_running,
        long_prefill_threshold_tokens=None,
    )


FEATURES: tuple[Toggle, ...] = (
    Toggle("a pool one block too small", _geometry(_room_for_null)),
    Toggle("checkpoints", _geometry(lambda g: replace(g, checkpoint_alignment_tokens=None))),
    Toggle("a second state group", _geometry(_without(Kind.RECURRENT_STATE, 1))),
    Toggle("a circular buffer", _geometry(_without(Kind.CIRCULAR_BUFFER, 0))),
    Toggle("a sliding window", _geometry(_without(Kind.SLIDING_WINDOW, 0))),
    Toggle("a second attention group", _geometry(_without(Kind.FULL_ATTENTION, 1))),
    Toggle("a client that goes away", _with(lambda s: replace(s, actions=()))),
    Toggle("rejected drafts", _with(_all_accepted)),
    Toggle("the block drop", _geometry(lambda g: replace(g, drop=NoDrop()))),
    Toggle("several drafter modules", _geometry(_one_module)),
    Toggle("drafts", _with(_no_drafts), switch="no speculative decoding"),
    Toggle("a match unit of its own", _geometry(_own_unit), switch="no --prefix-match-unit"),
    Toggle(
        "a prefill threshold", _geometry(lambda g: replace(g, long_prefill_threshold_tokens=None))
    ),
    Toggle("priorities", _with(lambda s: replace(s, policy=Policy.FCFS))),
    Toggle(
        "admission without reservation", _geometry(lambda g: replace(g, reserve_full_sequence=True))
    ),
    Toggle("sparse retention", _geometry(lambda g: replace(g, retention=Dense()))),
    Toggle("unequal blocks", _geometry(_equal_sizes), switch="equal block sizes"),
    Toggle("a small pool", _geometry(_ample_pool), switch="more memory for the cache"),
    Toggle("several requests at once", _geometry(lambda g: replace(g, max_running=1))),
    Toggle("prefill in chunks", _geometry(_ample_budget), switch="a larger token budget"),
)


def toggles(repairs: tuple[str, ...]) -> tuple[Toggle, ...]:
    """All of them, those of the release's repairs first."""
    mended = (
        Toggle(name, _repaired(name), is_repair=True, mends=MENDS.get(name, WASTE))
        for name in repairs
    )
    return (*mended, *FEATURES)

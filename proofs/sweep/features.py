"""The named features of a drawn scenario, and the sets of them that cover every compatible pair."""

from enum import StrEnum
from itertools import combinations
from random import Random


class Feature(StrEnum):
    """What a drawn scenario may switch on."""

    UNEQUAL_BLOCKS = "unequal blocks"
    THREE_GROUPS = "three groups"
    TWO_STATE_GROUPS = "two state groups"
    SLIDING_WINDOW = "sliding window"
    CIRCULAR_BUFFER = "circular buffer"
    FINE_HITS = "fine hits"
    DRAFTS = "drafts"
    DROP_CLAMPED = "drop, clamped"
    DROP_MARGIN = "drop, margin"
    LOOKAHEAD = "lookahead keys"
    RETENTION_ZERO = "retention 0"
    RETENTION_INTERVAL = "retention interval"
    CHECKPOINTS = "checkpoints"
    STEPS_IN_FLIGHT = "steps in flight"
    NO_RESERVATION = "no reservation"
    TINY_POOL = "tiny pool"
    THRESHOLD = "threshold"
    SMALL_BUDGET = "small budget"
    SHARES = "shares by decree"
    ABORT = "abort"
    FAILED_STEP = "failed step"
    PREEMPTION = "preemption"
    SAME_STEP = "same-step arrival"
    PRIORITY = "priority"
    RESET = "reset"
    PRESSURE = "pressure"
    EXTERNAL = "external tokens"
    ENCODER = "encoder"
    SALTS = "salts"
    MULTI_TURN = "multi-turn"


_EXCLUSIVE = (
    {Feature.DROP_CLAMPED, Feature.DROP_MARGIN, Feature.LOOKAHEAD},
    {Feature.RETENTION_ZERO, Feature.RETENTION_INTERVAL},
    {Feature.SLIDING_WINDOW, Feature.FINE_HITS},
)


def compatible(features: frozenset[Feature]) -> bool:
    """At most one of each exclusive family."""
    return all(len(family & features) <= 1 for family in _EXCLUSIVE)


def all_pairs() -> set[frozenset[Feature]]:
    """Every compatible pair of features."""
    pairs = (frozenset(pair) for pair in combinations(Feature, 2))
    return {pair for pair in pairs if compatible(pair)}


def covering_sets(seed: int, size: int) -> list[frozenset[Feature]]:
    """Feature sets of at most `size` that together cover all compatible pairs (greedy, by seed)."""
    random = Random(seed)
    left = sorted(all_pairs(), key=sorted)
    random.shuffle(left)
    sets: list[frozenset[Feature]] = []
    remaining = set(left)
    while remaining:
        chosen = next(pair for pair in left if pair in remaining)
        for extra in random.sample(list(Feature), len(Feature)):
            grown = chosen | {extra}
            if len(grown) <= size and compatible(grown):
                chosen = grown
        sets.append(chosen)
        remaining -= {frozenset(pair) for pair in combinations(sorted(chosen), 2)}
    return sets

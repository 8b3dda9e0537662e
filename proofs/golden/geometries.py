"""The deployments of the threads: one attention group, one state group, sometimes a ring.

Drop: `MTP` is the threads' lookup, whose margin is cut at P-1. Pools are so large that nothing is
evicted.
"""

from dataclasses import replace
from math import gcd

from truehit.reference.ruleset import RULE_SETS, RuleSet
from truehit.spec.geometry import (
    BlockDrop,
    Drop,
    DropCap,
    Geometry,
    Group,
    Kind,
    NoDrop,
    ReachOnly,
)

MTP = BlockDrop(DropCap.CLAMPED)
NO_DROP = NoDrop()
POOL_BLOCKS = 1024


def hybrid(block: int, attention: int | None = None, drop: Drop = NO_DROP) -> Geometry:
    """Attention (drafted, if there is a block drop) and state, coarse hits, dense retention."""
    pages = attention or block
    drafted = isinstance(drop, BlockDrop)
    return Geometry(
        groups=(
            Group("attention", Kind.FULL_ATTENTION, pages, drafted),
            Group("state", Kind.RECURRENT_STATE, block),
        ),
        hash_unit_tokens=gcd(block, pages),
        drop=drop,
        pool_blocks=POOL_BLOCKS,
    )


def with_ring(geometry: Geometry, block: int) -> Geometry:
    """The same with a circular buffer, which takes part in no hit but sets the minimum block."""
    return replace(geometry, groups=(*geometry.groups, Group("ring", Kind.CIRCULAR_BUFFER, block)))


def with_state_groups(geometry: Geometry, count: int) -> Geometry:
    """The same with that many state groups."""
    block = geometry.state_groups[0].block_tokens
    more = tuple(Group(f"state{i + 1}", Kind.RECURRENT_STATE, block) for i in range(1, count))
    return replace(geometry, groups=(*geometry.groups, *more))


def sparse(geometry: Geometry) -> Geometry:
    """The same at retention 0."""
    return replace(geometry, retention=ReachOnly())


def checkpointing() -> Geometry:
    """The inferred deployment of S0: block 2176, one draft, checkpoints on multiples of 64."""
    return replace(
        hybrid(2176, drop=MTP),
        drafts=1,
        checkpoint_alignment_tokens=64,
        retention=ReachOnly(),
        pool_blocks=128,
    )


def rules(name: str) -> RuleSet:
    """The rule set of this name."""
    return RULE_SETS[name]

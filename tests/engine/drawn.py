"""Strategies: geometries with every feature of serving on or off, small enough to fill a pool."""

from dataclasses import replace
from math import lcm

from hypothesis import strategies as st

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
from truehit.spec.geometry_checks import GeometryError, check


def is_possible(geometry: Geometry) -> bool:
    """A tiny pool does not take every mix of groups."""
    try:
        check(geometry)
    except GeometryError:
        return False
    return True


@st.composite
def _groups(draw: st.DrawFn, grid: int, fine: bool) -> tuple[Group, ...]:
    states = draw(st.integers(0, 2))
    groups = [Group(f"state-{n}", Kind.RECURRENT_STATE, grid) for n in range(states)]
    for n in range(draw(st.integers(0 if states else 1, 2))):
        block = draw(st.sampled_from((1, 2, 3, 4, 6)))
        groups.append(Group(f"full-{n}", Kind.FULL_ATTENTION, block, draw(st.booleans())))
    if not fine and draw(st.booleans()):
        window, block = draw(st.integers(2, 13)), draw(st.sampled_from((1, 2, 4)))
        drafted = draw(st.booleans())
        groups.append(Group("window", Kind.SLIDING_WINDOW, block, drafted, window_tokens=window))
    if draw(st.booleans()):
        groups.append(Group("ring", Kind.CIRCULAR_BUFFER, draw(st.integers(1, 5))))
    return tuple(draw(st.permutations(groups)))


@st.composite
def geometries(draw: st.DrawFn, pools: tuple[int, ...] = (60, 90, 150)) -> Geometry:
    """Any geometry that the checks accept, with requests of up to 120 tokens."""
    grid, fine = draw(st.sampled_from((2, 4, 6, 8))), draw(st.booleans())
    plain = Geometry(draw(_groups(grid, fine)), 1, fine_hits=fine)
    unit = draw(st.sampled_from([n for n in range(1, 7) if plain.block_gcd_tokens % n == 0]))
    sized = replace(plain, hash_unit_tokens=unit)
    drafts = draw(st.integers(0, min(3, grid - 1)))
    exporting = bool(sized.state_groups) and draw(st.booleans())
    made = replace(
        sized,
        drafts=drafts,
        drop=draw(_drops(sized)),
        retention=draw(_retentions(sized)),
        budget_tokens=draw(st.integers(drafts + 1, 40)),
        max_model_tokens=120,
        pool_blocks=draw(st.sampled_from(pools)),
        checkpoint_alignment_tokens=draw(st.integers(1, grid)) if exporting else None,
        steps_in_flight=draw(st.integers(1, 3)),
        reserve_full_sequence=draw(st.booleans()),
        max_running=draw(st.integers(1, 4)),
    )
    return made if is_possible(made) else replace(made, pool_blocks=400)


def _drops(geometry: Geometry) -> st.SearchStrategy[Drop]:
    choices: list[st.SearchStrategy[Drop]] = [
        st.just(NoDrop()),
        st.builds(Lookahead, st.integers(1, 5)),
    ]
    if any(group.drafted for group in geometry.attention_groups):
        choices.append(st.builds(BlockDrop, st.sampled_from(DropCap)))
    return st.one_of(choices)


def _retentions(geometry: Geometry) -> st.SearchStrategy[Retention]:
    base = lcm(geometry.alignment_tokens, geometry.grid_tokens or 1)
    intervals = st.builds(Interval, st.integers(1, 3).map(lambda n: n * base))
    return st.one_of(st.just(Dense()), st.just(ReachOnly()), intervals)

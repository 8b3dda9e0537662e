"""The formulas of `reach` give the numbers on record, and agree with a search over positions.

Ids like G002-14 are entries of the golden numbers.
"""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truehit.spec.formulas import (
    MatchQuery,
    extend,
    group_offer,
    legal,
    match_tokens,
    offer,
    smallest_hit_prompt,
)
from truehit.spec.geometry import (
    BlockDrop,
    Drop,
    DropCap,
    Geometry,
    Group,
    Kind,
    Lookahead,
    NoDrop,
)


def equal_blocks(block: int, drop: DropCap | None = None) -> Geometry:
    """One attention group and one state group with the same block."""
    full = Group("full", Kind.FULL_ATTENTION, block, drafted=True)
    state = Group("state", Kind.RECURRENT_STATE, block)
    return Geometry(
        groups=(full, state),
        hash_unit_tokens=block,
        drop=NoDrop() if drop is None else BlockDrop(drop),
    )


def unequal_blocks(attention: int, state: int, drop: DropCap | None = None) -> Geometry:
    geometry = equal_blocks(state, drop)
    full = replace(geometry.groups[0], block_tokens=attention)
    return replace(geometry, groups=(full, geometry.groups[1]), hash_unit_tokens=1)


CLAMPED, MARGIN = DropCap.CLAMPED, DropCap.MARGIN

LEGAL = [
    ("G001-05 production repeat", equal_blocks(1648), 16764, 16480),
    ("G001-09 first length", equal_blocks(1568), 1568, 0),
    ("G001-09 one more", equal_blocks(1568), 1569, 1568),
    ("G001-09 exact multiple", equal_blocks(1568), 3136, 1568),
    ("G001-09 15680", equal_blocks(1568), 15680, 14112),
    ("G001-09 262144", equal_blocks(1568), 262144, 261856),
    ("G001-14 B 3259", equal_blocks(1600, CLAMPED), 3259, 1600),
    ("G001-14 B 3160", equal_blocks(1600, CLAMPED), 3160, 0),
    ("G002-01 7292", equal_blocks(1600, CLAMPED), 7292, 4800),
    ("G002-03 6400", equal_blocks(1600, CLAMPED), 6400, 3200),
    ("G002-06 7100", equal_blocks(1600, CLAMPED), 7100, 4800),
    ("margin 6400", equal_blocks(1600, MARGIN), 6400, 4800),
    ("G002-13 7292", equal_blocks(1648, CLAMPED), 7292, 4944),
    ("G002-13 6592", equal_blocks(1648, CLAMPED), 6592, 3296),
    ("G002-14 no drop", equal_blocks(1600), 6400, 4800),
    ("G002-20 6400", replace(equal_blocks(1600), drop=Lookahead(1)), 6400, 4800),
    ("G002-20 7100", replace(equal_blocks(1600), drop=Lookahead(1)), 7100, 6400),
    ("G002-23 9000", equal_blocks(1600, CLAMPED), 9000, 6400),
    ("G003-01 8901", equal_blocks(2304, CLAMPED), 8901, 4608),
    ("G003-02 127", equal_blocks(32, CLAMPED), 127, 64),
    ("G003-03 alignment above the state block", unequal_blocks(32, 16, CLAMPED), 127, 64),
    ("G003-04 drop smaller than the alignment", unequal_blocks(16, 1600, CLAMPED), 4700, 3200),
    (
        "states alone",
        replace(equal_blocks(1600), groups=equal_blocks(1600).state_groups),
        6400,
        4800,
    ),
    ("G004-10 resend 4200", equal_blocks(560, CLAMPED), 4200, 3360),
    ("G004-10 4500", equal_blocks(560, CLAMPED), 4500, 3920),
]


@pytest.mark.parametrize(("name", "geometry", "prompt", "hit"), LEGAL, ids=[c[0] for c in LEGAL])
def test_an_unchanged_prompt(name: str, geometry: Geometry, prompt: int, hit: int) -> None:
    assert legal(geometry, prompt) == hit


SHARED = [
    ("G002-08 sibling A", equal_blocks(1600, CLAMPED), 3400, 6400, 1600),
    ("G002-08 sibling B", equal_blocks(1600, CLAMPED), 5000, 6400, 3200),
    ("G002-15 544", equal_blocks(544), 2000, 4278, 1632),
    ("G002-15 544 drop", equal_blocks(544, CLAMPED), 2000, 4278, 1088),
    ("G002-15 1600", equal_blocks(1600), 2000, 4278, 1600),
    ("G002-15 1600 drop", equal_blocks(1600, CLAMPED), 2000, 4278, 0),
    ("G002-15 2128", equal_blocks(2128), 2000, 4278, 0),
    ("G002-16 700", equal_blocks(544), 700, 4000, 544),
    ("G002-16 700 drop", equal_blocks(544, CLAMPED), 700, 4000, 0),
]


@pytest.mark.parametrize(
    ("name", "geometry", "shared", "prompt", "hit"), SHARED, ids=[c[0] for c in SHARED]
)
def test_a_sibling(name: str, geometry: Geometry, shared: int, prompt: int, hit: int) -> None:
    assert offer(geometry, shared, prompt - 1) == hit


@pytest.mark.parametrize(
    ("query", "match", "left"),
    [
        (MatchQuery(6400, 6399, 1600, 0, margin=False, lookahead=0), 4800, 4800),
        (MatchQuery(6400, 6399, 1600, 1600, margin=False, lookahead=0), 4800, 3200),
        (MatchQuery(6400, 6399, 1600, 1600, margin=True, lookahead=0), 6400, 4800),
        (MatchQuery(6400, 9999, 1600, 0, margin=False, lookahead=1), 4800, 4800),
        (MatchQuery(6402, 6399, 16, 0, margin=False, lookahead=3), 6384, 6384),
        (MatchQuery(6420, 6399, 16, 0, margin=False, lookahead=3), 6384, 6384),
        (MatchQuery(2, 9, 1, 0, margin=False, lookahead=3), 0, 0),
        (MatchQuery(15, 9999, 16, 16, margin=True, lookahead=0), 0, 0),
    ],
)
def test_one_group(query: MatchQuery, match: int, left: int) -> None:
    assert (match_tokens(query), group_offer(query)) == (match, left)


def test_unequal_blocks_on_a_fine_unit() -> None:
    """G001-03: attention 816, state 1648, unit 16."""
    geometry = replace(unequal_blocks(816, 1648), hash_unit_tokens=16, fine_hits=True)
    assert legal(geometry, 8240) == 8224
    assert extend(geometry, 8240) == 8240
    assert smallest_hit_prompt(geometry) == 17


def test_unequal_blocks_without_fine_hits_never_meet() -> None:
    """G001-01: 816 and 1648 meet first at 84048."""
    geometry = unequal_blocks(816, 1648)
    assert geometry.lcm_tokens == 84048
    assert legal(geometry, 84048) == 0
    assert legal(geometry, 84049) == 84048


def test_a_longer_prompt_reaches_the_aligned_end() -> None:
    assert extend(equal_blocks(1600), 6400) == 6400
    assert extend(equal_blocks(1600, CLAMPED), 6400) == 4800
    assert extend(replace(equal_blocks(1600), drop=Lookahead(1)), 6400) == 4800


def test_the_smallest_prompt_that_can_hit() -> None:
    """G001-13: with the drop, twice the block and one more."""
    assert smallest_hit_prompt(equal_blocks(1600)) == 1601
    assert smallest_hit_prompt(equal_blocks(1600, CLAMPED)) == 3201
    assert smallest_hit_prompt(equal_blocks(1600, MARGIN)) == 3200
    assert smallest_hit_prompt(replace(equal_blocks(1600), max_model_tokens=1600)) is None


def findable(geometry: Geometry, shared: int, limit: int, position: int) -> bool:
    """In words: the position is aligned and below the limit, its own key lies within the shared
    tokens, and every attention group still has it after giving back its drop, from pages whose keys
    lie within the shared tokens."""
    if position % geometry.alignment_tokens or position > limit:
        return False
    if position + geometry.lookahead_tokens > shared:
        return False
    for group in geometry.attention_groups:
        unit, drop = geometry.lookup_unit_tokens(group), geometry.drop_tokens(group)
        match geometry.drop:
            case BlockDrop(DropCap.MARGIN) if drop:
                ceiling = limit + drop
            case _:
                ceiling = limit
        matches = [
            end
            for end in range(0, shared + 1, unit)
            if end + geometry.lookahead_tokens <= shared and end <= ceiling
        ]
        if not any(end - drop >= position for end in matches):
            return False
    return True


@st.composite
def geometries(draw: st.DrawFn) -> Geometry:
    blocks = draw(st.sampled_from([(), (1,), (2,), (3,), (4,), (2, 3), (4, 6)]))
    bits = draw(st.lists(st.booleans(), min_size=2, max_size=2))
    attention = tuple(
        Group(f"full-{block}", Kind.FULL_ATTENTION, block, drafted=bit)
        for block, bit in zip(blocks, bits, strict=False)
    )
    state = Group("state", Kind.RECURRENT_STATE, draw(st.sampled_from([2, 3, 4, 6])))
    drops: list[Drop] = [
        NoDrop(),
        BlockDrop(CLAMPED),
        BlockDrop(MARGIN),
        Lookahead(1),
        Lookahead(3),
    ]
    return Geometry(
        groups=(*attention, state),
        hash_unit_tokens=1,
        fine_hits=draw(st.booleans()),
        drop=draw(st.sampled_from(drops)),
    )


@given(geometries(), st.integers(0, 40), st.integers(0, 40))
def test_the_offer_is_the_largest_findable_position(
    geometry: Geometry, shared: int, limit: int
) -> None:
    positions = range(1, 50)
    largest = max((p for p in positions if findable(geometry, shared, limit, p)), default=0)
    assert offer(geometry, shared, limit) == largest


@given(geometries(), st.integers(1, 40))
def test_a_longer_prompt_never_hits_less(geometry: Geometry, prompt: int) -> None:
    assert legal(geometry, prompt) <= legal(geometry, prompt + 1)
    assert legal(geometry, prompt) <= extend(geometry, prompt)
    assert legal(geometry, prompt) < prompt

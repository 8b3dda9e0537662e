"""The offer that is proved about is the offer of a geometry."""

from math import gcd

from hypothesis import given, settings
from hypothesis import strategies as st

from truehit.spec.formulas import offer
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
from truehit.spec.predicates.lookup import offer_of

DROPS: st.SearchStrategy[Drop] = st.one_of(
    st.just(NoDrop()),
    st.sampled_from([BlockDrop(DropCap.CLAMPED), BlockDrop(DropCap.MARGIN)]),
    st.integers(1, 4).map(Lookahead),
)


@settings(max_examples=400, derandomize=True, deadline=None)
@given(
    blocks=st.tuples(st.integers(1, 6), st.integers(1, 6), st.integers(1, 6)),
    drafted=st.tuples(st.booleans(), st.booleans()),
    fine=st.booleans(),
    drop=DROPS,
    shared=st.integers(0, 80),
    limit=st.integers(0, 80),
)
def test_offer_of_two_groups_is_the_offer_of_the_geometry(
    blocks: tuple[int, int, int],
    drafted: tuple[bool, bool],
    fine: bool,
    drop: Drop,
    shared: int,
    limit: int,
) -> None:
    one = Group("one", Kind.FULL_ATTENTION, blocks[0], drafted[0])
    two = Group("two", Kind.FULL_ATTENTION, blocks[1], drafted[1])
    state = Group("state", Kind.RECURRENT_STATE, blocks[2])
    geometry = Geometry((one, two, state), gcd(*blocks), fine, drop=drop)
    assert offer(geometry, shared, limit) == offer_of(
        shared,
        limit,
        geometry.alignment_tokens,
        geometry.lookahead_tokens,
        drop == BlockDrop(DropCap.MARGIN),
        geometry.lookup_unit_tokens(one),
        geometry.drop_tokens(one),
        geometry.lookup_unit_tokens(two),
        geometry.drop_tokens(two),
    )

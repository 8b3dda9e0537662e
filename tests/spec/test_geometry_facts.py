"""The derived sheet agrees with the geometry it is derived from."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from truehit.spec.formulas import legal
from truehit.spec.geometry import BlockDrop, DropCap, Geometry, Group, Kind
from truehit.spec.geometry_checks import check
from truehit.spec.geometry_facts import facts, largest_servable_tokens

FULL = Group("full", Kind.FULL_ATTENTION, 1648, drafted=True)
DRAFT = Group("draft", Kind.FULL_ATTENTION, 816)
STATE = Group("state", Kind.RECURRENT_STATE, 1648)
RING = Group("ring", Kind.CIRCULAR_BUFFER, 8)
UNEQUAL = Geometry(groups=(FULL, DRAFT, STATE, RING), hash_unit_tokens=16)


def test_the_numbers_of_unequal_blocks() -> None:
    sheet = facts(UNEQUAL)
    assert sheet.grid_tokens == 1648
    assert sheet.lcm_tokens == sheet.alignment_tokens == sheet.segment_tokens == 84048
    assert sheet.minimum_block_tokens == 8
    assert sheet.segment_blocks == 51 + 103
    assert sheet.grids_per_chunk == 8192 // 1648
    assert sheet.smallest_hit_prompt_tokens == 84049
    assert sheet.retention_period_tokens == 84048
    assert sheet.hash_unit_tokens == 16


def test_fine_hits_need_much_less() -> None:
    sheet = facts(replace(UNEQUAL, fine_hits=True))
    assert sheet.alignment_tokens == 16
    assert sheet.smallest_hit_prompt_tokens == 17
    assert sheet.retention_period_tokens == 1648


def test_no_prompt_can_hit_within_the_maximum_length() -> None:
    assert facts(replace(UNEQUAL, max_model_tokens=84048)).smallest_hit_prompt_tokens is None


def test_without_a_state_group_there_is_no_grid() -> None:
    sheet = facts(Geometry(groups=(FULL,), hash_unit_tokens=16))
    assert sheet.grid_tokens is None
    assert sheet.grids_per_chunk is None
    assert sheet.fixed_blocks == 0


def test_the_largest_request_is_the_last_that_fits_the_pool() -> None:
    geometry = Geometry(groups=(FULL, STATE), hash_unit_tokens=1648, pool_blocks=10)
    assert largest_servable_tokens(geometry) == 7 * 1648
    assert largest_servable_tokens(replace(geometry, drafts=2)) == 5 * 1648 - 2
    assert largest_servable_tokens(replace(geometry, pool_blocks=4096, max_model_tokens=99)) == 99


@st.composite
def geometries(draw: st.DrawFn) -> Geometry:
    grid = draw(st.integers(1, 12))
    fine = draw(st.booleans())
    drafts = draw(st.integers(0, grid - 1))
    members = [
        Group("full", Kind.FULL_ATTENTION, draw(st.integers(1, 12)), drafted=True),
        Group("state", Kind.RECURRENT_STATE, grid),
    ]
    if draw(st.booleans()):
        members.append(Group("ring", Kind.CIRCULAR_BUFFER, draw(st.integers(1, 4))))
    if draw(st.booleans()):
        block = 1 if fine else draw(st.integers(1, 12))
        members.append(Group("window", Kind.SLIDING_WINDOW, block, window_tokens=7))
    geometry = Geometry(
        groups=tuple(members),
        hash_unit_tokens=1,
        fine_hits=fine,
        drafts=drafts,
        budget_tokens=drafts + draw(st.integers(1, 20)),
        checkpoint_alignment_tokens=draw(st.none() | st.integers(1, grid)),
        steps_in_flight=draw(st.integers(1, 3)),
        max_model_tokens=draw(st.integers(2, 500)),
        pool_blocks=draw(st.integers(80, 300)),
    )
    return replace(geometry, drop=BlockDrop(DropCap.MARGIN)) if draw(st.booleans()) else geometry


@given(geometries())
def test_the_sheet_agrees_with_the_geometry(geometry: Geometry) -> None:
    check(geometry)
    sheet = facts(geometry)
    largest = sheet.largest_servable_tokens
    assert 1 + geometry.request_blocks(largest) <= geometry.pool_blocks
    if largest < geometry.max_model_tokens:
        assert 1 + geometry.request_blocks(largest + 1) > geometry.pool_blocks
    # Long enough that every sliding window holds all it ever holds.
    segments = 1_000_000
    whole = segments * sheet.segment_tokens - geometry.drafts * geometry.steps_in_flight
    assert geometry.request_blocks(whole) == sheet.fixed_blocks + segments * sheet.segment_blocks
    grown = geometry.request_blocks(whole + sheet.segment_tokens) - geometry.request_blocks(whole)
    assert grown == sheet.segment_blocks
    smallest = sheet.smallest_hit_prompt_tokens
    if smallest is None:
        assert legal(geometry, geometry.max_model_tokens) == 0
    else:
        assert legal(geometry, smallest) > 0 == legal(geometry, smallest - 1)

"""The default splitter, exhaustively in a small scope, against its properties in plain Python.

Prefills of 8 tokens and state blocks of 2, 3 and 4 have aligned and unaligned starts, ends and kept
positions in every order; 16 tokens add no comparison that 8 do not have."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import product

import pytest

from truehit.reference import decide
from truehit.reference.rules.split import SplitQuery, checkpoint, chunk_end
from truehit.reference.ruleset import RULE_SETS

PREFILL = 8
GRIDS = (2, 3, 4)


def query(start: int, offered: int, grid: int) -> SplitQuery:
    """Nothing kept, no checkpoints."""
    return SplitQuery(
        start=start,
        offered=offered,
        prefill_end=PREFILL,
        prompt=PREFILL,
        grid=grid,
        hash_unit=1,
        replay=0,
        extend=0,
        junction=0,
        period=0,
        period_stop=0,
        checkpoint_alignment=0,
        largest_chunk=64,
        fine=False,
        dropping=False,
        backing_off=False,
        boundary=0,
        margin=0,
    )


def queries(grid: int) -> Iterator[SplitQuery]:
    """Every start, offer and named position, some junctions, three periods, three alignments."""
    positions = range(PREFILL + 1)
    offers = range(1, PREFILL + 1)
    for start, offered, replay in product(range(PREFILL), offers, positions):
        plain = query(start, offered, grid)
        for junction, last, period, alignment in product(
            (0, 2, 3, 5), (False, True), (0, grid, 2 * grid), (0, 1, grid)
        ):
            yield replace(
                plain,
                replay=replay,
                junction=junction,
                extend=PREFILL if last else replay,
                period=period,
                period_stop=(start // period + 1) * period if period else 0,
                checkpoint_alignment=alignment,
            )


@cache
def cuts(grid: int) -> list[tuple[SplitQuery, int, int]]:
    """Each query, where its chunk ends and what it exports."""
    ends = ((asked, chunk_end(asked)) for asked in queries(grid))
    return [(asked, end, checkpoint(asked, end)) for asked, end in ends]


def kept(asked: SplitQuery) -> set[int]:
    """Kept positions of the prefill, 0 excluded."""
    named = {asked.replay, asked.extend, asked.junction}
    if asked.period:
        named |= set(range(asked.period, PREFILL + 1, asked.period))
    return named - {0}


@pytest.mark.parametrize("grid", GRIDS)
def test_one_token_offered_is_one_token_scheduled_and_never_more_than_offered(grid: int) -> None:
    for asked, end, _ in cuts(grid):
        assert asked.start < end <= min(asked.start + asked.offered, PREFILL), asked


@pytest.mark.parametrize("grid", GRIDS)
def test_a_start_inside_a_block_does_not_pass_its_end(grid: int) -> None:
    for asked, end, _ in cuts(grid):
        assert asked.start % grid == 0 or end <= (asked.start // grid + 1) * grid, asked


@pytest.mark.parametrize("grid", GRIDS)
def test_an_end_off_the_grid_is_kept_or_the_prefills_or_inside_the_first_block(grid: int) -> None:
    for asked, end, _ in cuts(grid):
        if end % grid and end != PREFILL and end not in kept(asked):
            assert end < (asked.start // grid + 1) * grid, asked


@pytest.mark.parametrize("grid", GRIDS)
def test_no_kept_position_is_passed_but_the_one_that_is_exported(grid: int) -> None:
    for asked, end, exported in cuts(grid):
        passed = {position for position in kept(asked) if asked.start < position < end}
        assert passed == ({exported} if exported else set()), asked


@pytest.mark.parametrize("grid", GRIDS)
def test_a_checkpoint_starts_on_the_grid_and_its_column_is_new(grid: int) -> None:
    exporting = [cut for cut in cuts(grid) if cut[2]]
    assert exporting
    for asked, end, exported in exporting:
        assert asked.start % grid == 0, asked
        assert (exported - asked.start) % asked.checkpoint_alignment == 0, asked
        assert (end - 1) // grid - 1 >= asked.start // grid, asked


@pytest.mark.parametrize("grid", GRIDS)
def test_a_chunk_from_the_grid_wastes_less_than_one_block_of_its_offer(grid: int) -> None:
    for asked, end, _ in cuts(grid):
        if asked.start % grid == 0 and end != PREFILL and end not in kept(asked):
            assert end > asked.start + asked.offered - grid, asked


def test_after_the_prefill_whatever_is_offered_is_scheduled() -> None:
    for grid, start, offered in product(GRIDS, range(PREFILL, 14), range(1, 5)):
        asked = query(start, offered, grid)
        assert chunk_end(asked) == start + offered
        assert checkpoint(asked, start + offered) == 0


@pytest.mark.parametrize(
    ("offers", "carve"),
    [
        ((8192,) * 9, (1600, 3200, 4800, 6400, 7292)),
        ((1000,) * 9, (1000, 1600, 2600, 3200, 4200, 4800, 5800, 6400, 7292)),
        ((1, 1599, 2000), (1, 1600, 3200)),
    ],
)
def test_carve_of_a_dense_prompt(offers: tuple[int, ...], carve: tuple[int, ...]) -> None:
    """Block 1600: whole blocks when they fit, an advance inside the block when they do not."""
    position, ends = 0, []
    for offered in offers:
        if position == 7292:
            break
        asked = replace(
            query(position, offered, 1600),
            prefill_end=7292,
            prompt=7292,
            period=1600,
            period_stop=(position // 1600 + 1) * 1600,
        )
        position = chunk_end(asked)
        ends.append(position)
    assert tuple(ends) == carve


@pytest.mark.parametrize(
    ("name", "asked", "end"),
    [
        # Below the last cache position ends go down to the grid ...
        ("aligned-below-last", query(0, 5, 3), 3),
        # ... past it any end is accepted: a start inside a block runs over it.
        ("aligned-below-last", replace(query(1, 5, 3), prompt=2), 6),
        # An aligned start passes the kept position 2.
        ("stop-from-misaligned", replace(query(0, 8, 2), replay=2), 8),
        # A share below one block is floored to nothing, for ever.
        ("v-hard", query(0, 2, 3), 0),
        # Stops follow the drafts' back-off although something between them is kept.
        ("one-block-back-off", replace(query(0, 8, 2), replay=4, backing_off=True), 6),
    ],
)
def test_released_splitters_break_one_of_these_properties(
    name: str, asked: SplitQuery, end: int
) -> None:
    assert decide.chunk(RULE_SETS[name], asked)[0] == end

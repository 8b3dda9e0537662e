"""Whole prefills by execution: what is proved of one chunk, seen over all chunks of a prefill."""

from hypothesis import given, settings
from hypothesis import strategies as st

from truehit.reference.rules.split import (
    SplitQuery,
    checkpoint,
    chunk_end,
    period_stop_after,
)
from truehit.spec.predicates import split as goals
from truehit.spec.predicates.keep import kept_at
from truehit.spec.units import ceil_div

GRIDS = st.integers(1, 6)


def query(
    start: int,
    offered: int,
    prompt: int,
    grid: int,
    kept: tuple[int, int, int],
    period: int,
    every: int,
) -> SplitQuery:
    replay, extend, junction = kept
    return SplitQuery(
        start=start,
        offered=min(offered, prompt - start),
        prefill_end=prompt,
        prompt=prompt,
        grid=grid,
        hash_unit=1,
        replay=replay,
        extend=extend,
        junction=junction,
        period=period,
        period_stop=period_stop_after(start, period) if period else 0,
        checkpoint_alignment=every,
        largest_chunk=64,
        fine=False,
        dropping=False,
        backing_off=False,
        boundary=0,
        margin=0,
    )


@settings(max_examples=300, derandomize=True, deadline=None)
@given(
    prompt=st.integers(1, 60),
    grid=GRIDS,
    kept=st.tuples(st.integers(0, 60), st.integers(0, 60), st.integers(0, 60)),
    blocks=st.integers(0, 3),
    every=st.integers(0, 4),
    offers=st.lists(st.integers(1, 20), min_size=60, max_size=60),
)
def test_every_kept_position_is_an_end_or_an_export(
    prompt: int,
    grid: int,
    kept: tuple[int, int, int],
    blocks: int,
    every: int,
    offers: list[int],
) -> None:
    start, materialised = 0, set[int]()
    period = blocks * grid
    for offered in offers:
        if start == prompt:
            break
        q = query(start, offered, prompt, grid, kept, period, every)
        end = chunk_end(q)
        exported = checkpoint(q, end)
        assert goals.progresses(start, end) and goals.stays_in_block(start, grid, end)
        assert goals.suits_table(start, end, exported, grid)
        materialised |= {end, exported}
        start = end
    assert start == prompt
    missed = [
        p for p in range(1, prompt + 1) if kept_at(p, *kept, period) and p not in materialised
    ]
    assert missed == []


@settings(max_examples=300, derandomize=True, deadline=None)
@given(blocks=st.integers(1, 20), rest=st.integers(0, 5), grid=GRIDS, extra=st.integers(0, 9))
def test_dense_prefill_has_no_more_chunks_than_blocks(
    blocks: int, rest: int, grid: int, extra: int
) -> None:
    prompt = blocks * grid + rest % grid
    start = chunks = 0
    while start < prompt:
        q = query(start, grid + extra, prompt, grid, (0, 0, 0), grid, 0)
        start, chunks = chunk_end(q), chunks + 1
    assert chunks <= ceil_div(prompt, grid)

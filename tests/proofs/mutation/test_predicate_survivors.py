"""Every part of a predicate matters: for each fault planted in one, a case on which it answers
otherwise. Controls refute an obligation as a whole, and seldom each part of its goal by itself."""

from collections.abc import Callable

import pytest

from truehit.spec.predicates import admit, decode, keep, lookup, plan, seed, split, table, visible

CASES = (
    (split.within_offer, (1, 0, 0, 0), False),
    (split.within_offer, (0, 0, 1, 1), False),
    (split.progresses, (0, 0), False),
    (split.ends_well, (0, 0, 2, 0, 0, 0, 0, 3), False),
    (split.ends_well, (0, 0, 2, 0, 0, 0, 0, 1), True),
    (split.stays_in_block, (1, 2, 3), False),
    (split.passes_nothing_kept, (0, 2, 0, 1, 0, 0, 1, 0), False),
    (split.passes_nothing_kept, (0, 2, 1, 1, 0, 0, 1, 0), True),
    (split.exports_kept, (0, 2, 1, 1, 0, 0, 0, 0), False),
    (split.exports_kept, (0, 2, 1, 2, 0, 0, 1, 0), False),
    (split.suits_table, (0, 2, 1, 2), False),
    (split.suits_table, (1, 3, 2, 2), False),
    (split.uses_offer, (0, 1, 1, 1, 0, False), False),
    (split.block_each_chunk, (0, 1, 1, 0), False),
    (split.next_multiple, (0, 1, 1, 2), False),
    (keep.kept_at, (1, 0, 1, 0, 0), True),
    (keep.kept_at, (1, 0, 0, 0, 1), True),
    (keep.keeps_landing, (1, 0, 0), False),
    (keep.keeps_aligned, (1, 0, 2), False),
    (keep.keeps_inside, (0, 1, 0), False),
    (keep.keeps_near, (0, 0, 0, False), False),
    (plan.stays_or_hole, (0, 0, 0, 0, 1, 0), False),
    (plan.stays_or_hole, (0, -1, 1, 0, 0, 0), False),
    (plan.sources_distinct, (0, 0), False),
    (plan.owns_written, (0, -1, 0, 0, 0, 0, 0), False),
    (plan.exports_into_own, (0, 0, 1, 0, 1, 1), False),
    (plan.counts_fresh, (0, 0, 0), False),
    (plan.uses_fresh, (0, 0, 0, 1, 1), False),
    (plan.takes_few, (0, 0, 0, 2), False),
    (plan.ends_with_scratch, (0, 0, 0, 0), False),
    (plan.holds_few, (0, 0, 0, 0, 0, 1, 0), False),
    (table.column_holds, (0, 1, 1, True, 0, False), False),
    (table.column_holds, (0, 2, 1, True, 0, False), False),
    (table.files_truly, (0, 1, 1, True, 0, False), False),
    (table.files_truly, (0, 1, 1, True, 0, True), True),
    (lookup.lands_on, (0, 1), False),
    (lookup.recomputes_one, (0, 0), False),
    (lookup.is_candidate, (1, 1, 2), False),
    (lookup.is_candidate, (1, 0, 1), False),
    (lookup.partial_key, (1, 1), 2),
    (lookup.keys_reached, (1, 1, 2), False),
    (lookup.lands_no_lower, (1, 0), False),
    (admit.promises_kept, (0, 1), False),
    (admit.first_step_fits, (1, 0), False),
    (admit.lets_in, (False,), False),
    (admit.later_step_fits, (1, 0, 0), False),
    (admit.pages_cover, (1, 0, 1, 0), False),
    (admit.pages_tight, (0, 0, 1, 1), False),
    (visible.written_before, (0, 0), False),
    (visible.outcome_known, (1, 0), False),
    (visible.knows_just, (1, 0, 0), False),
    (seed.seeds_column, (0, 1, 0), False),
    (decode.columns_close, (0, 2), False),
    (decode.boundary_in_reach, (0, 2, 0, 0, 1), False),
    (decode.boundary_written_last, (0, 0, 1, 0, 1), False),
    (decode.current_stays, (0, 1), False),
    (decode.live_column_held, (0, -1, 0, 0, 0, 0, 0), False),
    (decode.writes_open_block, (1, 0, 0, 1), False),
    (decode.table_bounded, (3, 0, 0), False),
    (decode.not_retired, (0, True, 0), False),
    (decode.retires_all, (0, False, 1), False),
)


@pytest.mark.parametrize(("predicate", "arguments", "answer"), CASES)
def test_a_predicate_says(
    predicate: Callable[..., object], arguments: tuple[int | bool, ...], answer: object
) -> None:
    assert predicate(*arguments) == answer

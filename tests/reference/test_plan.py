"""The allocation plan: the table built from it loses no block, and the estimate is what it takes.

Exhaustive in a small scope: the plan only compares columns, and every comparison involves at most
the old length, the scratch, the drafts and one of two columns, so five of each show every order."""

from collections.abc import Iterator
from itertools import product

import pytest

from truehit.reference import decide
from truehit.reference.rules.plan import (
    NULL,
    PlanQuery,
    column_source,
    column_source_left,
    estimate_counting_scratch,
    first_scratch,
    fresh_blocks,
    fresh_blocks_left,
    is_retired,
    new_length,
)
from truehit.reference.ruleset import DEFAULT, RULE_SETS

LENGTHS, DRAFTS, COLUMNS = range(8), range(5), range(10)


def plans() -> Iterator[PlanQuery]:
    """A first allocation, with or without an adopted state, and every later step of a residency."""
    for drafts, running, checkpoint in product(DRAFTS, COLUMNS, (0, 1)):
        if running < checkpoint:
            continue
        for adopted in range(running - checkpoint + 1):
            yield PlanQuery(adopted, 0, drafts, running, checkpoint)
        for length in range(drafts + 1, len(LENGTHS)):
            old_running = length - drafts - 1
            # The splitter exports only above the column it starts in.
            if running - checkpoint >= old_running + checkpoint:
                yield PlanQuery(length, drafts, drafts, running, checkpoint)


def built(query: PlanQuery) -> list[int]:
    """The new table, as sources: an old column, a fresh block, or NULL."""
    return [column_source(query, column) for column in range(new_length(query))]


def test_every_old_block_stays_in_the_table_exactly_once() -> None:
    for query in plans():
        kept = sorted(source for source in built(query) if 0 <= source < query.length)
        assert kept == list(range(query.length)), query


def test_every_fresh_block_is_placed_once_and_in_order() -> None:
    for query in plans():
        fresh = [source for source in built(query) if source >= query.length]
        assert fresh == list(range(query.length, query.length + fresh_blocks(query))), query


def test_running_scratch_and_checkpoint_columns_exist_after_every_step() -> None:
    for query in plans():
        table = built(query)
        needed = range(query.running - query.checkpoint, query.running + query.drafts + 1)
        assert all(table[column] != NULL for column in needed), query


def test_no_scratch_is_left_below_the_checkpoint_column() -> None:
    for query in plans():
        table = built(query)
        limit = query.running - query.checkpoint
        assert all(source == NULL for source in table[first_scratch(query) : limit]), query


def test_committed_columns_are_not_touched() -> None:
    for query in plans():
        assert built(query)[: first_scratch(query)] == list(range(first_scratch(query))), query


def test_a_running_step_takes_one_block_and_one_for_a_checkpoint() -> None:
    for query in plans():
        first = query.drafts if query.scratch == 0 else 0
        assert fresh_blocks(query) <= 1 + query.checkpoint + first, query


def test_the_default_estimate_is_what_the_plan_takes() -> None:
    for query in plans():
        taken = sum(1 for source in built(query) if source >= query.length)
        assert decide.estimated_blocks(DEFAULT, query) == taken, query


def test_a_table_does_not_shrink_when_fewer_tokens_are_needed() -> None:
    """R34: a step covered 33 + 16 tokens in blocks of 16, the next one needs 34 + 1."""
    wide, narrow = PlanQuery(0, 0, 0, 3, 0), PlanQuery(4, 0, 0, 2, 0)
    assert (new_length(wide), new_length(narrow)) == (4, 4)
    assert fresh_blocks(narrow) == 0


def test_counting_moved_scratch_expects_more_than_is_taken() -> None:
    wrong = [q for q in plans() if estimate_counting_scratch(q) != fresh_blocks(q)]
    assert wrong
    assert all(q.checkpoint == 1 and q.drafts > 0 for q in wrong)
    assert all(estimate_counting_scratch(q) > fresh_blocks(q) for q in wrong)


def test_scratch_left_in_place_stays_where_a_key_is_filed() -> None:
    """k = 2, running column 0, then a chunk with a checkpoint runs to column 3."""
    query = PlanQuery(3, 2, 2, 3, 1)
    assert built(query) == [0, NULL, 2, 1, 3, 4]
    left = [column_source_left(query, column) for column in range(new_length(query))]
    assert left == [0, 1, 2, 3, 4, 5]
    assert fresh_blocks_left(query) == 3


@pytest.mark.parametrize("name", ["scratch-left", "default"])
def test_every_rule_set_builds_a_table_from_what_it_takes(name: str) -> None:
    rules = RULE_SETS[name]
    for query in plans():
        table = [decide.column_source(rules, query, c) for c in range(new_length(query))]
        fresh = {source for source in table if source >= query.length}
        assert len(fresh) == decide.fresh_blocks(rules, query), query


def test_exactly_the_columns_below_the_last_state_are_retired() -> None:
    """R39: at an exact edge the replaced state goes in the same pass."""
    for grid, processed, column in product(range(1, 6), range(1, 30), range(12)):
        still_needed = (column + 1) * grid >= processed
        assert is_retired(column, processed, grid) == (not still_needed)

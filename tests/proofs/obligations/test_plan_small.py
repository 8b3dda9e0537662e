"""The plan by execution, every small table: the counts behind the proofs that count nothing."""

from itertools import product

from truehit.reference.rules.plan import (
    NULL,
    PlanQuery,
    column_source,
    fresh_blocks,
    new_length,
)
from truehit.spec.predicates import plan as goals

MOST_COLUMNS, MOST_DRAFTS = 7, 3
"""Old scratch, a hole, a checkpoint and new scratch fit side by side."""


def small_plans() -> list[PlanQuery]:
    columns = range(MOST_COLUMNS)
    return [
        PlanQuery(length, scratch, drafts, running, checkpoint)
        for length, drafts, running in product(columns, range(MOST_DRAFTS + 1), columns)
        for scratch, checkpoint in product({0, drafts}, (0, 1))
        if goals.is_plan(length, scratch, drafts, running, checkpoint)
        and goals.is_prefill_plan(length, scratch, drafts, running, checkpoint)
    ]


PLANS = small_plans()


def test_there_are_plans() -> None:
    assert len(PLANS) > 200


def test_the_estimate_is_the_number_of_fresh_columns() -> None:
    for q in PLANS:
        sources = [column_source(q, column) for column in range(new_length(q))]
        fresh = [source - q.length for source in sources if source >= q.length]
        assert sorted(fresh) == list(range(fresh_blocks(q))), q


def test_no_block_is_lost_or_used_twice() -> None:
    for q in PLANS:
        sources = [column_source(q, column) for column in range(new_length(q))]
        used = [source for source in sources if source != NULL]
        assert len(set(used)) == len(used), q
        assert set(range(q.length)) <= set(used), q

"""The goals that are proved of our rules, asserted at every call the oracle makes of them.

The same predicates are the goals of the obligations and what the laws are made of. Only our own
rules pass through here: a historic value is kept because it breaks them."""

from truehit.reference.rules import plan, split
from truehit.spec.predicates import plan as plan_goals
from truehit.spec.predicates import split as split_goals


def asserted_chunk(q: split.SplitQuery) -> tuple[int, int]:
    """Our splitter's end and checkpoint; AssertionError names the goal that fails."""
    end = split.chunk_end(q)
    exported = split.checkpoint(q, end)
    if q.start >= q.prefill_end:
        return end, exported
    assert split_goals.within_offer(q.start, q.offered, q.prefill_end, end), f"range: {q} -> {end}"
    assert split_goals.progresses(q.start, end), f"progress: {q} -> {end}"
    assert split_goals.stays_in_block(q.start, q.grid, end), f"mid-block: {q} -> {end}"
    assert split_goals.ends_well(
        q.start, q.prefill_end, q.grid, q.replay, q.extend, q.junction, q.period, end
    ), f"grid: {q} -> {end}"
    assert split_goals.exports_kept(
        q.start,
        end,
        exported,
        q.checkpoint_alignment,
        q.replay,
        q.extend,
        q.junction,
        q.period,
    ), f"checkpoint: {q} -> {end}, {exported}"
    assert split_goals.suits_table(q.start, end, exported, q.grid), f"composition: {q} -> {end}"
    for position in (q.replay, q.extend, q.junction, q.period_stop):
        assert split_goals.passes_nothing_kept(
            q.start, end, exported, position, q.replay, q.extend, q.junction, q.period
        ), f"coverage: {q} -> {end} passes {position}"
    return end, exported


def asserted_source(q: plan.PlanQuery, column: int) -> int:
    """Our plan's source of a column; AssertionError names the goal that fails."""
    source = plan.column_source(q, column)
    layout = (column, source, q.length, q.scratch)
    assert plan_goals.owns_written(*layout, q.drafts, q.running, q.checkpoint), f"{q} {column}"
    assert plan_goals.exports_into_own(*layout, q.running, q.checkpoint), f"{q} {column}"
    assert plan_goals.counts_fresh(source, q.length, plan.fresh_blocks(q)), f"{q} {column}"
    return source

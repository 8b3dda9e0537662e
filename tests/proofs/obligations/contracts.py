"""Contracts on the pure rules, at a small bound, for a checker that runs Python itself.

A second reading that shares nothing with the lifter: integers are symbolic, the rules are executed.
Each contract is a premise and one goal of an obligation; the last one is wrong on purpose.
"""

from dataclasses import replace

from truehit.reference.rules.admit import pages_needed
from truehit.reference.rules.lookup import ResumeQuery, resume_limit
from truehit.reference.rules.plan import PlanQuery, column_source, fresh_blocks, new_length
from truehit.reference.rules.retain import KeepQuery, margin_alignment, replay_boundary
from truehit.reference.rules.seed import seed_column
from truehit.reference.rules.split import SplitQuery, checkpoint, chunk_end
from truehit.reference.rules.split_releases import aligned_below_last
from truehit.reference.rules.visible import complete_step, first_lookup
from truehit.spec.predicates import admit as admit_goals
from truehit.spec.predicates import keep as keep_goals
from truehit.spec.predicates import lookup as lookup_goals
from truehit.spec.predicates import plan as plan_goals
from truehit.spec.predicates import split as split_goals
from truehit.spec.predicates import visible as visible_goals
from truehit.spec.predicates.seed import seeds_column

GRID = 4
MOST_TOKENS = 24
"""Six blocks: a start inside a block, a checkpoint, its gap and a second stop fit in."""


def query(start: int, offered: int, prefill_end: int, replay: int, every: int) -> SplitQuery:
    """A chunk with one kept position and retention 0."""
    return SplitQuery(
        start=start,
        offered=offered,
        prefill_end=prefill_end,
        prompt=prefill_end,
        grid=GRID,
        hash_unit=1,
        replay=replay,
        extend=replay,
        junction=0,
        period=0,
        period_stop=0,
        checkpoint_alignment=every,
        largest_chunk=MOST_TOKENS,
        fine=False,
        dropping=False,
        backing_off=False,
        boundary=0,
        margin=0,
    )


def chunk_suits_table(start: int, offered: int, prefill_end: int, replay: int, every: int) -> bool:
    """
    pre: split_goals.is_prefill(start, offered, prefill_end) and prefill_end <= MOST_TOKENS
    pre: 0 <= replay <= MOST_TOKENS and every in (0, 2)
    post: __return__
    """
    q = query(start, offered, prefill_end, replay, every)
    end = chunk_end(q)
    return split_goals.suits_table(start, end, checkpoint(q, end), GRID)


def chunk_passes_nothing(start: int, offered: int, prefill_end: int, replay: int) -> bool:
    """
    pre: split_goals.is_prefill(start, offered, prefill_end) and prefill_end <= MOST_TOKENS
    pre: 0 <= replay <= MOST_TOKENS
    post: __return__
    """
    end = chunk_end(query(start, offered, prefill_end, replay, 0))
    return not (start < replay and replay < end)


def plan_owns(length: int, scratch: int, running: int, checkpoint: int, column: int) -> bool:
    """
    pre: length <= 4 and running <= 5
    pre: plan_goals.is_plan(length, scratch, 1, running, checkpoint)
    pre: plan_goals.is_prefill_plan(length, scratch, 1, running, checkpoint)
    pre: plan_goals.in_table(column, running + 2)
    post: __return__
    """
    q = PlanQuery(length, scratch, 1, running, checkpoint)
    source = column_source(q, column)
    owned = plan_goals.owns_written(column, source, length, scratch, 1, running, checkpoint)
    counted = plan_goals.counts_fresh(source, length, fresh_blocks(q))
    return owned and counted and new_length(q) == running + 2


def seed_is_the_column(position: int) -> bool:
    """
    pre: 0 < position
    post: __return__
    """
    return seeds_column(position, GRID, seed_column(position, GRID))


def resume_is_aligned(match: int, limit: int, drop: int) -> bool:
    """
    pre: 0 <= match <= MOST_TOKENS and 0 <= limit <= MOST_TOKENS and 0 <= drop <= GRID
    post: __return__
    """
    resume = resume_limit(ResumeQuery(match, limit, drop, GRID))
    given_back = resume == 0 or resume + drop <= match
    return given_back and lookup_goals.is_candidate(resume, limit, GRID)


def margin_lies_below(prompt: int, drop: int) -> bool:
    """
    pre: 1 <= prompt <= MOST_TOKENS and 0 <= drop <= GRID
    post: __return__
    """
    q = KeepQuery(prompt, GRID, GRID, 0, 0, drop, False)
    margin, boundary = margin_alignment(q), replay_boundary(q)
    aligned = keep_goals.keeps_aligned(margin, boundary, GRID)
    return aligned and keep_goals.keeps_inside(margin, boundary, prompt)


def pages_are_exact(end: int, held: int) -> bool:
    """
    pre: admit_goals.is_growth(end, held, GRID) and end <= MOST_TOKENS
    post: __return__
    """
    taken = pages_needed(end, held, GRID)
    covered = admit_goals.pages_cover(end, held, GRID, taken)
    return covered and admit_goals.pages_tight(end, held, GRID, taken)


def key_is_read_after_its_write(write_step: int, in_flight: int) -> bool:
    """
    pre: visible_goals.is_write(write_step, in_flight)
    post: __return__
    """
    read_step = first_lookup(write_step, in_flight)
    known_step = complete_step(read_step - 1, in_flight)
    known = visible_goals.outcome_known(write_step, known_step)
    just = visible_goals.knows_just(read_step, in_flight, known_step)
    return known and just and visible_goals.written_before(write_step, read_step)


def historic_chunk_suits_table(start: int, offered: int, prefill_end: int) -> bool:
    """
    pre: split_goals.is_prefill(start, offered, prefill_end) and prefill_end <= MOST_TOKENS
    post: __return__
    """
    q = replace(query(start, offered, prefill_end, 0, 0), dropping=True, backing_off=True)
    end = aligned_below_last(q)
    return split_goals.suits_table(start, end, 0, GRID) or end == start

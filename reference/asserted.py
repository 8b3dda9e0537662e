"""Goals that are proved of our rules, asserted where the oracle calls them.

The same predicates are the goals of the obligations, and some laws are made of them. Only our own
rules pass through here: a historic value is kept because it breaks them. A rule whose goal speaks
of several calls at once (uniqueness, induction) is judged by the laws instead."""

from truehit.reference.rules import admit, lookup, plan, retain, seed, split, visible
from truehit.spec.predicates import admit as admit_goals
from truehit.spec.predicates import keep as keep_goals
from truehit.spec.predicates import lookup as lookup_goals
from truehit.spec.predicates import plan as plan_goals
from truehit.spec.predicates import seed as seed_goals
from truehit.spec.predicates import split as split_goals
from truehit.spec.predicates import visible as visible_goals


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


def asserted_kept(q: retain.KeepQuery) -> tuple[int, int]:
    """Our kept positions for a resend and for an extension."""
    replay, extend = retain.replay_reachable(q), retain.extend_reachable(q)
    assert keep_goals.keeps_aligned(replay, extend, q.alignment), f"{q} keeps {replay}, {extend}"
    assert keep_goals.keeps_inside(replay, extend, q.prompt), f"{q} keeps {replay}, {extend}"
    return replay, extend


def asserted_resume(q: lookup.ResumeQuery) -> int:
    """Our largest position that an attention group can resume at."""
    position = lookup.resume_limit(q)
    given = max(q.match - q.drop, 0)
    assert lookup_goals.is_candidate(position, given, q.alignment), f"{q} resumes at {position}"
    assert lookup_goals.recomputes_one(position, q.limit + 1), f"{q} resumes at {position}"
    return position


def asserted_seed(position: int, block: int) -> int:
    """Our column of a resume."""
    column = seed.seed_column(position, block)
    assert seed_goals.seeds_column(position, block, column), f"{position} in {block}: {column}"
    return column


def asserted_first_lookup(write_step: int, in_flight: int) -> int:
    """Our first step that may look up what `write_step` writes."""
    step = visible.first_lookup(write_step, in_flight)
    known = visible.complete_step(step - 1, in_flight)
    assert visible_goals.written_before(write_step, step), f"{write_step} read in {step}"
    assert visible_goals.outcome_known(write_step, known), f"{write_step} not known in {step}"
    return step


def asserted_admission(q: admit.AdmitQuery) -> bool:
    """Our admission with reservation."""
    admitted = admit.fits_to_the_end(q)
    if admitted:
        assert admit_goals.first_step_fits(q.needed, q.free), f"{q} is admitted"
        left, owed = q.free - q.needed, q.owed + q.whole - q.needed
        assert admit_goals.promises_kept(left, owed), f"{q} is admitted"
    return admitted


def asserted_pages(end: int, held: int, block: int) -> int:
    """Our pages to take."""
    taken = admit.pages_needed(end, held, block)
    assert admit_goals.pages_cover(end, held, block, taken), f"{end}, {held}, {block}: {taken}"
    assert admit_goals.pages_tight(end, held, block, taken), f"{end}, {held}, {block}: {taken}"
    return taken

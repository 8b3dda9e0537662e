"""A rule set applied: every decision of the oracle is one call of the rule that the set names.

The only place where rule names are branched on; everything below is straight integer arithmetic.
"""

from truehit.reference.asserted import (
    asserted_chunk,
    asserted_first_lookup,
    asserted_kept,
    asserted_resume,
    asserted_seed,
    asserted_source,
)
from truehit.reference.live import Kept, Live
from truehit.reference.rules import (
    lookup,
    plan,
    retain,
    seed,
    split,
    split_releases,
    visible,
)
from truehit.reference.ruleset import (
    BackOff,
    Candidate,
    DropRule,
    Estimate,
    Grid,
    Keep,
    RuleSet,
    Scratch,
    Seed,
    Split,
    Visibility,
)
from truehit.spec.formulas import extend, legal
from truehit.spec.geometry import Geometry


def kept_positions(rules: RuleSet, geometry: Geometry, prompt: int, junction: int) -> Kept:
    """The kept positions of a prompt under the rule set's retention rule."""
    drop = max((geometry.drop_tokens(g) for g in geometry.attention_groups), default=0)
    grid = geometry.grid_tokens or geometry.alignment_tokens
    query = retain.KeepQuery(
        prompt=prompt,
        alignment=geometry.alignment_tokens,
        state_block=grid,
        legal=legal(geometry, prompt),
        extension=extend(geometry, prompt),
        drop=drop,
        own_bit=any(g.drafted for g in geometry.state_groups),
    )
    boundary, margin = retain.replay_boundary(query), retain.margin_alignment(query)
    match rules.keep:
        case Keep.REACHABLE:
            replay, growth = asserted_kept(query)
        case Keep.BOUNDARY:
            replay, growth = boundary, retain.no_margin(query)
        case Keep.BOUNDARY_AND_ALIGNMENT:
            replay, growth = boundary, margin
        case Keep.BOUNDARY_AND_STATE_BLOCK:
            replay, growth = boundary, retain.margin_state_block(query)
        case Keep.BOUNDARY_AND_OWN_BIT:
            replay, growth = boundary, retain.margin_own_bit(query)
    period = geometry.retention_period_tokens or 0
    return Kept(replay, growth, junction, period, boundary, margin)


def split_query(rules: RuleSet, geometry: Geometry, live: Live, offered: int) -> split.SplitQuery:
    """The question put to the splitter for the next chunk of a request; needs a state group."""
    state_grid = geometry.grid_tokens or 1
    period = live.kept.period
    dropping = geometry.any_drop
    return split.SplitQuery(
        start=live.computed,
        offered=offered,
        prefill_end=live.prefill_end,
        prompt=live.prompt,
        grid=state_grid if rules.grid is Grid.STATE_BLOCK else geometry.minimum_block_tokens,
        hash_unit=geometry.hash_unit_tokens,
        replay=live.kept.replay,
        extend=live.kept.extend,
        junction=live.kept.junction,
        period=period,
        period_stop=split.period_stop_after(live.computed, period) if period else 0,
        checkpoint_alignment=geometry.checkpoint_alignment_tokens or 0,
        largest_chunk=geometry.largest_chunk_tokens,
        fine=geometry.fine_hits,
        dropping=dropping,
        backing_off=dropping and rules.back_off is BackOff.ONE_BLOCK,
        boundary=live.kept.boundary,
        margin=live.kept.margin,
    )


def chunk(rules: RuleSet, query: split.SplitQuery) -> tuple[int, int]:
    """The end of the chunk and the position it exports from its middle (0: none)."""
    match rules.split:
        case Split.KEPT_POSITIONS:
            return asserted_chunk(query)
        case Split.ALIGNED_BELOW_LAST:
            return split_releases.aligned_below_last(query), 0
        case Split.STOP_FROM_MISALIGNED:
            end = split_releases.stop_from_misaligned(query)
        case Split.STOP_EVERY_BOUNDARY:
            end = split_releases.stop_every_boundary(query)
        case Split.RETENTION_STOPS:
            return split_releases.retention_stops(query), 0
    exporting = query.start < query.prefill_end and split_releases.exports(query, end)
    return end, split_releases.release_checkpoint(query) if exporting else 0


def column_source(rules: RuleSet, query: plan.PlanQuery, column: int) -> int:
    """Where the block of a column of the new table comes from."""
    match rules.scratch:
        case Scratch.MOVES:
            return asserted_source(query, column)
        case Scratch.LEFT:
            return plan.column_source_left(query, column)


def fresh_blocks(rules: RuleSet, query: plan.PlanQuery) -> int:
    """How many fresh blocks the plan takes."""
    match rules.scratch:
        case Scratch.MOVES:
            return plan.fresh_blocks(query)
        case Scratch.LEFT:
            return plan.fresh_blocks_left(query)


def estimated_blocks(rules: RuleSet, query: plan.PlanQuery) -> int:
    """How many fresh blocks admission expects."""
    match rules.estimate:
        case Estimate.PLAN:
            return fresh_blocks(rules, query)
        case Estimate.COUNTS_SCRATCH:
            return plan.estimate_counting_scratch(query)


def state_candidate(rules: RuleSet, geometry: Geometry, offered: int) -> int:
    """The position below which the state group searches."""
    match rules.candidate:
        case Candidate.OFFER:
            return offered
        case Candidate.PRUNED:
            return lookup.pruned_candidate(offered, geometry.grid_tokens or 0)
        case Candidate.RAISED:
            drop = max((geometry.drop_tokens(g) for g in geometry.attention_groups), default=0)
            return lookup.raised_candidate(offered, drop)


def resume_limit(rules: RuleSet, query: lookup.ResumeQuery, candidate: int | None) -> int:
    """The largest position an attention group can resume at; `candidate` None on the first try."""
    if candidate is None:
        return asserted_resume(query)
    match rules.drop_rule:
        case DropRule.ONCE:
            return min(asserted_resume(query), candidate)
        case DropRule.EVERY_RETRY:
            return lookup.resume_limit_again(query, candidate)


def seed_column(rules: RuleSet, geometry: Geometry, position: int) -> int:
    """The column a resume at `position` > 0 reads."""
    match rules.seed:
        case Seed.STATE_BLOCK:
            return asserted_seed(position, geometry.grid_tokens or 1)
        case Seed.MINIMUM_BLOCK:
            return seed.seed_column(position, geometry.minimum_block_tokens)


def first_lookup(rules: RuleSet, write_step: int, in_flight: int) -> int:
    """The first step whose lookups may return a key of a block that `write_step` writes."""
    match rules.visibility:
        case Visibility.COMMIT:
            return asserted_first_lookup(write_step, in_flight)
        case Visibility.SCHEDULE_DEFERRED:
            return visible.first_lookup_deferred(write_step, in_flight)
        case Visibility.SCHEDULE:
            return visible.first_lookup_at_schedule(write_step, in_flight)

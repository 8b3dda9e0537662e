"""The rules whose readings are compared, each with its small scope, its bound and the bound's
reason."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice, product
from typing import Any

from truehit.proofs.small_scope import (
    GRIDS,
    keep_queries,
    plan_columns,
    plan_queries,
    resume_queries,
    split_queries,
)
from truehit.reference.rules import (
    admit,
    lookup,
    plan,
    retain,
    seed,
    split,
    split_releases,
    visible,
)
from truehit.spec.predicates import plan as plan_goals
from truehit.spec.predicates import split as split_goals

SPLIT_BOUND = (
    "all blocks up to 4 and prompts up to 2 blocks + 1; the neighbouring bound (blocks of 5) is "
    "sampled: a chunk crosses at most two kept positions"
)
RELEASE_BOUND = "all blocks up to 3 and prompts up to 2 blocks + 1; blocks of 4 are sampled"
PLAN_BOUND = (
    "all tables up to 7 columns with k + 1 <= 4; the neighbouring bound (8 columns) is sampled: "
    "scratch moves by at most its own width"
)
NUMBERS_BOUND = (
    "all numbers up to 12 and sizes up to 4; the next ones are tried too: one division or one "
    "comparison a rule"
)
SMALL = range(13)
SIZES = range(1, 5)
KEEP_BOUND = "all prompts up to 12, alignments and state blocks up to 4; 13 is sampled"


@dataclass(frozen=True, slots=True)
class Reading:
    """One rule: `cases` gives its arguments, `goals` are predicates over inputs and `result`."""

    name: str
    function: Callable[..., Any]
    cases: Callable[[], Iterator[tuple[Any, ...]]]
    neighbours: Callable[[], Iterator[tuple[Any, ...]]]
    bound: str
    goals: tuple[Callable[..., bool], ...] = ()
    result: str = "result"


def _single(queries: Iterable[Any]) -> Iterator[tuple[Any, ...]]:
    return ((query,) for query in queries)


def _ended(queries: Iterable[split.SplitQuery]) -> Iterator[tuple[Any, ...]]:
    """The checkpoint is asked of the chunk that the splitter cut."""
    return ((query, split.chunk_end(query)) for query in queries)


def _split(name: str, function: Callable[..., Any]) -> Reading:
    return Reading(
        name,
        function,
        lambda: _single(split_queries(GRIDS[:3])),
        lambda: islice(_single(split_queries(GRIDS[3:])), 0, None, 29),
        RELEASE_BOUND,
        (split_goals.within_offer,),
        "end",
    )


def _plan(name: str, function: Callable[..., Any]) -> Reading:
    return Reading(
        name,
        function,
        lambda: _single(plan_queries()),
        lambda: islice(_single(plan_queries(8)), 0, None, 3),
        PLAN_BOUND,
    )


def _column(name: str, function: Callable[..., Any]) -> Reading:
    goals = (plan_goals.stays_or_hole, plan_goals.owns_written, plan_goals.exports_into_own)
    return Reading(
        name,
        function,
        plan_columns,
        lambda: islice(plan_columns(8), 0, None, 3),
        PLAN_BOUND,
        goals,
        "source",
    )


def _keep(name: str, function: Callable[..., Any]) -> Reading:
    return Reading(
        name,
        function,
        lambda: _single(keep_queries()),
        lambda: islice(_single(keep_queries(13)), 0, None, 7),
        KEEP_BOUND,
    )


def _numbers(function: Callable[..., Any], ranges: tuple[Iterable[int], ...]) -> Reading:
    """A rule of plain numbers, on the product of its ranges; the next numbers are sampled."""
    pools = tuple(tuple(numbers) for numbers in ranges)
    beyond = tuple((pool[-1] if pool[-1] is True else pool[-1] + 1,) for pool in pools)
    return Reading(
        function.__name__,
        function,
        lambda: product(*pools),
        lambda: product(*beyond),
        NUMBERS_BOUND,
    )


def _admission(name: str, function: Callable[..., Any]) -> Reading:
    def queries(most: int) -> Iterator[tuple[Any, ...]]:
        counts = product(range(most), repeat=4)
        return _single(admit.AdmitQuery(*count) for count in counts)

    return Reading(
        name,
        function,
        lambda: queries(8),
        lambda: islice(queries(9), 0, None, 13),
        "all counts of blocks up to 7; 8 is sampled: the rule only adds and compares",
    )


READINGS: tuple[Reading, ...] = (
    Reading(
        "chunk_end",
        split.chunk_end,
        lambda: _single(split_queries()),
        lambda: islice(_single(split_queries((5,))), 0, None, 97),
        SPLIT_BOUND,
        (
            split_goals.within_offer,
            split_goals.progresses,
            split_goals.ends_well,
            split_goals.stays_in_block,
        ),
        "end",
    ),
    _split("aligned_below_last", split_releases.aligned_below_last),
    _split("stop_from_misaligned", split_releases.stop_from_misaligned),
    _split("stop_every_boundary", split_releases.stop_every_boundary),
    _split("retention_stops", split_releases.retention_stops),
    Reading(
        "checkpoint",
        split.checkpoint,
        lambda: _ended(split_queries()),
        lambda: islice(_ended(split_queries((5,))), 0, None, 97),
        SPLIT_BOUND,
    ),
    _column("column_source", plan.column_source),
    _column("column_source_left", plan.column_source_left),
    _plan("fresh_blocks", plan.fresh_blocks),
    _plan("fresh_blocks_left", plan.fresh_blocks_left),
    _plan("estimate_counting_scratch", plan.estimate_counting_scratch),
    _keep("replay_boundary", retain.replay_boundary),
    _keep("margin_alignment", retain.margin_alignment),
    _keep("margin_state_block", retain.margin_state_block),
    _keep("margin_own_bit", retain.margin_own_bit),
    Reading(
        "resume_limit",
        lookup.resume_limit,
        lambda: _single(resume_queries()),
        lambda: islice(_single(resume_queries(13)), 0, None, 7),
        f"all matches and caps up to 12, alignments up to {GRIDS[-1]}; 13 is sampled",
    ),
    *(
        _numbers(function, ranges)
        for function, ranges in (
            (split.period_stop_after, (SMALL, SIZES)),
            (plan.is_retired, (SMALL, range(1, 13), SIZES)),
            (retain.is_published, (SMALL, SMALL, SMALL, range(4), range(4))),
            (lookup.lookup_cap, (SMALL,)),
            (lookup.match_limit, (SMALL, SIZES, (False, True), SMALL)),
            (lookup.raised_candidate, (SMALL, SIZES)),
            (lookup.pruned_candidate, (SMALL, SIZES)),
            (seed.seed_column, (range(1, 13), SIZES)),
            (admit.pages_needed, (SMALL, SMALL, SIZES)),
            (visible.complete_step, (SMALL, SIZES)),
            (visible.first_lookup, (SMALL, SIZES)),
            (visible.first_lookup_deferred, (SMALL, SIZES)),
            (visible.first_lookup_at_schedule, (SMALL, SIZES)),
        )
    ),
    _admission("fits_now", admit.fits_now),
    _admission("fits_to_the_end", admit.fits_to_the_end),
    Reading(
        "resume_limit_again",
        lookup.resume_limit_again,
        lambda: ((q, c) for q in resume_queries(8) for c in range(9)),
        lambda: islice(((q, 9) for q in resume_queries(9)), 0, None, 7),
        "all matches, caps and candidates up to 8, alignments up to 4; 9 is sampled",
    ),
)

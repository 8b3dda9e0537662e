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
from truehit.spec.predicates import admit as admit_goals
from truehit.spec.predicates import decode as decode_goals
from truehit.spec.predicates import keep as keep_goals
from truehit.spec.predicates import lookup as lookup_goals
from truehit.spec.predicates import plan as plan_goals
from truehit.spec.predicates import seed as seed_goals
from truehit.spec.predicates import split as split_goals
from truehit.spec.predicates import visible as visible_goals
from truehit.spec.units import running_column

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
SPLIT_GOALS = (
    split_goals.within_offer,
    split_goals.progresses,
    split_goals.ends_well,
    split_goals.stays_in_block,
)
SMALL = range(13)
SIZES = range(1, 5)
KEEP_BOUND = "all prompts up to 12, alignments and state blocks up to 4; 13 is sampled"


@dataclass(frozen=True, slots=True)
class Reading:
    """One rule: `cases` gives its arguments, `goals` are predicates over inputs and `result`.

    A goal need not hold, a defect's does not: its lifted and its executed reading have to agree."""

    name: str
    function: Callable[..., Any]
    cases: Callable[[], Iterator[tuple[Any, ...]]]
    neighbours: Callable[[], Iterator[tuple[Any, ...]]]
    bound: str
    goals: tuple[Callable[..., bool], ...] = ()
    result: str = "result"


# --- goals whose words are not those of the rule ----------------------------------------------


def stops_next(start: int, period: int, stop: int) -> bool:
    """The only multiple that could lie between the start and the stop does not."""
    return split_goals.next_multiple(start, period, stop - period, stop)


def retires_below(column: int, retired: bool, processed: int, grid: int) -> bool:
    """Only columns below that of the last token known complete are given back."""
    return decode_goals.not_retired(column, retired, running_column(processed, grid))


def retires_all_below(column: int, retired: bool, processed: int, grid: int) -> bool:
    """All of them are."""
    return decode_goals.retires_all(column, retired, running_column(processed, grid))


def keeps_a_landing(replay: int, extension: int, alignment: int) -> bool:
    """What is kept is a position that a lookup can land on."""
    return keep_goals.keeps_aligned(replay, extension, alignment)


def keeps_in_prompt(replay: int, extension: int, prompt: int) -> bool:
    """What is kept lies inside the prompt, and not above what a longer one lands on."""
    return keep_goals.keeps_inside(replay, extension, prompt)


def keeps_legal(legal: int, replay: int, extension: int) -> bool:
    """The landing of an unchanged prompt is kept."""
    return keep_goals.keeps_landing(legal, replay, extension)


def resumes_aligned(resume: int, limit: int, alignment: int) -> bool:
    """A group resumes at an aligned position, not above the cap."""
    return lookup_goals.is_candidate(resume, limit, alignment)


def accepts_again(candidate: int, resume: int) -> bool:
    """The candidate is kept."""
    return lookup_goals.accepts(candidate, resume)


def matches_known(hashed: int, most: int) -> bool:
    """No match goes beyond the tokens with a key."""
    return lookup_goals.lands_no_lower(most, hashed)


def searches_candidate(candidate: int, searched: int) -> bool:
    """The state group is searched up to the candidate."""
    return lookup_goals.searches_offer(candidate, searched)


def knows_before_next(step: int, in_flight: int, known_step: int) -> bool:
    """What is known at the end of a step is what is known when the next one begins."""
    return visible_goals.knows_just(step + 1, in_flight, known_step)


# --- the small scopes -------------------------------------------------------------------------


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
        SPLIT_GOALS,
        "end",
    )


def _plan(name: str, function: Callable[..., Any]) -> Reading:
    return Reading(
        name,
        function,
        lambda: _single(plan_queries()),
        lambda: islice(_single(plan_queries(8)), 0, None, 3),
        PLAN_BOUND,
        (plan_goals.takes_few,),
        "fresh",
    )


def _column(name: str, function: Callable[..., Any]) -> Reading:
    goals = (
        plan_goals.stays_or_hole,
        plan_goals.owns_written,
        plan_goals.exports_into_own,
        plan_goals.holds_few,
    )
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
        (keeps_a_landing, keeps_in_prompt, keeps_legal),
        "replay",
    )


def _numbers(
    function: Callable[..., Any],
    ranges: tuple[Iterable[int], ...],
    result: str,
    *goals: Callable[..., bool],
) -> Reading:
    """A rule of plain numbers, on the product of its ranges; the next numbers are sampled."""
    pools = tuple(tuple(numbers) for numbers in ranges)
    beyond = tuple((pool[-1] if pool[-1] is True else pool[-1] + 1,) for pool in pools)
    return Reading(
        function.__name__,
        function,
        lambda: product(*pools),
        lambda: product(*beyond),
        NUMBERS_BOUND,
        goals,
        result,
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
        (admit_goals.admits_exactly, admit_goals.lets_in),
        "admitted",
    )


READINGS: tuple[Reading, ...] = (
    Reading(
        "chunk_end",
        split.chunk_end,
        lambda: _single(split_queries()),
        lambda: islice(_single(split_queries((5,))), 0, None, 97),
        SPLIT_BOUND,
        SPLIT_GOALS,
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
        (split_goals.exports_kept, split_goals.suits_table),
        "exported",
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
        (resumes_aligned,),
        "resume",
    ),
    _numbers(split.period_stop_after, (SMALL, SIZES), "stop", stops_next),
    _numbers(
        plan.is_retired,
        (SMALL, range(1, 13), SIZES),
        "retired",
        retires_below,
        retires_all_below,
    ),
    _numbers(
        retain.is_published,
        (SMALL, SMALL, SMALL, range(4), range(4)),
        "published",
        keep_goals.keeps_alike,
    ),
    _numbers(lookup.lookup_cap, (SMALL,), "landing", lookup_goals.recomputes_one),
    _numbers(lookup.match_limit, (SMALL, SIZES, (False, True), SMALL), "most", matches_known),
    _numbers(lookup.raised_candidate, (SMALL, SIZES), "searched", searches_candidate),
    _numbers(lookup.pruned_candidate, (SMALL, SIZES), "searched", searches_candidate),
    _numbers(seed.seed_column, (range(1, 13), SIZES), "column", seed_goals.seeds_column),
    _numbers(
        admit.pages_needed,
        (SMALL, SMALL, SIZES),
        "taken",
        admit_goals.pages_cover,
        admit_goals.pages_tight,
    ),
    _numbers(visible.complete_step, (SMALL, SIZES), "known_step", knows_before_next),
    *(
        _numbers(function, (SMALL, SIZES), "read_step", visible_goals.written_before)
        for function in (
            visible.first_lookup,
            visible.first_lookup_deferred,
            visible.first_lookup_at_schedule,
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
        (resumes_aligned, accepts_again),
        "resume",
    ),
)

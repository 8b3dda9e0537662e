"""Do the readings of a rule agree? Executed by CPython, lifted, and judged by the laws' predicates.

For every rule and every case of its small scope: the lifted term has CPython's value, and the
predicate that is the rule's goal, lifted and executed, says the same of it."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any

from truehit.proofs.lift import IntegerDomain, lift_function
from truehit.proofs.lift.evaluator import evaluate_terms
from truehit.proofs.small_scope import (
    GRIDS,
    keep_queries,
    plan_columns,
    plan_queries,
    resume_queries,
    split_queries,
)
from truehit.reference.rules import lookup, plan, retain, split, split_releases
from truehit.spec.predicates import plan as plan_goals
from truehit.spec.predicates import split as split_goals

Case = dict[str, int | bool]
SPLIT_BOUND = (
    "all blocks up to 4 and prompts up to 2 blocks + 1; the neighbouring bound (blocks of 5) is "
    "sampled: a chunk crosses at most two kept positions"
)
RELEASE_BOUND = "all blocks up to 3 and prompts up to 2 blocks + 1; blocks of 4 are sampled"
PLAN_BOUND = (
    "all tables up to 7 columns with k + 1 <= 4; the neighbouring bound (8 columns) is sampled: "
    "scratch moves by at most its own width"
)
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


@dataclass(frozen=True, slots=True)
class Agreed:
    """How many cases agreed, and the first that did not."""

    name: str
    cases: int
    differences: int
    first: str | None
    bound: str


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
)
AGREEMENTS: tuple[str, ...] = tuple(reading.name for reading in READINGS)


def _flat(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Case:
    """Arguments by the names the lifter gives them, and query fields by their own names too."""
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    flat: Case = {}
    for name, argument in zip(names, arguments, strict=True):
        if isinstance(argument, int):
            flat[name] = argument
        else:
            for field, value in asdict(argument).items():
                flat[f"{name}.{field}"] = flat[field] = value
    return flat


class _LiftedFunction:
    """A lifted function called with plain numbers."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._lifted = lift_function(function, IntegerDomain())
        self._names = {path: str(value) for path, value in self._lifted.inputs.items()}

    def __call__(self, case: Case) -> int | bool:
        assignment = {name: case[path] for path, name in self._names.items()}
        return evaluate_terms(assignment, [self._lifted.result])[0]


def _goal_arguments(goal: Callable[..., bool], case: Case) -> Case:
    names = goal.__code__.co_varnames[: goal.__code__.co_argcount]
    return {name: case[name] for name in names}


def agree(name: str) -> Agreed:
    """Compare the readings of one rule on its small scope and on a sample of the next larger
    one."""
    reading = {r.name: r for r in READINGS}[name]
    lifted = _LiftedFunction(reading.function)
    goals = [(goal, _LiftedFunction(goal)) for goal in reading.goals]
    cases = differences = 0
    first: str | None = None
    for source in (reading.cases, reading.neighbours):
        for arguments in source():
            cases += 1
            case = _flat(reading.function, arguments)
            executed = reading.function(*arguments)
            same = lifted(case) == executed
            judged = case | {reading.result: executed}
            for goal, lifted_goal in goals:
                given = _goal_arguments(goal, judged)
                same = same and goal(**given) == bool(lifted_goal(given))
            if not same:
                differences += 1
                first = first or f"{reading.name}{arguments}"
    return Agreed(reading.name, cases, differences, first, reading.bound)

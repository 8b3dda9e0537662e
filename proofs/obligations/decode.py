"""Decode steps with drafts, one step in flight: token arithmetic for all blocks, then the plan.

Two layers that meet in the same predicates: what the token layer proves of columns
(`columns_close`, `low_in_reach`) is what the column layer assumes (`is_decode_plan`).
"""

from truehit.proofs.obligations import mutants
from truehit.proofs.obligations import plan as columns
from truehit.proofs.obligations.obligation import (
    Control,
    Cover,
    Encoding,
    Function,
    Obligation,
    Step,
)
from truehit.reference.rules import plan
from truehit.spec.predicates import decode as goals
from truehit.spec.predicates import plan as plan_goals
from truehit.spec.predicates import table as table_goals
from truehit.spec.units import running_column

TOKENS = (
    "one decode step with up to k drafts, any of them rejected, k + 1 <= B, one step in flight; "
    "all state blocks B"
)
PLAN = (
    "one decode step, any table, drafts k and columns, rejected drafts included; one step in "
    "flight; without copy-on-write"
)
IN_BLOCKS = dict.fromkeys(("column", "before", "running", "low", "new_low"), "grid")
GRIDS = Encoding("all state blocks", ("grid",), counted=IN_BLOCKS)
TABLES = Encoding(
    "all state blocks",
    ("grid",),
    counted=IN_BLOCKS | dict.fromkeys(("length", "scratch", "drafts"), "grid"),
)


def column_of(name: str, tokens: str) -> Step:
    """The running column of a token position."""
    return Step((name,), running_column, {"end_tokens": tokens, "grid_tokens": "grid"})


RUNNING = column_of("running", "end")
LOW = column_of("low", "start")
COLUMNS = (column_of("before", "before_end"), RUNNING, LOW, column_of("new_low", "done"))
CURRENT = Step(("current_source",), plan.column_source, {"column": "current"})
RETIRED = Step(("retired",), plan.is_retired, {"processed": "start"})
PREMISE: tuple[Function, ...] = (plan_goals.is_plan, goals.is_decode_plan)
COLUMN: tuple[Function, ...] = (*PREMISE, plan_goals.in_table)
BELOW = Control(
    "column_below", steps=(Step(RUNNING.results, mutants.column_below, RUNNING.rename),)
)
ABOVE = Control(
    "column_above", steps=(Step(RUNNING.results, mutants.column_above, RUNNING.rename),)
)


def is_started(start: int) -> bool:
    """Something is known complete."""
    return start >= 1


def old_running(length: int, scratch: int) -> int:
    """The running column of a table."""
    return length - 1 - scratch


def scratch_in_place(scratch: int, drafts: int) -> bool:
    """At least one step of the residency has run."""
    return scratch == drafts


def before_is_low(before: int, low: int) -> bool:
    """The running column is that of the last token known complete."""
    return before == low


def bounded_at_first(length: int, low: int, drafts: int) -> bool:
    """The bound of the induction holds after a prefill."""
    return goals.table_bounded(length, low, drafts)


# --- interesting cases ------------------------------------------------------------------------


def crosses_block(start: int, done: int, grid: int) -> bool:
    return done // grid > start // grid


def goes_back(before: int, running: int) -> bool:
    """Rejected drafts take the running column back."""
    return running < before


def plan_goes_back(length: int, scratch: int, running: int, drafts: int) -> bool:
    return drafts > 1 and running < length - 1 - scratch


def plan_moves_on(length: int, scratch: int, running: int, drafts: int) -> bool:
    return drafts > 1 and running > length - 1 - scratch


def has_drafts(drafts: int) -> bool:
    return drafts > 1


def is_given_back(retired: bool, column: int) -> bool:
    return retired and column > 0


TOKEN_COVERS = (
    Cover("a boundary is completed", crosses_block),
    Cover("the running column goes back", goes_back),
)
PLAN_COVERS = (
    Cover("the running column goes back", plan_goes_back),
    Cover("the running column moves on", plan_moves_on),
)


def about_tokens(name: str, law: str, goal: tuple[Function, ...], control: Control) -> Obligation:
    """An obligation about the columns of token positions."""
    return Obligation(
        name,
        law,
        TOKENS,
        (GRIDS,),
        (goals.is_decode,),
        COLUMNS,
        goal,
        ("running",),
        (control,),
        TOKEN_COVERS,
    )


def about_plan(
    name: str,
    law: str,
    premise: tuple[Function, ...],
    steps: tuple[Step, ...],
    goal: tuple[Function, ...],
    subject: str,
    control: Control,
    covers: tuple[Cover, ...] = PLAN_COVERS,
) -> Obligation:
    """An obligation about a decode step's plan."""
    return Obligation(
        name, law, PLAN, (columns.INTEGERS,), premise, steps, goal, (subject,), (control,), covers
    )


OBLIGATIONS = (
    about_tokens("decode-columns", "retirement", (goals.columns_close, goals.low_in_reach), ABOVE),
    about_tokens("decode-boundary", "provenance", (goals.boundary_in_reach,), ABOVE),
    about_tokens("decode-boundary-last", "provenance", (goals.boundary_written_last,), BELOW),
    about_tokens("decode-open-block", "ownership", (goals.writes_open_block,), BELOW),
    about_plan(
        "decode-current",
        "provenance",
        (*PREMISE, goals.is_current),
        (CURRENT,),
        (goals.current_stays,),
        "current_source",
        Control("too_eager", steps=(Step(CURRENT.results, mutants.too_eager, CURRENT.rename),)),
    ),
    about_plan(
        "decode-held",
        "provenance",
        COLUMN,
        (columns.LENGTH, columns.SOURCE),
        (goals.live_column_held,),
        "source",
        columns.source_mutant(mutants.too_eager),
    ),
    about_plan(
        "decode-ownership",
        "ownership",
        COLUMN,
        (columns.LENGTH, columns.SOURCE),
        (plan_goals.owns_written,),
        "source",
        columns.source_mutant(mutants.bare),
    ),
    about_plan(
        "decode-uniqueness",
        "uniqueness",
        (*COLUMN, plan_goals.columns_differ),
        (columns.LENGTH, columns.SOURCE, columns.OTHER),
        (plan_goals.sources_distinct,),
        "source",
        Control(
            "recycled",
            steps=(
                Step(columns.SOURCE.results, mutants.recycled),
                Step(columns.OTHER.results, mutants.recycled, columns.OTHER.rename),
            ),
        ),
    ),
    about_plan(
        "decode-estimate-enough",
        "admission",
        COLUMN,
        (columns.LENGTH, columns.SOURCE, columns.FRESH),
        (plan_goals.counts_fresh,),
        "fresh",
        Control("one_fewer", steps=(Step(("fresh",), mutants.one_fewer),)),
    ),
    about_plan(
        "decode-estimate-used",
        "admission",
        (*PREMISE, plan_goals.is_fresh_index),
        (columns.LENGTH, columns.FRESH, columns.WITNESS, columns.SOURCE),
        (plan_goals.uses_fresh,),
        "fresh",
        Control("one_more", steps=(Step(("fresh",), mutants.one_more),)),
        PLAN_COVERS[1:],
    ),
    about_plan(
        "decode-few-blocks",
        "admission",
        PREMISE,
        (columns.FRESH,),
        (plan_goals.takes_few,),
        "fresh",
        Control("two_more", steps=(Step(("fresh",), mutants.two_more),)),
    ),
    about_plan(
        "decode-length",
        "retirement",
        PREMISE,
        (columns.LENGTH,),
        (goals.table_bounded, plan_goals.reaches_scratch),
        "new_length",
        Control("always_longer", steps=(Step(("new_length",), mutants.always_longer),)),
    ),
    Obligation(
        "decode-base",
        "provenance",
        "the table that a prefill leaves is one a decode step may start from; all state blocks",
        (TABLES,),
        (is_started, table_goals.table_at, scratch_in_place),
        (Step(("before",), old_running), LOW),
        (before_is_low, bounded_at_first),
        ("low",),
        (Control("column_below", steps=(Step(LOW.results, mutants.column_below, LOW.rename),)),),
        (Cover("with drafts", has_drafts),),
    ),
    Obligation(
        "retire-kept",
        "retirement",
        "what is given back, by tokens known complete; all state blocks, any step kind",
        (GRIDS,),
        (is_started,),
        (LOW, RETIRED),
        (goals.not_retired, goals.retires_all),
        ("retired",),
        (
            Control(
                "retired_early",
                steps=(Step(RETIRED.results, mutants.retired_early, RETIRED.rename),),
            ),
            Control(
                "retired_late", steps=(Step(RETIRED.results, mutants.retired_late, RETIRED.rename),)
            ),
        ),
        (Cover("a column is given back", is_given_back),),
    ),
)

"""The allocation plan of a state group in a prefill, column by column.

Any table, any number of drafts, any running column: block sizes do not occur, because the running
column is an input. That the chunks of the splitter lead to these inputs is proved in `table`.
"""

from truehit.proofs.obligations import mutants
from truehit.proofs.obligations.obligation import (
    Control,
    Cover,
    Encoding,
    Function,
    Obligation,
    Step,
)
from truehit.reference import decide
from truehit.reference.rules import plan
from truehit.reference.ruleset import RULE_SETS
from truehit.spec.predicates import plan as goals

INTEGERS = Encoding("all integers")
DOMAIN = (
    "one prefill step, the first of a residency or a later one, with or without a checkpoint; any "
    "table length, drafts k and running column, hence all block sizes; without copy-on-write"
)


def fresh_column(q: plan.PlanQuery, index: int) -> int:
    """Where the plan puts its index-th fresh block: the witness that every counted one is used."""
    return plan.first_added(q) + plan.moved(q) + index


LENGTH = Step(("new_length",), plan.new_length)
SOURCE = Step(("source",), plan.column_source)
OTHER = Step(("other_source",), plan.column_source, {"column": "other"})
FRESH = Step(("fresh",), plan.fresh_blocks)
WITNESS = Step(("column",), fresh_column)
PREMISE: tuple[Function, ...] = (goals.is_plan, goals.is_prefill_plan)
COLUMN: tuple[Function, ...] = (*PREMISE, goals.in_table)

LEFT = Control(
    "scratch-left", RULE_SETS["scratch-left"], (Step(SOURCE.results, decide.column_source),)
)
LEFT_COUNT = Control(
    "scratch-left", RULE_SETS["scratch-left"], (Step(FRESH.results, decide.fresh_blocks),)
)
COUNTED = Control(
    "scratch-counted", RULE_SETS["scratch-counted"], (Step(FRESH.results, decide.estimated_blocks),)
)


def source_mutant(function: Function) -> Control:
    """A control of our own making: another source for one column."""
    return Control(function.__name__, steps=(Step(SOURCE.results, function),))


# --- interesting cases ------------------------------------------------------------------------


def first_step(length: int, scratch: int, drafts: int) -> bool:
    """The first step of a residency after a hit."""
    return length > 0 and scratch == 0 and drafts > 0


def exports_with_scratch(scratch: int, checkpoint: int, drafts: int) -> bool:
    return checkpoint == 1 and scratch == drafts and drafts > 1


def moves_all(length: int, running: int, scratch: int) -> bool:
    """All scratch moves, and holes are left."""
    return scratch > 0 and running > length


def stays_put(length: int, scratch: int, running: int) -> bool:
    """The running column does not change."""
    return scratch > 0 and running == length - 1 - scratch


COVERS = (
    Cover("first step after a hit", first_step),
    Cover("checkpoint with scratch", exports_with_scratch),
    Cover("holes behind the old table", moves_all),
    Cover("the running column stays", stays_put),
)


def about_plan(
    name: str,
    law: str,
    premise: tuple[Function, ...],
    steps: tuple[Step, ...],
    goal: Function,
    subject: str,
    controls: tuple[Control, ...],
    covers: tuple[Cover, ...] = COVERS,
) -> Obligation:
    """An obligation about a prefill step's plan."""
    return Obligation(
        name, law, DOMAIN, (INTEGERS,), premise, steps, (goal,), (subject,), controls, covers
    )


OBLIGATIONS = (
    about_plan(
        "plan-provenance",
        "provenance",
        COLUMN,
        (LENGTH, SOURCE),
        goals.stays_or_hole,
        "source",
        (LEFT, source_mutant(mutants.doubled)),
    ),
    about_plan(
        "plan-uniqueness",
        "uniqueness",
        (*COLUMN, goals.columns_differ),
        (LENGTH, SOURCE, OTHER),
        goals.sources_distinct,
        "source",
        (
            Control(
                "doubled",
                steps=(
                    Step(SOURCE.results, mutants.doubled),
                    Step(OTHER.results, mutants.doubled, OTHER.rename),
                ),
            ),
        ),
    ),
    about_plan(
        "plan-ownership",
        "ownership",
        COLUMN,
        (LENGTH, SOURCE),
        goals.owns_written,
        "source",
        (source_mutant(mutants.bare), source_mutant(mutants.unaware)),
    ),
    about_plan(
        "plan-checkpoint-column",
        "provenance",
        COLUMN,
        (LENGTH, SOURCE),
        goals.exports_into_own,
        "source",
        (source_mutant(mutants.unaware),),
    ),
    about_plan(
        "plan-estimate-enough",
        "admission",
        COLUMN,
        (LENGTH, SOURCE, FRESH),
        goals.counts_fresh,
        "fresh",
        (Control("one_fewer", steps=(Step(("fresh",), mutants.one_fewer),)),),
    ),
    about_plan(
        "plan-estimate-used",
        "admission",
        (*PREMISE, goals.is_fresh_index),
        (LENGTH, FRESH, WITNESS, SOURCE),
        goals.uses_fresh,
        "fresh",
        (COUNTED,),
        COVERS[:3],
    ),
    about_plan(
        "plan-few-blocks", "admission", PREMISE, (FRESH,), goals.takes_few, "fresh", (LEFT_COUNT,)
    ),
    about_plan(
        "plan-length",
        "retirement",
        PREMISE,
        (LENGTH,),
        goals.ends_with_scratch,
        "new_length",
        (
            Control("without_drafts", steps=(Step(("new_length",), mutants.without_drafts),)),
            Control("always_longer", steps=(Step(("new_length",), mutants.always_longer),)),
        ),
    ),
    about_plan(
        "plan-retirement",
        "retirement",
        COLUMN,
        (LENGTH, SOURCE),
        goals.holds_few,
        "source",
        (LEFT,),
    ),
)

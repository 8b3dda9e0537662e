"""The table over unboundedly many prefill steps: a base case and a step, for all block sizes.

The worker is modelled by three functions: in a prefill it writes the chunk's end into the running
column and an exported state into the column below; everything else keeps what it held.
"""

from truehit.proofs.obligations import mutants
from truehit.proofs.obligations import plan as columns
from truehit.proofs.obligations import split as chunks
from truehit.proofs.obligations.obligation import (
    Control,
    Cover,
    Encoding,
    Function,
    Obligation,
    Step,
)
from truehit.reference.rules import plan
from truehit.spec.predicates import plan as plan_goals
from truehit.spec.predicates import split as split_goals
from truehit.spec.predicates import table as goals
from truehit.spec.units import running_column

IN_BLOCKS = dict.fromkeys(
    ("length", "scratch", "drafts", "column", "running", "source", "new_length"), "grid"
)
GRIDS = Encoding("all state blocks", ("grid",), counted=IN_BLOCKS)
RUNNING = Step(("running",), running_column, {"end_tokens": "end", "grid_tokens": "grid"})


def exporting(exported: int) -> int:
    """The plan's checkpoint flag."""
    return 1 if exported > 0 else 0


def new_held(source: int, length: int, held: bool) -> bool:
    """A fresh block, or the block of an old column that has one."""
    return source != plan.NULL and (source >= length or held)


def new_consumed(
    column: int, running: int, end: int, checkpoint: int, exported: int, consumed: int
) -> int:
    """What the state in a column has consumed after the step."""
    if column == running:
        return end
    if checkpoint == 1 and column == running - 1:
        return exported
    return consumed


def new_kept_apart(column: int, running: int, checkpoint: int, kept_apart: bool) -> bool:
    """The checkpoint's column is kept apart from now on; a written column no longer is."""
    if column == running:
        return False
    return kept_apart or (checkpoint == 1 and column == running - 1)


def source_holds(
    source: int, length: int, start: int, grid: int, held: bool, consumed: int, kept_apart: bool
) -> bool:
    """The invariant, for the old column that the new one's block comes from."""
    old = source >= 0 and source < length
    return not old or goals.column_holds(source, start, grid, held, consumed, kept_apart)


# --- the base: a request that adopts a hit ------------------------------------------------------


def adopted_length(start: int, grid: int) -> int:
    """Holes up to the hit's column."""
    return running_column(start, grid) + 1


def adopted_held(column: int, length: int) -> bool:
    """Only the hit's own column has a block."""
    return column == length - 1


def is_hit(start: int, drafts: int) -> bool:
    """Something was hit."""
    return start > 0 and drafts >= 0


def adopted_shape(start: int, length: int, drafts: int, grid: int) -> bool:
    """The shape of the table of a hit; there is no scratch yet."""
    return goals.table_at(start, length, 0, drafts, grid)


def adopted_holds(column: int, start: int, grid: int, held: bool) -> bool:
    """The invariant of the table of a hit: its one block holds the state after the hit."""
    return goals.column_holds(column, start, grid, held, start, False)


def adopted_column(column: int, length: int) -> bool:
    """A column of the table of a hit."""
    return plan_goals.in_table(column, length)


# --- the step ---------------------------------------------------------------------------------


def column_still_holds(
    column: int, end: int, grid: int, new_held: bool, new_consumed: int, new_kept_apart: bool
) -> bool:
    """The invariant after the step."""
    return goals.column_holds(column, end, grid, new_held, new_consumed, new_kept_apart)


def table_still_at(end: int, new_length: int, running: int, drafts: int, grid: int) -> bool:
    """The shape of the table after the step."""
    return goals.table_at(end, new_length, new_length - 1 - running, drafts, grid)


def files_new_truly(
    column: int, end: int, grid: int, new_held: bool, new_consumed: int, new_kept_apart: bool
) -> bool:
    """Filing after the step."""
    return goals.files_truly(column, end, grid, new_held, new_consumed, new_kept_apart)


WORKER = (
    Step(("new_held",), new_held),
    Step(("new_consumed",), new_consumed),
    Step(("new_kept_apart",), new_kept_apart),
)
EXPORTING = Step(("checkpoint",), exporting)
TABLE = (RUNNING, EXPORTING, columns.LENGTH, columns.SOURCE, *WORKER)
INVARIANT: tuple[Function, ...] = (goals.table_at, source_holds)
COLUMN: tuple[Function, ...] = (*INVARIANT, plan_goals.in_table)
DOMAIN = (
    "unboundedly many prefill steps by induction over any column of the table; all state blocks B, "
    "starts, ends, drafts k; checkpoints; without copy-on-write, decode steps are proved apart"
)


# --- interesting cases --------------------------------------------------------------------------


def exports_over_gap(exported: int, column: int, length: int, scratch: int) -> bool:
    """A checkpoint step whose table leaves holes, seen at its old scratch."""
    return exported > 0 and scratch > 1 and length - scratch <= column and column < length


def continues_block(start: int, end: int, grid: int) -> bool:
    return start % grid != 0 and end % grid == 0


def adopts_inside(start: int, grid: int) -> bool:
    """A hit inside a block, as fine hits allow."""
    return start % grid != 0


COVERS = (
    Cover("checkpoint over old scratch", exports_over_gap),
    Cover("a block continued to its end", continues_block, GRIDS),
)


def in_blocks(encoding: Encoding) -> Encoding:
    """The same encoding, with the columns counted in state blocks."""
    counted = IN_BLOCKS if encoding.chain else {}
    return Encoding(encoding.words, encoding.chain, encoding.sizes, counted, encoding.fixed)


def chunk_control(control: Control) -> Control:
    """A control of the splitter, asked about the table."""
    assert control.encoding is not None
    return Control(control.name, control.rules, control.steps, in_blocks(control.encoding))


OBLIGATIONS = (
    Obligation(
        "table-base",
        "provenance",
        "the table of a request that adopts a hit; all state blocks and hits, coarse or fine",
        (GRIDS,),
        (is_hit, adopted_column),
        (Step(("length",), adopted_length), Step(("held",), adopted_held)),
        (adopted_shape, adopted_holds),
        ("held",),
        (
            Control(
                "minimum-block-column",
                steps=(Step(("length",), adopted_length, {"grid": "minimum_block"}),),
                encoding=Encoding(
                    "minimum block equal to the hash unit", fixed={"grid": 8, "minimum_block": 4}
                ),
            ),
        ),
        (Cover("a hit inside a block", adopts_inside),),
    ),
    Obligation(
        "table-plan-premise",
        "provenance",
        "what the plan assumes of its numbers follows from what the splitter guarantees; " + DOMAIN,
        (GRIDS,),
        (split_goals.suits_table, goals.table_at),
        (RUNNING, EXPORTING),
        (plan_goals.is_plan, plan_goals.is_prefill_plan),
        ("running",),
        (
            Control(
                "column_below", steps=(Step(RUNNING.results, mutants.column_below, RUNNING.rename),)
            ),
        ),
        COVERS[1:],
    ),
    Obligation(
        "table-step",
        "provenance",
        DOMAIN + "; the chunk is any that suits the table",
        (GRIDS,),
        (split_goals.suits_table, *COLUMN),
        TABLE,
        (column_still_holds, table_still_at, files_new_truly),
        ("source",),
        (columns.LEFT, columns.source_mutant(mutants.bare)),
        COVERS,
    ),
    Obligation(
        "table-composed",
        "provenance",
        DOMAIN + "; the chunk is the splitter's own, nothing is assumed of it: " + chunks.SIZES,
        tuple(in_blocks(encoding) for encoding in chunks.ENCODINGS),
        (*chunks.PREMISE, *COLUMN),
        (*chunks.SPLIT, *TABLE),
        (column_still_holds, table_still_at),
        ("source",),
        (
            columns.LEFT,
            chunk_control(chunks.BELOW_LAST),
            chunk_control(chunks.MINIMUM),
            chunks.mutant(mutants.exports_anywhere),
        ),
        COVERS[:1],
    ),
)

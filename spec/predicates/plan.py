"""What a step may do to the block table of a state group, column by column.

Old table: `length` columns, the last `scratch` of them scratch, so the running column was
length - 1 - scratch. New table: running column `running`, `drafts` scratch columns behind it, and
in a step that exports a checkpoint (`checkpoint` = 1) its column below. `source` is where the block
of a new column comes from: an old column, the j-th fresh block as length + j, or HOLE.
The laws *provenance*, *uniqueness*, *ownership*, *admission* and *retirement* are made of these.
"""

HOLE = -1


def is_plan(length: int, scratch: int, drafts: int, running: int, checkpoint: int) -> bool:
    """Counts are not negative; scratch lies behind a running column; 0 or 1 checkpoint."""
    counts = length >= 0 and drafts >= 0 and running >= 0 and checkpoint >= 0 and checkpoint <= 1
    return counts and scratch >= 0 and (scratch == 0 or scratch < length)


def is_prefill_plan(length: int, scratch: int, drafts: int, running: int, checkpoint: int) -> bool:
    """A prefill step: the first of a residency, or one with its scratch in place. The running
    column does not go back, and a checkpoint's column lies above the old running column."""
    allocated = scratch == 0 or scratch == drafts
    before = length - 1 - scratch
    return allocated and before <= running and (checkpoint == 0 or before < running - 1)


def in_table(column: int, new_length: int) -> bool:
    """The column exists in the new table."""
    return column >= 0 and column < new_length


def columns_differ(column: int, other: int) -> bool:
    """Two columns of one table."""
    return column != other


def stays_or_hole(
    column: int, source: int, length: int, scratch: int, running: int, checkpoint: int
) -> bool:
    """Below the columns the step writes, a block that holds a state stays where it is, and every
    other column is a hole: nothing unwritten is ever filed by its position."""
    if column < length - scratch:
        return source == column
    return column >= running - checkpoint or source == HOLE


def sources_distinct(source: int, other_source: int) -> bool:
    """Two columns never share a block."""
    return source == HOLE or source != other_source


def owns_written(
    column: int,
    source: int,
    length: int,
    scratch: int,
    drafts: int,
    running: int,
    checkpoint: int,
) -> bool:
    """Columns the step may write have a block of which no completed part is needed: a fresh one,
    old scratch, or their own from the running column on."""
    if column < running - checkpoint or column > running + drafts:
        return True
    return source >= length - scratch or (source == column and column >= running)


def exports_into_own(
    column: int, source: int, length: int, scratch: int, running: int, checkpoint: int
) -> bool:
    """A checkpoint's column has a block of its own: old scratch or a fresh one."""
    return checkpoint == 0 or column != running - 1 or source >= length - scratch


def counts_fresh(source: int, length: int, fresh: int) -> bool:
    """Every fresh block the table uses is one of those counted."""
    return source < length + fresh


def is_fresh_index(index: int, fresh: int) -> bool:
    """One of the counted fresh blocks."""
    return index >= 0 and index < fresh


def uses_fresh(column: int, source: int, length: int, index: int, new_length: int) -> bool:
    """The counted block is used, in a column of the table."""
    return column >= 0 and column < new_length and source == length + index


def takes_few(scratch: int, drafts: int, checkpoint: int, fresh: int) -> bool:
    """One block for the running column, one for a checkpoint; the scratch only once a residency."""
    once = drafts if scratch == 0 else 0
    return fresh <= 1 + checkpoint + once


def reaches_scratch(length: int, drafts: int, running: int, new_length: int) -> bool:
    """The table never shrinks, and ends with the running column and its scratch."""
    return new_length >= length and new_length >= running + 1 + drafts


def ends_with_scratch(length: int, drafts: int, running: int, new_length: int) -> bool:
    """In a prefill the table never shrinks, and ends exactly there."""
    return new_length >= length and new_length == running + 1 + drafts


def holds_few(
    column: int,
    source: int,
    length: int,
    scratch: int,
    drafts: int,
    running: int,
    checkpoint: int,
) -> bool:
    """From the old running column on, blocks are in at most 2 + drafts + checkpoint columns: that
    column, the checkpoint's, the running column and its scratch."""
    if source == HOLE or column <= length - 1 - scratch:
        return True
    return running - checkpoint <= column and column <= running + drafts

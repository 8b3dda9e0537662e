"""Decode steps with drafts, one step in flight: the running column follows an end that may be taken
back, and only what was accepted counts.

`before`: the old running column, that of the optimistic end of the step before; `low`: the column
of the last token known complete; `done`: tokens known complete after this step.
"""


def is_decode(start: int, before_end: int, end: int, done: int, width_most: int, grid: int) -> bool:
    """`width_most` = drafts + 1 is no more than a block. The step before ended at `before_end`, of
    which `start` counts; this one ends at `end`, of which `done` counts."""
    sizes = width_most >= 1 and width_most <= grid and start >= 1
    earlier = start <= before_end and before_end <= start + width_most - 1
    now = start < done and done <= end and end <= start + width_most
    return sizes and earlier and now


def columns_close(before: int, running: int) -> bool:
    """The running column moves by at most one, either way."""
    return before - 1 <= running and running <= before + 1


def low_in_reach(low: int, before: int, running: int, new_low: int) -> bool:
    """Columns of tokens known complete lie below the running ones, by at most one, and go up."""
    old = low <= before and before <= low + 1
    return old and low <= new_low and new_low <= running and running <= new_low + 1


def boundary_in_reach(start: int, done: int, running: int, low: int, grid: int) -> bool:
    """A block boundary that the step completes belongs to the running column or the one below, and
    that column is not below the last token known complete."""
    boundary = done // grid * grid
    if boundary <= start:
        return True
    own = boundary // grid - 1
    return (own == running or own == running - 1) and own >= low


def boundary_written_last(start: int, end: int, done: int, running: int, grid: int) -> bool:
    """A boundary state that lands in the running column itself is the last state of the step."""
    boundary = done // grid * grid
    own = boundary // grid - 1
    return boundary <= start or own != running or (done == boundary and end == boundary)


def is_decode_plan(
    length: int,
    scratch: int,
    drafts: int,
    running: int,
    checkpoint: int,
    low: int,
    new_low: int,
) -> bool:
    """The table of a decode step: all scratch in place, columns close to one another."""
    before = length - 1 - scratch
    shape = checkpoint == 0 and drafts >= 0 and drafts <= scratch and low >= 0
    # One column beyond the scratch: a rejected draft may take the running column back by one.
    bounded = length <= low + 2 + drafts
    close = columns_close(before, running) and low_in_reach(low, before, running, new_low)
    return shape and bounded and close


def is_current(current: int, length: int, scratch: int, drafts: int) -> bool:
    """The state to continue from lies in the old running column or in its scratch."""
    before = length - 1 - scratch
    return before <= current and current <= before + drafts


def current_stays(current: int, current_source: int) -> bool:
    """The plan leaves the state to continue from where it is."""
    return current_source == current


def live_column_held(
    column: int, source: int, length: int, scratch: int, low: int, running: int, new_low: int
) -> bool:
    """From the last token known complete up to the running column there is a block: the old one,
    in a column that had one, or scratch, or a fresh one."""
    if column < new_low or column > running:
        return True
    before = length - 1 - scratch
    own = source == column and low <= column and column <= before
    return own or source > before


def writes_open_block(start: int, done: int, running: int, grid: int) -> bool:
    """Neither the running column nor a completed boundary's belongs to a block that was already
    full, so nothing that is filed by position is written again."""
    boundary = done // grid * grid
    own = boundary // grid - 1
    return running >= start // grid and (boundary <= start or own >= start // grid)


def table_bounded(new_length: int, new_low: int, drafts: int) -> bool:
    """From the last token known complete on, a table has at most 2 + drafts columns."""
    return new_length <= new_low + 2 + drafts


def not_retired(column: int, retired: bool, low: int) -> bool:
    """What is given back lies below the column of the last token known complete."""
    return not retired or column < low


def retires_all(column: int, retired: bool, low: int) -> bool:
    """Everything below that column is given back."""
    return retired or column >= low

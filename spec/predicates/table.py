"""What is true of a state group's block table between steps: the invariant of the induction.

`consumed`: how many tokens the state in a column has consumed; `held`: the column has a block;
`kept_apart`: it holds an exported checkpoint, which is never filed by position.
"""

from truehit.spec.units import running_column


def table_at(start: int, length: int, scratch: int, drafts: int, grid: int) -> bool:
    """After `start` tokens of prefill: no columns, or the running column and then its scratch."""
    if drafts < 0 or start < 0:
        return False
    if start == 0:
        return length == 0 and scratch == 0
    in_place = scratch == 0 or scratch == drafts
    return in_place and length == running_column(start, grid) + 1 + scratch


def column_holds(
    column: int, start: int, grid: int, held: bool, consumed: int, kept_apart: bool
) -> bool:
    """A column of the table: the running one holds the state after `start`; one below holds the
    state after its own last token, or a checkpoint, or nothing; one above is scratch, with a
    block."""
    if column > running_column(start, grid):
        return held
    if column == running_column(start, grid):
        return held and consumed == start and not kept_apart
    return not held or kept_apart or consumed == (column + 1) * grid


def files_truly(
    column: int, start: int, grid: int, held: bool, consumed: int, kept_apart: bool
) -> bool:
    """What filing by position publishes is what the column holds."""
    filed = column >= 0 and column < start // grid and held and not kept_apart
    return not filed or consumed == (column + 1) * grid

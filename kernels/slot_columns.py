"""The arithmetic of `slots.py`, number by number: one text that Triton compiles, tests run and
proofs lift.

Property: equal to `reference/rules/slots.py`, and an index is loaded or stored only inside its
array (`slots-` in `truehit verify`). `decode` is 1 for decode and verification, 0 for a prefill;
`ahead` counts a row's tokens from 0, `width` is how many it has. A function calls no other: Triton
would look for a compiled one. Triton's `//` and `%` cut towards zero where Python's go down; both
are equal here because no dividend is negative, which is proved, too."""


def from_first(column: int) -> bool:
    """Half of the mask of a load: the column is not before the table."""
    return column >= 0


def before_end(column: int, length: int) -> bool:
    """The other half: it is not behind the table."""
    return column < length


def table_index(row: int, columns: int, column: int) -> int:
    """Where a column of a row's table lies in the tables of all rows."""
    return row * columns + column


def token_index(first: int, ahead: int) -> int:
    """Where token `ahead` of a row that begins at `first` lies among the packed tokens."""
    return first + ahead


def running_column(end: int, grid: int) -> int:
    """The column of the state after `end` tokens; -1 for none."""
    return (end + grid - 1) // grid - 1


def first_stored(width: int, decode: int) -> int:
    """The first token of a row whose state is stored: all of a decode, the last of a prefill."""
    return 0 if decode > 0 else max(width - 1, 0)


def token_column(running: int, ahead: int, decode: int) -> int:
    """The column of the state after a token that is stored."""
    return running + ahead if decode > 0 else running


def checkpoint_column(end: int, grid: int, length: int) -> int:
    """The column before the running one; before the first comes the last."""
    return (end + grid - 1) // grid - 2 if end > grid else length - 1


def next_current(running: int, start: int, done: int, decode: int) -> int:
    """The column of the state that the next step continues from."""
    return running + max(done - start - 1, 0) if decode > 0 else running


def last_boundary(done: int, grid: int) -> int:
    """The last block boundary that `done` tokens complete."""
    return done - done % grid


def boundary_column(running: int, start: int, boundary: int) -> int:
    """Where a decode has left the state of the boundary."""
    return running + boundary - start - 1


def own_column(boundary: int, grid: int) -> int:
    """Where the state of the boundary is found."""
    return boundary // grid - 1


def copies_boundary(start: int, boundary: int, column: int, own: int, decode: int) -> bool:
    """A decode completed the boundary, and its state lies elsewhere."""
    return decode > 0 and boundary > start and column != own


def page_column(position: int, block: int) -> int:
    """The page of a token."""
    return position // block


def page_offset(position: int, block: int) -> int:
    """Its place in the page."""
    return position % block

"""Which column of a block table a row of a step reads and writes; a row is one request's tokens of
the step.

`running`: the running column of the end the scheduler planned; `current`: the column of the state
to continue from; `done`: tokens that count after the step. What is known only on the device (where
the request is, which drafts were accepted) enters as a number, so the device can follow alone."""

from truehit.spec.units import running_column


def in_table(column: int, length: int) -> bool:
    """The column exists; a column that does not has no block."""
    return column >= 0 and column < length


def token_column(running: int, ahead: int) -> int:
    """Decode: the column of the state after the row's token `ahead` (from 0)."""
    return running + ahead


def checkpoint_column(end: int, grid: int) -> int:
    """The column of a checkpoint: before the running one of a row that ends at `end` > 0."""
    return running_column(end, grid) - 1


def wrapped_column(column: int, length: int) -> int:
    """Released splitters export from the first column too: the column before it is the last."""
    return column if column >= 0 else length - 1


def next_current(running: int, start: int, done: int) -> int:
    """Decode: the column of the last state that counts, which the next step continues from."""
    return running + max(done - start - 1, 0)


def boundary_column(running: int, start: int, boundary: int) -> int:
    """Decode: where the step has left the state after `boundary` > `start` tokens."""
    return running + boundary - start - 1


def own_column(boundary: int, grid: int) -> int:
    """The column that the state of a completed block is found in."""
    return boundary // grid - 1


def copies_boundary(start: int, boundary: int, column: int, own: int) -> bool:
    """Decode: a block was completed, and its state lies elsewhere."""
    return boundary > start and column != own


def page_column(position: int, block: int) -> int:
    """The page of the token at a position (from 0)."""
    return position // block

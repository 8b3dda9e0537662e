"""The allocation plan of a state group: the new block table, pointwise.

`column_source` says for every column of the new table where its block comes from: an old column (0
<= source < old length), the j-th fresh block (old length + j), or NULL. The oracle builds its
tables from it and the proofs lift it; there is no second description.

Layout after a step that ends at `end` (drafts included): running column r = ceil(end/B)-1, k
scratch columns behind it, the checkpoint, if any, in column r-1. Old scratch below the checkpoint
column moves to the end."""

from dataclasses import dataclass

NULL = -1


@dataclass(frozen=True, slots=True)
class PlanQuery:
    """`length`: old table. `scratch`: how many of its last columns are scratch (0 before the first
    allocation of a residency, else `drafts`). `running`: the new running column. `checkpoint`: 0 or
    1."""

    length: int
    scratch: int
    drafts: int
    running: int
    checkpoint: int


def first_scratch(q: PlanQuery) -> int:
    """The first old scratch column."""
    return q.length - q.scratch


def limit_column(q: PlanQuery) -> int:
    """Scratch below this column moves, holes below it stay holes."""
    return q.running - q.checkpoint


def moved(q: PlanQuery) -> int:
    """How many old scratch columns move to the end."""
    return max(0, min(q.scratch, limit_column(q) - first_scratch(q)))


def new_length(q: PlanQuery) -> int:
    """A table never shrinks: an earlier step may have reached further."""
    return max(q.length, q.running + 1 + q.drafts)


def first_added(q: PlanQuery) -> int:
    """The first column behind the old table that is not a hole."""
    return max(q.length, limit_column(q))


def column_source(q: PlanQuery, column: int) -> int:
    """Where the block of `column` of the new table comes from (0 <= column < new_length)."""
    if column < first_scratch(q):
        return column
    if column < q.length:
        return NULL if column < limit_column(q) else column
    if column < first_added(q):
        return NULL
    added = column - first_added(q)
    if added < moved(q):
        return first_scratch(q) + added
    return q.length + added - moved(q)


def fresh_blocks(q: PlanQuery) -> int:
    """How many fresh blocks the plan takes; the admission estimate is this very function."""
    return max(0, new_length(q) - first_added(q) - moved(q))


def moved_left(q: PlanQuery) -> int:
    """The defect: in a step with a checkpoint no scratch moves."""
    return 0 if q.checkpoint > 0 else moved(q)


def column_source_left(q: PlanQuery, column: int) -> int:
    """The defect: scratch below the checkpoint column stays where it is, unwritten."""
    if column < q.length:
        return column if q.checkpoint > 0 or column < first_scratch(q) else column_source(q, column)
    if column < first_added(q):
        return NULL
    added = column - first_added(q)
    if added < moved_left(q):
        return first_scratch(q) + added
    return q.length + added - moved_left(q)


def fresh_blocks_left(q: PlanQuery) -> int:
    """What the plan with unmoved scratch takes."""
    return max(0, new_length(q) - first_added(q) - moved_left(q))


def estimate_counting_scratch(q: PlanQuery) -> int:
    """The defect: the estimate still counts the scratch of a checkpoint step after it moved."""
    return (
        min(max(0, new_length(q) - q.length), 1 + q.checkpoint + q.drafts)
        if q.checkpoint > 0
        else fresh_blocks(q)
    )


def is_retired(column: int, processed: int, grid: int) -> bool:
    """A state column is given back once `processed` tokens are known complete and lie above its
    block."""
    return column < (processed - 1) // grid

"""Where a chunk ends: our splitter. One token offered is at least one token scheduled.

The end is the smallest of: start + offered, the end of the prefill, the next kept position, the end
of the block the chunk starts inside. An end that is neither kept nor the end of the prefill goes
down to the state grid when that is still above the start, else it stays inside the block. A chunk
that starts on the grid may run past one kept position if it exports it as its checkpoint.
`chunk_end` is final: encoder, threshold and budget caps come before it, in `offered`.

Positions that do not exist are 0, the position that needs no state.
"""

from dataclasses import dataclass

from truehit.spec.units import floor_to, running_column


@dataclass(frozen=True, slots=True)
class SplitQuery:
    """One chunk to be cut. `period` and `period_stop` (the first multiple of it above `start`) are
    0 for retention 0. `replay` and `extend` are the kept positions of the retention rule;
    `boundary` and `margin` are the replay boundary and its neighbour of the releases."""

    start: int
    offered: int
    prefill_end: int
    prompt: int
    grid: int
    hash_unit: int
    replay: int
    extend: int
    junction: int
    period: int
    period_stop: int
    checkpoint_alignment: int
    largest_chunk: int
    fine: bool
    dropping: bool
    backing_off: bool
    boundary: int
    margin: int


def period_stop_after(start: int, period: int) -> int:
    """The first multiple of a period (> 0) above the start."""
    return (start // period + 1) * period


def is_kept(q: SplitQuery, position: int) -> bool:
    """A position above the start, not above the second period stop, whose state is published."""
    named = position == q.replay or position == q.extend or position == q.junction
    periodic = q.period > 0 and (position == q.period_stop or position == q.period_stop + q.period)
    return named or periodic


def next_stop(q: SplitQuery, after: int) -> int:
    """The first kept position above `after` (start <= after < period_stop + period), at most the
    end of the prefill."""
    stop = q.prefill_end
    if after < q.replay and q.replay < stop:
        stop = q.replay
    if after < q.extend and q.extend < stop:
        stop = q.extend
    if after < q.junction and q.junction < stop:
        stop = q.junction
    if q.period > 0:
        periodic = q.period_stop if after < q.period_stop else q.period_stop + q.period
        if periodic < stop:
            stop = periodic
    return stop


def plain_end(q: SplitQuery) -> int:
    """The end of a chunk that exports nothing."""
    end = min(q.start + q.offered, next_stop(q, q.start))
    if q.start % q.grid != 0:
        end = min(end, (q.start // q.grid + 1) * q.grid)
    if end == q.prefill_end or is_kept(q, end):
        return end
    on_grid = floor_to(end, q.grid)
    return on_grid if on_grid > q.start else end


def exporting_end(q: SplitQuery) -> int:
    """The end of a chunk that exports its first kept position, or the start if there is none
    such."""
    stop = next_stop(q, q.start)
    if q.checkpoint_alignment == 0 or q.start % q.grid != 0 or stop >= q.prefill_end:
        return q.start
    if (stop - q.start) % q.checkpoint_alignment != 0:
        return q.start
    second = next_stop(q, stop)
    end = min(q.start + q.offered, second)
    if end < second:
        end = floor_to(end, q.grid)
    if end <= stop or running_column(end, q.grid) <= q.start // q.grid:
        return q.start
    return end


def chunk_end(q: SplitQuery) -> int:
    """The end of the next chunk; start + offered once the prefill is over."""
    if q.start >= q.prefill_end:
        return q.start + q.offered
    exporting = exporting_end(q)
    return exporting if exporting > q.start else plain_end(q)


def checkpoint(q: SplitQuery, end: int) -> int:
    """The kept position that a chunk [start, end) exports from its middle, or 0."""
    if q.start >= q.prefill_end or q.checkpoint_alignment == 0:
        return 0
    stop = next_stop(q, q.start)
    return stop if stop < end else 0

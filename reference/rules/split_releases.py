"""Where a chunk ends in released engines, as variants: each is a control that some obligation
refutes.

The formulas are those of the public threads, in our words. A result equal to the start is a
deferral. `grid` is whatever the rule set takes for the grid (the state block, or the minimum
block)."""

from truehit.reference.rules.split import SplitQuery
from truehit.spec.units import ceil_div, floor_to


def release_checkpoint(q: SplitQuery) -> int:
    """The position a final chunk would export: the last unit below the end, one lower under a
    drop."""
    unit = q.hash_unit if q.fine else q.grid
    position = floor_to(q.prefill_end - 1, unit)
    if q.dropping:
        position = position - unit
    return max(position, 0)


def exports(q: SplitQuery, end: int) -> bool:
    """True iff a chunk [start, end) that finishes the prefill exports `release_checkpoint`."""
    position = release_checkpoint(q)
    if q.checkpoint_alignment == 0 or end < q.prefill_end or q.start % q.hash_unit != 0:
        return False
    if ceil_div(end, q.grid) - 2 <= (q.start - 1) // q.grid:
        return False
    inside = q.start + q.hash_unit <= position and position < end
    return inside and (position - q.start) % q.checkpoint_alignment == 0


def last_position(q: SplitQuery) -> int:
    """The last cache position: the last grid point of the prompt, one block lower with the
    back-off."""
    last = floor_to(q.prompt, q.grid)
    if q.backing_off:
        last = max(last - q.grid, 0)
    return last


def first_inside(start: int, end: int, stop: int) -> int:
    """The stop if it lies strictly inside (start, end), else the end."""
    return stop if start < stop and stop < end else end


def common_stops(q: SplitQuery, end: int, last: int, exporting: bool) -> int:
    """The stops that all variants share: the last position, the partial tail, the junction."""
    result = first_inside(q.start, end, last)
    tail = floor_to(q.prompt, q.hash_unit)
    if q.fine and not exporting and last < tail and tail < q.prompt:
        result = first_inside(q.start, result, tail)
    if q.start < q.junction and q.junction < end:
        junction = q.start + floor_to(q.junction - q.start, q.grid)
        result = first_inside(q.start, result, junction)
    return max(result, q.start)


def aligned_before_end(q: SplitQuery, end: int) -> int:
    """Ends below the end of the prefill go down to the grid, unless the block is wider than any
    chunk."""
    if end >= q.prefill_end:
        return end
    on_grid = floor_to(end, q.grid)
    return on_grid if on_grid > q.start or q.grid <= q.largest_chunk else end


def next_boundary(q: SplitQuery) -> int:
    """The first grid point above the start."""
    return (q.start // q.grid + 1) * q.grid


def aligned_below_last(q: SplitQuery) -> int:
    """Aligned only below the last cache position (0.26): past it any end is accepted."""
    if q.start >= q.prefill_end:
        return q.start + q.offered
    end, last = q.start + q.offered, last_position(q)
    if end < last:
        end = floor_to(end, q.grid)
    result = common_stops(q, end, last, False)
    if q.start % q.grid != 0 and next_boundary(q) <= last:
        result = first_inside(q.start, result, next_boundary(q))
    return max(result, q.start)


def stop_from_misaligned(q: SplitQuery) -> int:
    """A boundary stop only from a misaligned start: an aligned start may span several blocks."""
    if q.start >= q.prefill_end:
        return q.start + q.offered
    end = q.start + q.offered
    exporting = exports(q, end)
    last = 0 if exporting else last_position(q)
    end = aligned_before_end(q, end)
    result = common_stops(q, end, last, exporting)
    if q.start % q.grid != 0 and not exporting:
        result = first_inside(q.start, result, next_boundary(q))
    return max(result, q.start)


def stop_every_boundary(q: SplitQuery) -> int:
    """Every boundary is a stop, except in a chunk that exports a checkpoint."""
    if q.start >= q.prefill_end:
        return q.start + q.offered
    end = q.start + q.offered
    exporting = exports(q, end)
    last = 0 if exporting else last_position(q)
    end = aligned_before_end(q, end)
    result = common_stops(q, end, last, exporting)
    if not exporting:
        result = first_inside(q.start, result, next_boundary(q))
    return max(result, q.start)


def retention_stops(q: SplitQuery) -> int:
    """Periodic stops follow retention; the replay boundary and the margin below it are stops."""
    if q.start >= q.prefill_end:
        return q.start + q.offered
    end = aligned_before_end(q, q.start + q.offered)
    result = common_stops(q, end, floor_to(q.prompt, q.grid), False)
    if q.start % q.grid != 0:
        result = first_inside(q.start, result, next_boundary(q))
    if q.period > 0:
        result = first_inside(q.start, result, q.period_stop)
    result = first_inside(q.start, result, q.boundary)
    result = first_inside(q.start, result, q.margin)
    return max(result, q.start)

"""Where a chunk ends in released schedulers: variants kept so that their defects show here too.

A result equal to the start is a deferral."""

from truehit.engine import fields as f
from truehit.engine.compiled import compiled
from truehit.engine.memory import Core
from truehit.engine.rules import (
    SPLIT_BELOW_LAST,
    SPLIT_EVERY_BOUNDARY,
    SPLIT_MISALIGNED,
    SPLIT_RETENTION,
)


@compiled
def _stop(start: int, end: int, position: int) -> int:
    """The position if it lies strictly inside the chunk."""
    return position if start < position < end else end


@compiled
def _export_position(c: Core, slot: int) -> int:
    """The last unit below the end of the prefill, one lower under a drop."""
    unit = c.fixed[f.F_HASH_UNIT] if c.fixed[f.F_FINE] else c.fixed[f.F_SPLIT_GRID]
    position = (c.request[slot, f.R_PREFILL_END] - 1) // unit * unit
    return max(position - unit if c.fixed[f.F_ANY_DROP] else position, 0)


@compiled
def _exports(c: Core, slot: int, end: int) -> bool:
    """A chunk that finishes the prefill exports, if its checkpoint has a column of its own."""
    start, unit = c.request[slot, f.R_COMPUTED], c.fixed[f.F_HASH_UNIT]
    alignment, grid = c.fixed[f.F_CHECKPOINT_ALIGNMENT], c.fixed[f.F_SPLIT_GRID]
    if alignment == 0 or end < c.request[slot, f.R_PREFILL_END] or start % unit != 0:
        return False
    if (end + grid - 1) // grid - 2 <= (start - 1) // grid:
        return False
    position = _export_position(c, slot)
    return start + unit <= position < end and (position - start) % alignment == 0


@compiled
def _common(c: Core, slot: int, end: int, last: int, exporting: bool) -> int:
    """The last cache position, the partial tail, the junction."""
    start, prompt = c.request[slot, f.R_COMPUTED], c.request[slot, f.R_PROMPT]
    grid, unit = c.fixed[f.F_SPLIT_GRID], c.fixed[f.F_HASH_UNIT]
    result = _stop(start, end, last)
    tail = prompt // unit * unit
    if c.fixed[f.F_FINE] and not exporting and last < tail < prompt:
        result = _stop(start, result, tail)
    junction = c.request[slot, f.R_JUNCTION]
    if start < junction < end:
        result = _stop(start, result, start + (junction - start) // grid * grid)
    return max(result, start)


@compiled
def released_chunk(c: Core, slot: int, offered: int) -> tuple[int, int]:
    """The end of a prefill chunk and the position it exports (0: none)."""
    split, grid = c.fixed[f.F_SPLIT], c.fixed[f.F_SPLIT_GRID]
    start, final = c.request[slot, f.R_COMPUTED], c.request[slot, f.R_PREFILL_END]
    last = c.request[slot, f.R_PROMPT] // grid * grid
    if c.fixed[f.F_BACK_OFF] and split != SPLIT_RETENTION:
        last = max(last - grid, 0)
    end, boundary = start + offered, (start // grid + 1) * grid
    may_export = split == SPLIT_MISALIGNED or split == SPLIT_EVERY_BOUNDARY
    exporting = may_export and _exports(c, slot, end)
    last = 0 if exporting else last
    if split == SPLIT_BELOW_LAST:
        end = end // grid * grid if end < last else end
    elif end < final:
        aligned = end // grid * grid
        end = aligned if aligned > start or grid <= c.fixed[f.F_LARGEST_CHUNK] else end
    result = _common(c, slot, end, last, exporting)
    inside = start % grid != 0
    if split == SPLIT_BELOW_LAST and boundary > last:
        inside = False
    if split == SPLIT_EVERY_BOUNDARY:
        inside = True
    if inside and not exporting:
        result = _stop(start, result, boundary)
    if split == SPLIT_RETENTION:
        period = c.fixed[f.F_PERIOD]
        if period > 0:
            result = _stop(start, result, (start // period + 1) * period)
        result = _stop(start, result, c.request[slot, f.R_BOUNDARY])
        result = _stop(start, result, c.request[slot, f.R_MARGIN])
    result = max(result, start)
    exported = may_export and _exports(c, slot, result)
    return result, _export_position(c, slot) if exported else 0

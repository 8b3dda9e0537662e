"""Where a chunk ends: at the next kept position or on the state grid, always past its start."""

from truehit.engine import fields as f
from truehit.engine.compiled import compiled
from truehit.engine.memory import Core
from truehit.engine.retain import is_kept, next_kept
from truehit.engine.rules import SPLIT_KEPT
from truehit.engine.split_released import released_chunk


@compiled
def _exporting_end(c: Core, slot: int, start: int, offered: int) -> int:
    """The end of a chunk that exports the next kept position from its middle, or its start."""
    grid, alignment = c.fixed[f.F_SPLIT_GRID], c.fixed[f.F_CHECKPOINT_ALIGNMENT]
    final = c.request[slot, f.R_PREFILL_END]
    if alignment == 0 or start % grid != 0:
        return start
    stop = next_kept(c, slot, start, final)
    if stop == final or (stop - start) % alignment != 0:
        return start
    second = next_kept(c, slot, stop, final)
    end = start + offered
    end = second if end >= second else end // grid * grid
    columns_from_start = (end + grid - 1) // grid - 1 - start // grid
    return end if end > stop and columns_from_start > 0 else start


@compiled
def _plain_end(c: Core, slot: int, start: int, offered: int) -> int:
    """The end of a chunk that exports nothing."""
    grid, final = c.fixed[f.F_SPLIT_GRID], c.request[slot, f.R_PREFILL_END]
    end = min(start + offered, next_kept(c, slot, start, final))
    if start % grid != 0:
        end = min(end, (start // grid + 1) * grid)
    if end == final or is_kept(c, slot, end):
        return end
    aligned = end // grid * grid
    return aligned if aligned > start else end


@compiled
def chunk_end(c: Core, slot: int, offered: int) -> tuple[int, int]:
    """The end of the next chunk, and the position it exports from its middle (0: none)."""
    start, final = c.request[slot, f.R_COMPUTED], c.request[slot, f.R_PREFILL_END]
    if start >= final or c.fixed[f.F_STATES] == 0:
        return start + offered, 0
    if c.fixed[f.F_SPLIT] != SPLIT_KEPT:
        return released_chunk(c, slot, offered)
    end = _exporting_end(c, slot, start, offered)
    if end == start:
        end = _plain_end(c, slot, start, offered)
    if c.fixed[f.F_CHECKPOINT_ALIGNMENT] > 0:
        stop = next_kept(c, slot, start, final)
        if stop < end:
            return end, stop
    return end, 0

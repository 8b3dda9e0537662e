"""What a chunk [start, end) of a prefill has to be; `exported`: its checkpoint's position, 0: none.

`position` is any position at all: a goal that mentions it holds for every one. The laws *grid* and
*progress* are made of these.
"""

from truehit.spec.predicates.keep import kept_at
from truehit.spec.units import running_column


def is_prefill(start: int, offered: int, prefill_end: int) -> bool:
    """A chunk is asked for: at least one token is offered, and no more than are left."""
    return start >= 0 and offered >= 1 and start + offered <= prefill_end


def has_positions(replay: int, extend: int, junction: int, period: int) -> bool:
    """Positions and the period are not negative; 0 means none."""
    return replay >= 0 and extend >= 0 and junction >= 0 and period >= 0


def starts_on_grid(start: int, grid: int) -> bool:
    """The chunk starts at a block boundary."""
    return start % grid == 0


def kept_on_grid(replay: int, extend: int, junction: int, period: int, grid: int) -> bool:
    """All kept positions are block boundaries, as with coarse hits."""
    named = replay % grid == 0 and extend % grid == 0 and junction % grid == 0
    return named and (period == 0 or period % grid == 0)


def within_offer(start: int, offered: int, prefill_end: int, end: int) -> bool:
    """A chunk takes at least no token, at most what is offered, and stays in the prefill."""
    return start <= end and end <= start + offered and end <= prefill_end


def progresses(start: int, end: int) -> bool:
    """A chunk that was offered a token takes one."""
    return end > start


def ends_well(
    start: int,
    prefill_end: int,
    grid: int,
    replay: int,
    extend: int,
    junction: int,
    period: int,
    end: int,
) -> bool:
    """The end is on the grid, kept, the prefill's own, or inside the block the chunk started in."""
    if end == prefill_end or end % grid == 0:
        return True
    if kept_at(end, replay, extend, junction, period):
        return True
    return start <= end and end < (start // grid + 1) * grid


def stays_in_block(start: int, grid: int, end: int) -> bool:
    """A chunk that starts inside a block does not pass the block's end."""
    return start % grid == 0 or end <= (start // grid + 1) * grid


def passes_nothing_kept(
    start: int,
    end: int,
    exported: int,
    position: int,
    replay: int,
    extend: int,
    junction: int,
    period: int,
) -> bool:
    """Every kept position strictly inside the chunk is the one it exports."""
    if not (start < position and position < end):
        return True
    return position == exported or not kept_at(position, replay, extend, junction, period)


def exports_kept(
    start: int,
    end: int,
    exported: int,
    checkpoint_alignment: int,
    replay: int,
    extend: int,
    junction: int,
    period: int,
) -> bool:
    """An exported position is kept, strictly inside the chunk, and where a kernel can stop."""
    if exported == 0:
        return True
    if checkpoint_alignment == 0 or not (start < exported and exported < end):
        return False
    kept = kept_at(exported, replay, extend, junction, period)
    return kept and (exported - start) % checkpoint_alignment == 0


def suits_table(start: int, end: int, exported: int, grid: int) -> bool:
    """What the allocation plan needs of a chunk: the splitter's guarantee and the plan's premise.

    A chunk moves on. One that starts inside a block stays in it. One that exports a checkpoint
    starts on the grid and ends so far above that the column below its running column is new.
    """
    if start < 0 or end <= start:
        return False
    if exported == 0:
        return stays_in_block(start, grid, end)
    inside = start < exported and exported < end
    return inside and start % grid == 0 and running_column(end, grid) > start // grid


def uses_offer(start: int, offered: int, prefill_end: int, grid: int, end: int, kept: bool) -> bool:
    """Cost: a chunk from the grid that is not cut by a kept position, by the prefill's end or by a
    block wider than the offer wastes less than one block of the offer."""
    if end == prefill_end or kept:
        return True
    return end > start + offered - grid


def block_each_chunk(start: int, prefill_end: int, grid: int, end: int) -> bool:
    """Cost: a chunk finishes the prefill or at least one whole block of it, so a prefill from the
    grid has at most as many chunks as it has blocks."""
    return end == prefill_end or (end % grid == 0 and end >= start + grid)


def offers_block(offered: int, grid: int) -> bool:
    """A whole block is offered."""
    return offered >= grid


def same_chunk(end: int, exported: int, other_end: int, other_exported: int) -> bool:
    """Two rules, or one rule asked twice, cut alike."""
    return end == other_end and exported == other_exported


def grids_equal(grid: int, minimum_block: int) -> bool:
    """The state block is the smallest block of all."""
    return grid == minimum_block


def next_multiple(start: int, period: int, position: int, stop: int) -> bool:
    """The stop is a multiple above the start, and no position between the two is one."""
    if stop <= start or stop % period != 0:
        return False
    return not (start < position and position < stop) or position % period != 0

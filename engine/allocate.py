"""Blocks for a chunk: what it needs, counted before it takes, and then taken, group by group.

A state group keeps one running state, `drafts` scratch columns behind it and, in a chunk that
exports, the checkpoint before it; scratch that falls behind moves to the end instead of being
written where nobody looks. The columns that a chunk skips are holes."""

from truehit.engine import fields as f
from truehit.engine.compiled import compiled
from truehit.engine.log import log_columns, log_move
from truehit.engine.memory import Core
from truehit.engine.pool import has_keys, is_free
from truehit.engine.retain import is_kept
from truehit.engine.rules import ESTIMATE_COUNTS_SCRATCH, SCRATCH_LEFT
from truehit.engine.tables import (
    adopt_block,
    adopted,
    block_at,
    copy_on_write,
    moved,
    place_fresh,
)


@compiled
def running_column(end: int, grid: int) -> int:
    """The column that holds the state after `end` > 0 tokens."""
    return (end + grid - 1) // grid - 1


@compiled
def export_column(c: Core, slot: int, g: int, end: int) -> int:
    """The column of a checkpoint: before the running one. Released splitters export from the first
    column too, where there is none; then the last one is overwritten, as in their workers."""
    running = running_column(end, c.group[g, f.G_BLOCK])
    return running - 1 if running > 0 else c.table[slot, g, f.T_LENGTH] - 1


@compiled
def _shift(c: Core, length: int, scratch: int, running: int, checkpoint: int) -> tuple[int, int]:
    """How many scratch columns move, and the first added column that is not a hole."""
    limit = running - checkpoint
    count = max(0, min(scratch, limit - (length - scratch)))
    if checkpoint and c.fixed[f.F_SCRATCH] == SCRATCH_LEFT:
        count = 0
    return count, max(length, limit)


@compiled
def _fresh(c: Core, length: int, scratch: int, drafts: int, running: int, checkpoint: int) -> int:
    """Blocks that a state table takes to reach its running column."""
    count, first = _shift(c, length, scratch, running, checkpoint)
    return max(0, max(length, running + 1 + drafts) - first - count)


@compiled
def _estimate(
    c: Core, length: int, scratch: int, drafts: int, running: int, checkpoint: int
) -> int:
    """Blocks that admission expects a state table to take."""
    if checkpoint and c.fixed[f.F_ESTIMATE] == ESTIMATE_COUNTS_SCRATCH:
        return min(max(0, running + 1 + drafts - length), 2 + drafts)
    return _fresh(c, length, scratch, drafts, running, checkpoint)


@compiled
def _copies_state(
    c: Core, slot: int, g: int, start: int, end: int, resumed: int, loaded: int
) -> bool:
    """The chunk would overwrite a state that has a key, will get one, or has another reader."""
    grid = c.group[g, f.G_BLOCK]
    if start % grid == 0:
        return False
    column = running_column(start, grid)
    if running_column(end, grid) != column and start < c.request[slot, f.R_PREFILL_END]:
        return False
    if resumed:
        return True
    if not c.table[slot, g, f.T_EXISTS] or loaded:
        return False
    block = block_at(c, slot, g, column)
    if block == 0:
        return False
    return c.block[block, f.B_READERS] > 1 or has_keys(c, block) or is_kept(c, slot, start)


@compiled
def _need_state(
    c: Core, slot: int, g: int, end: int, checkpoint: int, admitted: bool, loaded: int
) -> int:
    table, grid = c.table[slot, g], c.group[g, f.G_BLOCK]
    length, scratch, need = table[f.T_LENGTH], table[f.T_SCRATCH], 0
    block = c.seek[g, f.A_STATE] if admitted and not loaded else 0
    if block:
        length = running_column(c.found[f.M_HIT], grid) + 1
        need += 1 if is_free(c, block) else 0
    if loaded:
        column = running_column(loaded, grid)
        need += _estimate(c, length, 0, 0, column, 0)
        length = max(length, column + 1)
    running, exporting = running_column(end, grid), 1 if checkpoint else 0
    need += _estimate(c, length, scratch, c.fixed[f.F_DRAFTS], running, exporting)
    start = c.request[slot, f.R_COMPUTED]
    return need + (1 if _copies_state(c, slot, g, start, end, block, loaded) else 0)


@compiled
def first_of_window(c: Core, g: int, position: int) -> int:
    """The first page that the token at `position` still reads."""
    if c.group[g, f.G_KIND] != f.WINDOW:
        return 0
    return max(0, position - c.group[g, f.G_WINDOW] + 1) // c.group[g, f.G_BLOCK]


@compiled
def _adopted_range(c: Core, g: int, loaded: int) -> tuple[int, int]:
    """The columns of the hit that a page group keeps."""
    hit, block = c.found[f.M_HIT], c.group[g, f.G_BLOCK]
    first = first_of_window(c, g, max(hit, loaded))
    return first, min((hit + block - 1) // block, c.seek[g, f.A_BLOCKS])


@compiled
def _columns_before(c: Core, slot: int, g: int, admitted: bool, loaded: int) -> int:
    """Columns a page table has before fresh pages are appended."""
    if not admitted:
        return c.table[slot, g, f.T_LENGTH]
    block = c.group[g, f.G_BLOCK]
    columns = (c.found[f.M_HIT] + block - 1) // block
    if c.group[g, f.G_KIND] == f.WINDOW and loaded:
        return max(columns, first_of_window(c, g, loaded))
    return columns


@compiled
def _copies_page(c: Core, g: int) -> bool:
    """The hit ends inside a page that was found (a defect may raise it above them)."""
    hit, block = c.found[f.M_HIT], c.group[g, f.G_BLOCK]
    return hit % block != 0 and hit // block < c.seek[g, f.A_BLOCKS]


@compiled
def _need_pages(c: Core, slot: int, g: int, end: int, admitted: bool, loaded: int) -> int:
    block = c.group[g, f.G_BLOCK]
    held = _columns_before(c, slot, g, admitted, loaded)
    need = max(0, (end + block - 1) // block - held)
    if admitted:
        first, last = _adopted_range(c, g, loaded)
        for column in range(first, last):
            if is_free(c, c.match[g, column]):
                need += 1
        if _copies_page(c, g):
            need += 1
    return need


@compiled
def blocks_needed(
    c: Core, slot: int, end: int, checkpoint: int, admitted: bool, loaded: int
) -> int:
    """Blocks the chunk [computed, end) takes from the free pool, by the rule set's estimate."""
    need = 0
    for g in range(c.group.shape[0]):
        kind = c.group[g, f.G_KIND]
        if kind == f.STATE:
            need += _need_state(c, slot, g, end, checkpoint, admitted, loaded)
        elif kind == f.CIRCULAR:
            need += 0 if c.table[slot, g, f.T_EXISTS] else 1
        else:
            need += _need_pages(c, slot, g, end, admitted, loaded)
    return need


@compiled
def adopt_hit(c: Core, slot: int, loaded: int) -> None:
    """Make the blocks of the last lookup readable through the request's tables."""
    hit = c.found[f.M_HIT]
    for g in range(c.group.shape[0]):
        kind, block_tokens = c.group[g, f.G_KIND], c.group[g, f.G_BLOCK]
        table = c.table[slot, g]
        if kind == f.CIRCULAR:
            continue
        if kind == f.STATE:
            block = 0 if loaded else c.seek[g, f.A_STATE]
            if block == 0:
                continue
            column = running_column(hit, block_tokens)
            adopt_block(c, slot, g, column, block)
            table[f.T_LENGTH], table[f.T_EXISTS] = column + 1, 1
            table[f.T_FILED], table[f.T_RETIRED] = hit // block_tokens, column
            adopted(c, slot, g, column, 1, hit)
            continue
        first, last = _adopted_range(c, g, loaded)
        for column in range(first, last):
            adopt_block(c, slot, g, column, c.match[g, column])
        table[f.T_LENGTH], table[f.T_EXISTS] = (hit + block_tokens - 1) // block_tokens, 1
        table[f.T_FILED] = table[f.T_PARTIAL_FILED] = hit
        if last > first:
            table[f.T_RETIRED] = first
            adopted(c, slot, g, first, last - first, hit)


@compiled
def _grow_to(
    c: Core, slot: int, g: int, drafts: int, running: int, checkpoint: int, scratch: int
) -> None:
    """Move scratch that falls behind, leave holes, take what is missing."""
    table = c.table[slot, g]
    length = table[f.T_LENGTH]
    count, first = _shift(c, length, scratch, running, checkpoint)
    fresh = _fresh(c, length, scratch, drafts, running, checkpoint)
    target = max(length, running + 1 + drafts)
    table[f.T_LENGTH] = target
    if count:
        moved(c, slot, g, length - scratch, first, count)
    place_fresh(c, slot, g, first + count, fresh)
    if count:
        log_move(c, slot, g, length - scratch, first, count)
    if fresh:
        log_columns(c, f.L_PLACE, slot, g, first + count, fresh, 0)


@compiled
def _grow_state(
    c: Core, slot: int, g: int, end: int, checkpoint: int, loaded: int, resumed: int
) -> None:
    table, grid = c.table[slot, g], c.group[g, f.G_BLOCK]
    start, scratch = c.request[slot, f.R_COMPUTED], table[f.T_SCRATCH]
    copying = _copies_state(c, slot, g, start, end, resumed, loaded)
    table[f.T_EXISTS] = 1
    if loaded:
        _grow_to(c, slot, g, 0, running_column(loaded, grid), 0, 0)
    running = running_column(end, grid)
    _grow_to(c, slot, g, c.fixed[f.F_DRAFTS], running, 1 if checkpoint else 0, scratch)
    if copying:
        copy_on_write(c, slot, g, running_column(start, grid))
    table[f.T_SCRATCH] = table[f.T_LENGTH] - 1 - running


@compiled
def _grow_pages(c: Core, slot: int, g: int, end: int, admitted: bool, loaded: int) -> None:
    table, block = c.table[slot, g], c.group[g, f.G_BLOCK]
    table[f.T_EXISTS] = 1
    if admitted and _copies_page(c, g):
        copy_on_write(c, slot, g, c.found[f.M_HIT] // block)
    table[f.T_LENGTH] = max(table[f.T_LENGTH], _columns_before(c, slot, g, admitted, loaded))
    length = table[f.T_LENGTH]
    fresh = max(0, (end + block - 1) // block - length)
    place_fresh(c, slot, g, length, fresh)
    if fresh:
        log_columns(c, f.L_PLACE, slot, g, length, fresh, 0)


@compiled
def take_blocks(c: Core, slot: int, end: int, checkpoint: int, admitted: bool, loaded: int) -> None:
    """Take what the chunk needs in every group, after `adopt_hit`."""
    for g in range(c.group.shape[0]):
        kind = c.group[g, f.G_KIND]
        table = c.table[slot, g]
        if kind == f.STATE:
            resumed = c.seek[g, f.A_STATE] if admitted and not loaded else 0
            _grow_state(c, slot, g, end, checkpoint, loaded, resumed)
            if checkpoint:
                column = export_column(c, slot, g, end)
                if column < running_column(end, c.group[g, f.G_BLOCK]):
                    c.exported[table[f.T_AT] + column] = 1
        elif kind == f.CIRCULAR:
            if not table[f.T_EXISTS]:
                table[f.T_EXISTS] = 1
                place_fresh(c, slot, g, 0, 1)
                log_columns(c, f.L_PLACE, slot, g, 0, 1, 0)
        else:
            _grow_pages(c, slot, g, end, admitted, loaded)

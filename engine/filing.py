"""Which blocks get which keys, and which columns are given back.

States are filed by position: column p, unless it is a hole or a checkpoint's, is the state after
(p + 1) blocks. The splitter and the allocation see to that; nothing here looks inside a block. A
checkpoint and the tail of a prefill chunk are filed under the position they were made for.
Attention files every whole page, and with fine hits a partial key where a kept position plus the
drop ends inside a page."""

import numpy as np

from truehit.engine import fields as f
from truehit.engine.compiled import compiled
from truehit.engine.keys import publish
from truehit.engine.log import begin, close, is_watched, log_key, log_null, put
from truehit.engine.memory import Core
from truehit.engine.retain import is_kept
from truehit.engine.tables import make_holes


@compiled
def _open(c: Core, slot: int, g: int) -> int:
    """Begin to say what is published; 0 when nobody listens."""
    if not is_watched(c):
        return 0
    opened = begin(c, f.L_PUBLISH)
    put(c, c.request[slot, f.R_ORDER])
    put(c, g)
    return opened


@compiled
def _shut(c: Core, opened: int, count: int) -> None:
    """Say it, unless nothing was published."""
    if opened:
        if count:
            close(c, opened)
        else:
            c.now[f.N_LOG] = opened - 2


ODD_ROW = 0
"""The first row of the key arena belongs to no request."""


@compiled
def _odd_row(c: Core, slot: int, tokens: int) -> int:
    """A key between two units. Only released splitters export there, and no lookup can name it; it
    only has to differ from every other key."""
    unit = tokens // c.fixed[f.F_HASH_UNIT]
    for i in range(8):
        word = c.key[c.request[slot, f.R_KEYS] + unit - 1, i] if unit else np.uint32(0)
        c.key[ODD_ROW, i] = word ^ np.uint32(tokens)
    return ODD_ROW


@compiled
def _row_of(c: Core, slot: int, tokens: int) -> int:
    """The row of the key arena with the key of so many tokens; -1: not known yet."""
    if tokens + c.fixed[f.F_LOOKAHEAD] > c.request[slot, f.R_KNOWN]:
        return -1
    if tokens % c.fixed[f.F_HASH_UNIT]:
        return _odd_row(c, slot, tokens)
    return c.request[slot, f.R_KEYS] + tokens // c.fixed[f.F_HASH_UNIT] - 1


@compiled
def _tell(c: Core, slot: int, g: int, tokens: int, block: int) -> None:
    """An audit wants to know; what no longer fits in the list is counted and lost."""
    at = c.now[f.N_TOLD]
    c.now[f.N_TOLD] = at + 1
    if at < c.told.shape[0]:
        c.told[at, f.P_SLOT] = slot
        c.told[at, f.P_GROUP] = g
        c.told[at, f.P_TOKENS] = tokens
        c.told[at, f.P_BLOCK] = block


@compiled
def _file(c: Core, slot: int, g: int, tokens: int, block: int, opened: int) -> int:
    """Publish one block under the key of so many tokens; 1 if it is new there."""
    row = _row_of(c, slot, tokens) if block else -1
    if row < 0 or not publish(c, g, row, block):
        return 0
    c.block[block, f.B_FRESH_STEP] = c.now[f.N_STEP] + 1
    if c.told.shape[0]:
        _tell(c, slot, g, tokens, block)
    if opened:
        put(c, tokens)
        put(c, block)
    return 1


@compiled
def _mask(c: Core, slot: int, g: int, tokens: int) -> None:
    """Tell who listens that a state existed here and was not kept."""
    row = _row_of(c, slot, tokens)
    if row >= 0:
        log_key(c, f.L_MASKED, g, c.key, row, 0)


@compiled
def _file_columns(c: Core, slot: int, g: int, last: int, opened: int) -> int:
    """The kept ones of the columns that were completed."""
    table, grid, count = c.table[slot, g], c.group[g, f.G_BLOCK], 0
    for column in range(table[f.T_FILED], last):
        at = table[f.T_AT] + column
        if c.column[at] == 0 or c.exported[at]:
            continue
        position = (column + 1) * grid
        if is_kept(c, slot, position):
            count += _file(c, slot, g, position, c.column[at], opened)
    return count


@compiled
def _mask_columns(c: Core, slot: int, g: int, last: int) -> None:
    table, grid = c.table[slot, g], c.group[g, f.G_BLOCK]
    for column in range(table[f.T_FILED], last):
        at = table[f.T_AT] + column
        if c.column[at] != 0 and not c.exported[at] and not is_kept(c, slot, (column + 1) * grid):
            _mask(c, slot, g, (column + 1) * grid)


@compiled
def _file_states(
    c: Core, slot: int, g: int, upto: int, end: int, checkpoint: int, tail: int, export: int
) -> None:
    table, grid = c.table[slot, g], c.group[g, f.G_BLOCK]
    hashed = min(upto, c.request[slot, f.R_KNOWN] - c.fixed[f.F_LOOKAHEAD])
    last = max(table[f.T_FILED], hashed // grid)
    if is_watched(c):
        _mask_columns(c, slot, g, last)
    opened = _open(c, slot, g)
    count = _file_columns(c, slot, g, last, opened)
    table[f.T_FILED] = last
    if tail and upto == end and upto == hashed and upto % grid != 0 and is_kept(c, slot, upto):
        count += _file(c, slot, g, upto, tail, opened)
    if checkpoint:
        count += _file(c, slot, g, checkpoint, export, opened)
    _shut(c, opened, count)


@compiled
def next_partial_end(c: Core, slot: int, g: int, after: int) -> int:
    """The first kept position plus the drop above `after`; 0: none."""
    drop, first, row = c.group[g, f.G_DROP], 0, c.request[slot]
    for field in (f.R_REPLAY, f.R_EXTEND, f.R_JUNCTION):
        end = row[field] + drop
        if row[field] and end > after and (first == 0 or end < first):
            first = end
    period = c.fixed[f.F_PERIOD]
    if period > 0:
        end = max((after - drop) // period + 1, 1) * period + drop
        if first == 0 or end < first:
            first = end
    return first


@compiled
def _file_pages(c: Core, slot: int, g: int, upto: int) -> None:
    table, block = c.table[slot, g], c.group[g, f.G_BLOCK]
    at = table[f.T_AT]
    hashed = max(min(upto, c.request[slot, f.R_KNOWN] - c.fixed[f.F_LOOKAHEAD]), 0)
    opened, count = _open(c, slot, g), 0
    for column in range(table[f.T_FILED] // block, hashed // block):
        count += _file(c, slot, g, (column + 1) * block, c.column[at + column], opened)
    if c.fixed[f.F_FINE] and c.group[g, f.G_KIND] == f.FULL:
        end = next_partial_end(c, slot, g, table[f.T_PARTIAL_FILED])
        while 0 < end <= hashed:
            if end % block:
                count += _file(c, slot, g, end, c.column[at + end // block], opened)
            end = next_partial_end(c, slot, g, end)
    table[f.T_FILED] = max(table[f.T_FILED], hashed)
    table[f.T_PARTIAL_FILED] = max(table[f.T_PARTIAL_FILED], hashed)
    _shut(c, opened, count)


@compiled
def file_chunk(c: Core, slice_: int, row: int, end: int, upto: int) -> None:
    """Publish what is due once `upto` tokens count as computed by a chunk that ends at `end`."""
    chunk = c.chunk[slice_, row]
    slot = chunk[f.C_SLOT]
    for g in range(c.group.shape[0]):
        if c.group[g, f.G_KIND] == f.STATE:
            tail, export = c.chunk_block[slice_, row, g]
            _file_states(c, slot, g, upto, end, chunk[f.C_CHECKPOINT], tail, export)
    for g in range(c.group.shape[0]):
        if c.group[g, f.G_KIND] == f.FULL or c.group[g, f.G_KIND] == f.WINDOW:
            _file_pages(c, slot, g, upto)


@compiled
def retire(c: Core, slot: int) -> None:
    """Give back what the tokens that are known complete no longer need."""
    processed = c.request[slot, f.R_PROCESSED]
    for g in range(c.group.shape[0]):
        kind, block, table = c.group[g, f.G_KIND], c.group[g, f.G_BLOCK], c.table[slot, g]
        first = last = table[f.T_RETIRED]
        if kind == f.STATE:
            last = max(last, min((processed - 1) // block, table[f.T_LENGTH]))
        elif kind == f.WINDOW:
            last = max(last, (processed - c.group[g, f.G_WINDOW] + 1) // block)
        if last > first and make_holes(c, slot, g, first, last):
            log_null(c, slot, g, first, last - first)
        table[f.T_RETIRED] = last

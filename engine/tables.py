"""Block tables: what every operation on the columns of one request and group has in common.

A table is a range of the column arena. Its first T_LENGTH columns count; the rest are holes. Tables
of state and window groups give blocks back while the request runs, so the pool counts which of
their blocks nobody else holds; pages of the other groups stay to the end."""

from truehit.engine import fields as f
from truehit.engine.compiled import compiled
from truehit.engine.log import log_columns, log_hold
from truehit.engine.memory import Core
from truehit.engine.pool import add_tables, release, take_into, touch


@compiled
def gives_back(c: Core, group: int) -> bool:
    """Tables of this group give blocks back before the request ends."""
    kind = c.group[group, f.G_KIND]
    return kind == f.STATE or kind == f.WINDOW


@compiled
def block_at(c: Core, slot: int, group: int, column: int) -> int:
    """The block of a column; 0: a hole."""
    return c.column[c.table[slot, group, f.T_AT] + column]


@compiled
def _count(c: Core, slot: int, group: int, block: int, by: int) -> None:
    """A block came into (1) or left (-1) the table."""
    c.table[slot, group, f.T_HELD] += by
    if gives_back(c, group):
        add_tables(c, block, by)
    else:
        c.now[f.N_PAGES] += by


@compiled
def _note(c: Core, slot: int, group: int, column: int, count: int, is_fresh: int) -> None:
    """The device's copy of the table is to be updated in these columns."""
    at = c.now[f.N_UPDATES]
    c.update[at, f.U_SLOT] = slot
    c.update[at, f.U_GROUP] = group
    c.update[at, f.U_COLUMN] = column
    c.update[at, f.U_COUNT] = count
    c.update[at, f.U_IS_FRESH] = is_fresh
    c.now[f.N_UPDATES] = at + 1


@compiled
def place_fresh(c: Core, slot: int, group: int, column: int, count: int) -> None:
    """Take blocks into the columns from `column` on, which become the last ones."""
    if count <= 0:
        return
    table = c.table[slot, group]
    take_into(c, c.column, table[f.T_AT] + column, count, group)
    for i in range(column, column + count):
        _count(c, slot, group, c.column[table[f.T_AT] + i], 1)
    table[f.T_LENGTH] = max(table[f.T_LENGTH], column + count)
    _note(c, slot, group, column, count, 1)


@compiled
def adopt_block(c: Core, slot: int, group: int, column: int, block: int) -> None:
    """One found block becomes readable through the table."""
    c.column[c.table[slot, group, f.T_AT] + column] = block
    touch(c, block)
    _count(c, slot, group, block, 1)


@compiled
def adopted(c: Core, slot: int, group: int, column: int, count: int, tokens: int) -> None:
    """Say that `count` columns were adopted for a resume at `tokens`."""
    _note(c, slot, group, column, count, 0)
    log_columns(c, f.L_ADOPT, slot, group, column, count, tokens)


@compiled
def moved(c: Core, slot: int, group: int, source: int, column: int, count: int) -> None:
    """Move `count` blocks to later columns; the old ones become holes."""
    at = c.table[slot, group, f.T_AT]
    for i in range(count - 1, -1, -1):
        block = c.column[at + source + i]
        c.column[at + source + i] = 0
        c.column[at + column + i] = block
    _note(c, slot, group, column, count, 0)


@compiled
def copy_on_write(c: Core, slot: int, group: int, column: int) -> None:
    """The column gets a block of its own; the old one is kept until the copy and every key of it
    that is on its way are done with."""
    at = c.table[slot, group, f.T_AT] + column
    old = c.column[at]
    take_into(c, c.column, at, 1, group)
    _count(c, slot, group, c.column[at], 1)
    _count(c, slot, group, old, -1)
    held = c.now[f.N_HELD]
    c.held[held, f.H_GROUP] = group
    c.held[held, f.H_BLOCK] = old
    c.held[held, f.H_UNTIL] = c.now[f.N_STEP] + max(c.fixed[f.F_IN_FLIGHT] - 2, 0)
    c.now[f.N_HELD] = held + 1
    copy = c.now[f.N_COPIES]
    c.copy[copy, f.Y_SLOT] = slot
    c.copy[copy, f.Y_GROUP] = group
    c.copy[copy, f.Y_SOURCE] = old
    c.copy[copy, f.Y_TARGET] = c.column[at]
    c.now[f.N_COPIES] = copy + 1
    _note(c, slot, group, column, 1, 1)
    log_columns(c, f.L_COPY_ON_WRITE, slot, group, column, 1, 0)
    log_hold(c, group, old, 1)


@compiled
def release_held(c: Core) -> None:
    """Let go of the sources of copies whose time has come, oldest first."""
    kept = 0
    for i in range(c.now[f.N_HELD]):
        if c.held[i, f.H_UNTIL] <= c.now[f.N_STEP]:
            log_hold(c, c.held[i, f.H_GROUP], c.held[i, f.H_BLOCK], 0)
            release(c, c.held[i, f.H_BLOCK : f.H_BLOCK + 1], 0, 1, 1)
        else:
            c.held[kept] = c.held[i]
            kept += 1
    c.now[f.N_HELD] = kept


@compiled
def make_holes(c: Core, slot: int, group: int, first: int, end: int) -> int:
    """Give the blocks of columns [first, end) back; returns how many there were."""
    at = c.table[slot, group, f.T_AT]
    count = 0
    for i in range(at + first, at + end):
        if c.column[i] != 0:
            count += 1
            _count(c, slot, group, c.column[i], -1)
    if count:
        release(c, c.column, at + first, at + end, 1)
        c.column[at + first : at + end] = 0
    return count


@compiled
def close_table(c: Core, slot: int, group: int) -> None:
    """The residency ends: all blocks back, the last column first."""
    table = c.table[slot, group]
    at, length = table[f.T_AT], table[f.T_LENGTH]
    for i in range(at, at + length):
        if c.column[i] != 0:
            _count(c, slot, group, c.column[i], -1)
    release(c, c.column, at + length - 1, at - 1, -1)
    c.column[at : at + length] = 0
    c.exported[at : at + length] = 0
    capacity = table[f.T_CAPACITY]
    table[:] = 0
    table[f.T_AT], table[f.T_CAPACITY] = at, capacity

"""The trace as numbers: every event is `kind, length, fields`, appended to one array.

Nobody looks: the array is empty and every function here returns at once. Otherwise the caller made
it large enough for the step; `trace.py` turns the numbers into events."""

from truehit.engine import fields as f
from truehit.engine.compiled import compiled
from truehit.engine.memory import Core, UInt32


@compiled
def is_watched(c: Core) -> bool:
    """Somebody reads the log."""
    return c.log.shape[0] > 0


@compiled
def put(c: Core, value: int) -> None:
    """Append one number."""
    at = c.now[f.N_LOG]
    c.log[at] = value
    c.now[f.N_LOG] = at + 1


@compiled
def begin(c: Core, kind: int) -> int:
    """Open an event; returns where its length belongs."""
    put(c, kind)
    put(c, 0)
    return c.now[f.N_LOG]


@compiled
def close(c: Core, opened: int) -> None:
    """Fill in the length of the event."""
    c.log[opened - 1] = c.now[f.N_LOG] - opened


@compiled
def log_schedule(
    c: Core,
    slot: int,
    start: int,
    end: int,
    offered: int,
    drafts: int,
    cut: int,
    checkpoint: int,
    why_nothing: int,
) -> None:
    """A chunk, or with `why_nothing` the reason why there is none."""
    if not is_watched(c):
        return
    opened = begin(c, f.L_SCHEDULE)
    put(c, c.request[slot, f.R_ORDER])
    put(c, start)
    put(c, end)
    put(c, offered)
    put(c, c.request[slot, f.R_PREFILL_END])
    put(c, drafts)
    put(c, cut)
    put(c, checkpoint)
    put(c, why_nothing)
    close(c, opened)


@compiled
def log_estimate(c: Core, slot: int, blocks: int) -> None:
    """What admission expects to take."""
    if not is_watched(c):
        return
    opened = begin(c, f.L_ESTIMATE)
    put(c, c.request[slot, f.R_ORDER])
    put(c, blocks)
    close(c, opened)


@compiled
def log_columns(
    c: Core, kind: int, slot: int, group: int, column: int, count: int, tokens: int
) -> None:
    """PLACE or ADOPT: `count` columns from `column` on, as they are in the table now."""
    if not is_watched(c):
        return
    at = c.table[slot, group, f.T_AT]
    opened = begin(c, kind)
    put(c, c.request[slot, f.R_ORDER])
    put(c, group)
    put(c, column)
    put(c, tokens)
    for i in range(column, column + count):
        put(c, c.column[at + i])
    close(c, opened)


@compiled
def log_move(c: Core, slot: int, group: int, source: int, column: int, count: int) -> None:
    """`count` blocks left the columns from `source` on for those from `column` on."""
    if not is_watched(c):
        return
    at = c.table[slot, group, f.T_AT]
    opened = begin(c, f.L_MOVE)
    put(c, c.request[slot, f.R_ORDER])
    put(c, group)
    put(c, column)
    put(c, source)
    for i in range(column, column + count):
        put(c, c.column[at + i])
    close(c, opened)


@compiled
def log_null(c: Core, slot: int, group: int, column: int, count: int) -> None:
    """Columns are given back."""
    if not is_watched(c):
        return
    opened = begin(c, f.L_NULL)
    put(c, c.request[slot, f.R_ORDER])
    put(c, group)
    put(c, column)
    put(c, count)
    close(c, opened)


@compiled
def log_hold(c: Core, group: int, block: int, held: int) -> None:
    """The source of a copy is kept, or released."""
    if not is_watched(c):
        return
    opened = begin(c, f.L_HOLD)
    put(c, group)
    put(c, block)
    put(c, held)
    close(c, opened)


@compiled
def log_end(c: Core, slot: int, why: int) -> None:
    """A request leaves its residency."""
    if not is_watched(c):
        return
    opened = begin(c, f.L_END)
    put(c, c.request[slot, f.R_ORDER])
    put(c, why)
    close(c, opened)


@compiled
def log_key(c: Core, kind: int, group: int, words: UInt32, row: int, first: int) -> None:
    """A key that is lost with its last block, or that a state was not kept under."""
    if not is_watched(c):
        return
    opened = begin(c, kind)
    put(c, group)
    for i in range(8):
        put(c, words[row, first + i])
    close(c, opened)

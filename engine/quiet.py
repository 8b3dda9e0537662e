"""When nothing but counters can change: the fast path of decode.

A decode chunk that starts at or above R_QUIET_LOW and ends at or below R_QUIET_END needs no block
and no copy in any group; a request whose tokens known complete are below R_QUIET_DONE has nothing
to publish and nothing to give back. Both horizons are computed when something did change, from the
very conditions under which it may change again. QUIET_END 0: always look."""

from truehit.engine import fields as f
from truehit.engine.allocate import running_column
from truehit.engine.compiled import compiled
from truehit.engine.filing import next_partial_end
from truehit.engine.memory import Core
from truehit.engine.pool import has_keys
from truehit.engine.retain import next_kept
from truehit.engine.rules import VISIBLE_COMMIT
from truehit.engine.tables import block_at

FAR = 1 << 60


@compiled
def wake(c: Core, slot: int) -> None:
    """Look at the next chunk again: a key, a table or a residency changed."""
    c.request[slot, f.R_QUIET_END] = 0


@compiled
def rest_until(c: Core, slot: int, start: int, end: int) -> None:
    """After the decode chunk [start, end) got its blocks: which later ones need none."""
    low, high = 0, FAR
    for g in range(c.group.shape[0]):
        kind, block = c.group[g, f.G_KIND], c.group[g, f.G_BLOCK]
        if kind == f.CIRCULAR:
            continue
        if kind != f.STATE:
            high = min(high, c.table[slot, g, f.T_LENGTH] * block)
            continue
        column = running_column(end, block)
        running = block_at(c, slot, g, column)
        if has_keys(c, running) or c.block[running, f.B_READERS] > 1:
            high = 0
        low = max(low, column * block)
        high = min(high, next_kept(c, slot, start, (column + 1) * block))
    c.request[slot, f.R_QUIET_LOW] = low
    c.request[slot, f.R_QUIET_END] = high if c.fixed[f.F_VISIBILITY] == VISIBLE_COMMIT else 0


@compiled
def is_quiet(c: Core, slot: int, start: int, end: int) -> bool:
    """The decode chunk [start, end) needs nothing."""
    row = c.request[slot]
    return row[f.R_QUIET_LOW] <= start and end <= row[f.R_QUIET_END]


@compiled
def done_until(c: Core, slot: int) -> None:
    """After filing and retiring: from how many tokens on there is something to do again."""
    first = FAR if c.fixed[f.F_VISIBILITY] == VISIBLE_COMMIT else 0
    for g in range(c.group.shape[0]):
        kind, block = c.group[g, f.G_KIND], c.group[g, f.G_BLOCK]
        filed, retired = c.table[slot, g, f.T_FILED], c.table[slot, g, f.T_RETIRED]
        if kind == f.STATE:
            first = min(first, (filed + 1) * block, (retired + 1) * block + 1)
        elif kind != f.CIRCULAR:
            first = min(first, (filed // block + 1) * block)
            if kind == f.WINDOW:
                first = min(first, (retired + 1) * block + c.group[g, f.G_WINDOW] - 1)
            elif c.fixed[f.F_FINE]:
                end = next_partial_end(c, slot, g, c.table[slot, g, f.T_PARTIAL_FILED])
                first = min(first, end) if end else first
    c.request[slot, f.R_QUIET_DONE] = first

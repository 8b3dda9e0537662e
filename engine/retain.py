"""Which positions of a prompt are kept: what a resend, a longer one, a sibling can land on."""

from truehit.engine import fields as f
from truehit.engine.compiled import compiled
from truehit.engine.memory import Core
from truehit.engine.rules import (
    KEEP_ALIGNMENT,
    KEEP_OWN_BIT,
    KEEP_REACHABLE,
    KEEP_STATE_BLOCK,
)


@compiled
def _offer(c: Core, shared: int, limit: int) -> int:
    """What attention offers for so many shared tokens when all of them are present."""
    lookahead, alignment = c.fixed[f.F_LOOKAHEAD], c.fixed[f.F_ALIGNMENT]
    least = max(shared - lookahead, 0)
    for g in range(c.group.shape[0]):
        if c.group[g, f.G_KIND] != f.FULL and c.group[g, f.G_KIND] != f.WINDOW:
            continue
        unit = c.fixed[f.F_HASH_UNIT] if c.fixed[f.F_FINE] else c.group[g, f.G_BLOCK]
        drop = c.group[g, f.G_DROP]
        bound = limit + drop if c.fixed[f.F_MARGIN] and lookahead == 0 else limit
        matched = max(min(shared - lookahead, bound), 0) // unit * unit
        least = min(least, max(matched - drop, 0))
    return min(least // alignment * alignment, limit // alignment * alignment)


@compiled
def keep_positions(c: Core, slot: int, junction: int) -> None:
    """Fix the kept positions of a request at its admission."""
    prompt, alignment = c.request[slot, f.R_PROMPT], c.fixed[f.F_ALIGNMENT]
    last = max(prompt - 1, 0)
    boundary = last // alignment * alignment
    dropping = c.fixed[f.F_LARGEST_DROP] > 0
    margin = max(boundary - alignment, 0) if dropping else 0
    replay, extend = boundary, 0
    keep = c.fixed[f.F_KEEP]
    if keep == KEEP_REACHABLE:
        replay, extend = _offer(c, prompt, last), _offer(c, prompt, prompt)
    elif keep == KEEP_ALIGNMENT or (keep == KEEP_OWN_BIT and c.fixed[f.F_OWN_BIT]):
        extend = margin
    elif keep == KEEP_STATE_BLOCK and dropping:
        extend = max(boundary - c.fixed[f.F_STATE_GRID], 0)
    c.request[slot, f.R_REPLAY] = replay
    c.request[slot, f.R_EXTEND] = extend
    c.request[slot, f.R_JUNCTION] = junction
    c.request[slot, f.R_BOUNDARY] = boundary
    c.request[slot, f.R_MARGIN] = margin


@compiled
def is_kept(c: Core, slot: int, position: int) -> bool:
    """The state at this position gets a key."""
    if position <= 0:
        return False
    row = c.request[slot]
    if position == row[f.R_REPLAY] or position == row[f.R_EXTEND]:
        return True
    if position == row[f.R_JUNCTION]:
        return True
    period = c.fixed[f.F_PERIOD]
    return period > 0 and position % period == 0


@compiled
def next_kept(c: Core, slot: int, after: int, none: int) -> int:
    """The first kept position above `after`, or `none` when there is none below it."""
    row, first = c.request[slot], none
    for field in (f.R_REPLAY, f.R_EXTEND, f.R_JUNCTION):
        if after < row[field] < first:
            first = row[field]
    period = c.fixed[f.F_PERIOD]
    if period > 0:
        first = min(first, (after // period + 1) * period)
    return first

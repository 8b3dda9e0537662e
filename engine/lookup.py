"""The largest position at which every group can resume: an intersection, not a minimum of maxima.

Attention matches page by page and says how far it reaches; a candidate then only goes down, group
by group, until none lowers it. A lookup reads the pool and changes nothing but its own result
(`found`, `seek`, `match`)."""

from truehit.engine import fields as f
from truehit.engine.allocate import first_of_window
from truehit.engine.compiled import compiled
from truehit.engine.keys import find_block
from truehit.engine.memory import Core
from truehit.engine.rules import (
    CANDIDATE_PRUNED,
    CANDIDATE_RAISED,
    DROP_ONCE,
    VISIBLE_DEFERRED,
)


@compiled
def published_block(c: Core, slot: int, g: int, tokens: int) -> int:
    """The block under the request's key of so many tokens; 0: none, or the key is not known yet."""
    unit = tokens // c.fixed[f.F_HASH_UNIT]
    if unit > c.request[slot, f.R_HASHED_UNITS]:
        return 0
    return find_block(c, g, c.request[slot, f.R_KEYS] + unit - 1)


@compiled
def _match_full(c: Core, slot: int, g: int, limit: int) -> int:
    """Whole pages from the start, then the longest partial one; returns the tokens matched."""
    block_tokens = c.group[g, f.G_BLOCK]
    units, row = block_tokens // c.fixed[f.F_HASH_UNIT], c.request[slot, f.R_KEYS] - 1
    columns, most = 0, min(limit // block_tokens, c.request[slot, f.R_HASHED_UNITS] // units)
    while columns < most:
        block = find_block(c, g, row + (columns + 1) * units)
        if block == 0:
            break
        c.match[g, columns] = block
        columns += 1
    matched = columns * block_tokens
    if c.fixed[f.F_FINE]:
        unit = c.fixed[f.F_HASH_UNIT]
        tokens = min(limit, matched + block_tokens - 1) // unit * unit
        while tokens > matched:
            block = published_block(c, slot, g, tokens)
            if block != 0:
                c.match[g, columns] = block
                c.seek[g, f.A_BLOCKS] = columns + 1
                return tokens
            tokens -= unit
    c.seek[g, f.A_BLOCKS] = columns
    return matched


@compiled
def _match_window(c: Core, slot: int, g: int, limit: int) -> int:
    """Every page that is there, with holes; returns the end of the last one."""
    block_tokens, matched = c.group[g, f.G_BLOCK], 0
    columns = limit // block_tokens
    for column in range(columns):
        block = published_block(c, slot, g, (column + 1) * block_tokens)
        c.match[g, column] = block
        if block != 0:
            matched = (column + 1) * block_tokens
    c.seek[g, f.A_BLOCKS] = columns
    return matched


@compiled
def _window_accepts(c: Core, g: int, position: int) -> bool:
    """Every page the next token needs is there, and the dropped ones beyond."""
    block_tokens = c.group[g, f.G_BLOCK]
    last = (position + c.group[g, f.G_DROP] + block_tokens - 1) // block_tokens
    if last > c.seek[g, f.A_BLOCKS]:
        return False
    for column in range(first_of_window(c, g, position), last):
        if c.match[g, column] == 0:
            return False
    return True


@compiled
def _accepts(c: Core, g: int, cap: int, candidate: int) -> int:
    """The largest position the attention group can resume at. `candidate` -1: the first try."""
    alignment, drop = c.fixed[f.F_ALIGNMENT], c.group[g, f.G_DROP]
    given = max(c.seek[g, f.A_MATCHED] - drop, 0)
    position = min(given // alignment * alignment, cap // alignment * alignment)
    if candidate >= 0:
        lowered = candidate
        if c.fixed[f.F_DROP_RULE] != DROP_ONCE:
            lowered = max(candidate - drop, 0) // alignment * alignment
        position = min(position, lowered)
    if c.group[g, f.G_KIND] == f.WINDOW:
        while position > 0 and not _window_accepts(c, g, position):
            position -= alignment
    return max(position, 0)


@compiled
def _attend(c: Core, slot: int, cap: int, candidate: int) -> int:
    """The largest position all attention groups can resume at."""
    alignment = c.fixed[f.F_ALIGNMENT]
    hashed = max(c.request[slot, f.R_KNOWN] - c.fixed[f.F_LOOKAHEAD], 0)
    position = min(cap, hashed) // alignment * alignment
    if candidate >= 0:
        position = min(position, candidate)
    changed = True
    while changed:
        before = position
        for g in range(c.group.shape[0]):
            if c.group[g, f.G_KIND] == f.FULL or c.group[g, f.G_KIND] == f.WINDOW:
                position = min(position, _accepts(c, g, cap, candidate))
                candidate = position
        changed = position < before and c.fixed[f.F_ATTENTIONS] > 1
    return position


@compiled
def _has_states(c: Core, slot: int, position: int, only: int) -> bool:
    """Each state group (or the one named) has a key at this position."""
    for g in range(c.group.shape[0]):
        if c.group[g, f.G_KIND] != f.STATE or (only >= 0 and g != only):
            continue
        if published_block(c, slot, g, position) == 0:
            return False
    return True


@compiled
def _state(c: Core, slot: int, limit: int, only: int) -> int:
    """The largest position, not above the limit, at which the state groups have keys."""
    alignment = c.fixed[f.F_ALIGNMENT]
    position = limit // alignment * alignment
    while position > 0 and not _has_states(c, slot, position, only):
        position -= alignment
    return max(position, 0)


@compiled
def _joint(c: Core, slot: int, cap: int, offer: int) -> int:
    """Lower the offer until states and attention agree."""
    if c.fixed[f.F_STATES] == 0:
        return offer
    position, rule = offer, c.fixed[f.F_CANDIDATE]
    while True:
        searched = position
        if rule == CANDIDATE_PRUNED:
            searched = max(position - c.fixed[f.F_STATE_GRID], 0)
        elif rule == CANDIDATE_RAISED:
            searched = position + c.fixed[f.F_LARGEST_DROP]
        found = _state(c, slot, min(searched, cap), -1)
        if found == position or rule == CANDIDATE_RAISED:
            return found
        lowered = _attend(c, slot, cap, found)
        if lowered == found:
            return found
        position = lowered


@compiled
def reach_alone(c: Core, slot: int) -> None:
    """How far each group reaches by itself, for who asks why a lookup hit no more."""
    cap = c.found[f.M_CAP]
    for g in range(c.group.shape[0]):
        kind = c.group[g, f.G_KIND]
        if kind == f.STATE:
            c.seek[g, f.A_REACH] = c.seek[g, f.A_MATCHED] = _state(c, slot, cap, g)
        elif kind != f.CIRCULAR:
            c.seek[g, f.A_REACH] = _accepts(c, g, cap, -1)


@compiled
def _is_deferred(c: Core) -> bool:
    """The hit is on a state that was filed in this step and may not be read in it."""
    if c.fixed[f.F_VISIBILITY] > VISIBLE_DEFERRED:
        return False
    for g in range(c.group.shape[0]):
        block = c.seek[g, f.A_STATE]
        if block != 0 and c.block[block, f.B_FRESH_STEP] == c.now[f.N_STEP] + 1:
            return True
    return False


@compiled
def look_up(c: Core, slot: int) -> int:
    """Look the request's known tokens up; returns the hit in tokens."""
    known, lookahead = c.request[slot, f.R_KNOWN], c.fixed[f.F_LOOKAHEAD]
    cap, hashed = max(known - 1, 0), max(known - lookahead, 0)
    for g in range(c.group.shape[0]):
        kind = c.group[g, f.G_KIND]
        c.seek[g, f.A_STATE] = 0
        limit = min(cap + c.group[g, f.G_DROP] if c.fixed[f.F_MARGIN] else cap, hashed)
        if kind == f.FULL:
            c.seek[g, f.A_MATCHED] = _match_full(c, slot, g, limit)
        elif kind == f.WINDOW:
            c.seek[g, f.A_MATCHED] = _match_window(c, slot, g, limit)
    offer = _attend(c, slot, cap, -1)
    hit = _joint(c, slot, cap, offer)
    for g in range(c.group.shape[0]):
        if hit and c.group[g, f.G_KIND] == f.STATE:
            c.seek[g, f.A_STATE] = published_block(c, slot, g, hit)
    c.found[f.M_CAP] = cap
    c.found[f.M_HIT] = hit
    c.found[f.M_OFFER] = offer
    c.found[f.M_JUNCTION] = offer if c.fixed[f.F_STATES] and offer > hit else 0
    c.found[f.M_IS_DEFERRED] = _is_deferred(c)
    external = 0
    if c.request[slot, f.R_PREEMPTED] == 0:
        external = max(min(c.request[slot, f.R_EXTERNAL], known - 1 - hit), 0)
    c.found[f.M_EXTERNAL] = external
    c.found[f.M_START] = hit + external
    return hit

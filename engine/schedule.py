"""One step's schedule: running requests first, in order; then one waiting request at a time.

A running request that finds no block makes the latest (or least urgent) one go. A waiting request
is admitted only if its step fits and, with reservation, if all of it fits beside what every running
request may still take; so nothing that was admitted under reservation is ever preempted."""

from truehit.engine import fields as f
from truehit.engine.allocate import (
    adopt_hit,
    blocks_needed,
    export_column,
    running_column,
    take_blocks,
)
from truehit.engine.compiled import compiled
from truehit.engine.filing import file_chunk
from truehit.engine.log import log_estimate, log_schedule
from truehit.engine.memory import Core
from truehit.engine.offer import offer_tokens, spend
from truehit.engine.quiet import is_quiet, rest_until
from truehit.engine.residency import end_residency
from truehit.engine.retain import keep_positions
from truehit.engine.rules import VISIBLE_COMMIT
from truehit.engine.split import chunk_end
from truehit.engine.tables import block_at

NOTHING_OFFERED, DEFERRED_BY_SPLITTER, DOES_NOT_FIT = 1, 2, 3


@compiled
def begin_step(c: Core, budget_tokens: int) -> None:
    """A fresh budget, no chunks."""
    c.now[f.N_STEP] += 1
    c.now[f.N_SLICE] = c.now[f.N_STEP] % c.chunk.shape[0]
    c.now[f.N_CHUNKS] = c.now[f.N_COPIES] = c.now[f.N_UPDATES] = c.now[f.N_PREEMPTED] = 0
    c.now[f.N_TOKENS_LEFT] = budget_tokens
    c.now[f.N_ENCODER_LEFT] = c.fixed[f.F_ENCODER_BUDGET]


@compiled
def _record(
    c: Core, slot: int, start: int, end: int, drafts: int, checkpoint: int, from_: int, to: int
) -> int:
    """Append the chunk to the step; returns its row."""
    row, slice_ = c.now[f.N_CHUNKS], c.now[f.N_SLICE]
    c.now[f.N_CHUNKS] = row + 1
    final = c.request[slot, f.R_PREFILL_END]
    chunk = c.chunk[slice_, row]
    chunk[f.C_SLOT] = slot
    chunk[f.C_RESIDENCY] = c.request[slot, f.R_RESIDENCY]
    chunk[f.C_START] = start
    chunk[f.C_END] = end
    chunk[f.C_DRAFTS] = drafts
    chunk[f.C_SAMPLING] = 1 if end >= final else 0
    chunk[f.C_CHECKPOINT] = checkpoint
    chunk[f.C_IS_PREFILL] = 1 if start < final else 0
    chunk[f.C_LOADED_FROM] = from_
    chunk[f.C_LOADED_TO] = to
    chunk[f.C_ENCODER] = spend(c, slot, start, end)
    chunk[f.C_IS_QUIET] = 0
    c.request[slot, f.R_SAMPLING] += chunk[f.C_SAMPLING]
    c.request[slot, f.R_COMPUTED] = end
    c.request[slot, f.R_TURNS] += 1
    return row


@compiled
def _name_blocks(c: Core, row: int, slot: int, end: int) -> None:
    """Where a prefill chunk leaves its state, and its checkpoint."""
    slice_ = c.now[f.N_SLICE]
    for g in range(c.group.shape[0]):
        c.chunk_block[slice_, row, g, 0] = c.chunk_block[slice_, row, g, 1] = 0
        if c.group[g, f.G_KIND] != f.STATE:
            continue
        column = running_column(end, c.group[g, f.G_BLOCK])
        if c.chunk[slice_, row, f.C_IS_PREFILL]:
            c.chunk_block[slice_, row, g, 0] = block_at(c, slot, g, column)
        if c.chunk[slice_, row, f.C_CHECKPOINT]:
            export = export_column(c, slot, g, end)
            c.chunk_block[slice_, row, g, 1] = block_at(c, slot, g, export)


@compiled
def _book(
    c: Core,
    slot: int,
    end: int,
    checkpoint: int,
    offer: tuple[int, int, int],
    needed: int,
    admitted: bool,
    loaded: int,
) -> None:
    """Take the blocks and record the chunk."""
    start = c.request[slot, f.R_COMPUTED]
    tokens, drafts, cut = offer
    if end < start + tokens:
        cut = f.CUT_SPLIT
    log_schedule(c, slot, start, end, tokens, drafts, cut, checkpoint, 0)
    log_estimate(c, slot, needed)
    if admitted:
        adopt_hit(c, slot, loaded)
    take_blocks(c, slot, end, checkpoint, admitted, loaded)
    hit = c.found[f.M_HIT] if admitted and loaded else 0
    row = _record(c, slot, start, end, drafts, checkpoint, hit, loaded)
    _name_blocks(c, row, slot, end)
    if c.fixed[f.F_VISIBILITY] != VISIBLE_COMMIT:
        file_chunk(c, c.now[f.N_SLICE], row, end, min(end, c.request[slot, f.R_KNOWN]))
    if start >= c.request[slot, f.R_PREFILL_END]:
        rest_until(c, slot, start, end)


@compiled
def _victim(c: Core) -> int:
    """The latest running request, or the least urgent one."""
    victim = c.running[c.now[f.N_RUNNING] - 1]
    if c.fixed[f.F_BY_PRIORITY]:
        for i in range(c.now[f.N_RUNNING]):
            other, least = c.request[c.running[i]], c.request[victim]
            if other[f.R_PRIORITY] > least[f.R_PRIORITY] or (
                other[f.R_PRIORITY] == least[f.R_PRIORITY] and other[f.R_ORDER] > least[f.R_ORDER]
            ):
                victim = c.running[i]
    return victim


@compiled
def _forget_work(c: Core, slot: int) -> None:
    """Chunks and copies of the step that is being scheduled."""
    kept, slice_ = 0, c.now[f.N_SLICE]
    for i in range(c.now[f.N_CHUNKS]):
        if c.chunk[slice_, i, f.C_SLOT] != slot:
            if kept != i:
                c.chunk[slice_, kept] = c.chunk[slice_, i]
                c.chunk_block[slice_, kept] = c.chunk_block[slice_, i]
            kept += 1
    c.now[f.N_CHUNKS] = kept
    kept = 0
    for i in range(c.now[f.N_COPIES]):
        if c.copy[i, f.Y_SLOT] != slot:
            c.copy[kept] = c.copy[i]
            kept += 1
    c.now[f.N_COPIES] = kept
    kept = 0
    for i in range(c.now[f.N_UPDATES]):
        if c.update[i, f.U_SLOT] != slot:
            c.update[kept] = c.update[i]
            kept += 1
    c.now[f.N_UPDATES] = kept


@compiled
def preempt(c: Core, slot: int) -> None:
    """Take a request's blocks back; what it was given in this step returns to the budget."""
    slice_ = c.now[f.N_SLICE]
    for i in range(c.now[f.N_CHUNKS]):
        chunk = c.chunk[slice_, i]
        if chunk[f.C_SLOT] == slot:
            c.now[f.N_TOKENS_LEFT] += chunk[f.C_END] - chunk[f.C_START]
            c.now[f.N_ENCODER_LEFT] += chunk[f.C_ENCODER]
    c.preempted[c.now[f.N_PREEMPTED]] = slot
    c.now[f.N_PREEMPTED] += 1
    _forget_work(c, slot)
    end_residency(c, slot, f.END_PREEMPT)


@compiled
def _make_room(c: Core, slot: int, end: int, checkpoint: int) -> int:
    """Preempt until the chunk fits; the blocks it takes, or -1 if the request itself had to go."""
    needed = blocks_needed(c, slot, end, checkpoint, False, 0)
    while needed > c.now[f.N_FREE]:
        victim = _victim(c)
        preempt(c, victim)
        if victim == slot:
            return -1
        needed = blocks_needed(c, slot, end, checkpoint, False, 0)
    return needed


@compiled
def _continue(c: Core, slot: int) -> None:
    """The next chunk of a running request."""
    offer = offer_tokens(c, slot)
    start = c.request[slot, f.R_COMPUTED]
    if offer[0] == 0:
        log_schedule(c, slot, start, start, 0, 0, offer[2], 0, NOTHING_OFFERED)
        return
    if start >= c.request[slot, f.R_PREFILL_END] and is_quiet(c, slot, start, start + offer[0]):
        log_schedule(c, slot, start, start + offer[0], offer[0], offer[1], offer[2], 0, 0)
        log_estimate(c, slot, 0)
        at = _record(c, slot, start, start + offer[0], offer[1], 0, 0, 0)
        c.chunk[c.now[f.N_SLICE], at, f.C_IS_QUIET] = 1
        return
    end, checkpoint = chunk_end(c, slot, offer[0])
    if end == start:
        log_schedule(c, slot, start, start, offer[0], 0, offer[2], 0, DEFERRED_BY_SPLITTER)
        return
    needed = _make_room(c, slot, end, checkpoint)
    if needed >= 0:
        _book(c, slot, end, checkpoint, offer, needed, False, 0)


@compiled
def schedule_running(c: Core) -> None:
    """A chunk for every running request that the budget reaches."""
    c.now[f.N_CURSOR] = 0
    while c.now[f.N_CURSOR] < c.now[f.N_RUNNING]:
        slot = c.running[c.now[f.N_CURSOR]]
        c.now[f.N_CURSOR] += 1
        row = c.request[slot]
        if row[f.R_KNOWN] - row[f.R_PROMPT] + row[f.R_SAMPLING] >= row[f.R_OUTPUT]:
            continue
        if c.now[f.N_TOKENS_LEFT] <= 0:
            return
        _continue(c, slot)


@compiled
def _fits(c: Core, slot: int, needed: int) -> bool:
    if not c.fixed[f.F_RESERVE]:
        return needed <= c.now[f.N_FREE]
    owed = c.now[f.N_PROMISED] - c.now[f.N_PAGES] - c.now[f.N_SOLO]
    return max(c.request[slot, f.R_PROMISE], needed) + owed <= c.now[f.N_FREE]


@compiled
def admit(c: Core, slot: int) -> int:
    """Admit the request whose lookup was the last one, or say why not."""
    if c.found[f.M_IS_DEFERRED]:
        return f.DEFERRED
    keep_positions(c, slot, c.found[f.M_JUNCTION])
    row = c.request[slot]
    start = row[f.R_COMPUTED] = c.found[f.M_START]
    row[f.R_PREFILL_END] = row[f.R_KNOWN]
    offer = offer_tokens(c, slot)
    if offer[0] == 0:
        log_schedule(c, slot, start, start, 0, 0, offer[2], 0, NOTHING_OFFERED)
        return f.NO_OFFER
    end, checkpoint = chunk_end(c, slot, offer[0])
    if end == start:
        log_schedule(c, slot, start, start, offer[0], 0, offer[2], 0, DEFERRED_BY_SPLITTER)
        return f.DEFERRED
    loaded = start if c.found[f.M_EXTERNAL] > 0 else 0
    needed = blocks_needed(c, slot, end, checkpoint, True, loaded)
    if not _fits(c, slot, needed):
        log_schedule(c, slot, start, start, offer[0], 0, f.CUT_POOL, 0, DOES_NOT_FIT)
        return f.NO_ROOM
    c.running[c.now[f.N_RUNNING]] = slot
    c.now[f.N_RUNNING] += 1
    c.now[f.N_PROMISED] += row[f.R_PROMISE]
    row[f.R_STATUS] = f.RUNNING
    row[f.R_PROCESSED] = start
    row[f.R_QUIET_DONE] = 0
    _book(c, slot, end, checkpoint, offer, needed, True, loaded)
    return f.SCHEDULED

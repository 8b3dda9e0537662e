"""What every block really holds, replayed from what the device was told to do.

The ledger of the runtime audit: per block who wrote it last and up to which token, per table which
column has the running state. It believes no key and no claim; contents follow from writes, copies
and loads of steps that are known complete. All functions cost a few numbers a row of a step."""

from truehit.engine import fields as f
from truehit.engine.allocate import running_column
from truehit.engine.compiled import compiled
from truehit.engine.memory import Core, Int64, UInt8
from truehit.engine.pool import has_keys
from truehit.engine.tables import block_at


@compiled
def _report(c: Core, law: int, owner: int, group: int, block: int, claimed: int, held: int) -> None:
    """Keep a finding, or only count it when there are many."""
    at = c.finding_count[0]
    c.finding_count[0] = at + 1
    if at < c.finding.shape[0]:
        c.finding[at, f.V_LAW] = law
        c.finding[at, f.V_OWNER] = owner
        c.finding[at, f.V_GROUP] = group
        c.finding[at, f.V_BLOCK] = block
        c.finding[at, f.V_CLAIMED] = claimed
        c.finding[at, f.V_HELD] = held


@compiled
def _mark_fresh(c: Core) -> None:
    """Blocks that were just taken will hold nobody's bytes, once the device comes to this step:
    a copy of an earlier step in flight may still read what is in them."""
    for i in range(c.now[f.N_UPDATES]):
        if not c.update[i, f.U_IS_FRESH]:
            continue
        slot, group = c.update[i, f.U_SLOT], c.update[i, f.U_GROUP]
        first = c.update[i, f.U_COLUMN]
        for column in range(first, first + c.update[i, f.U_COUNT]):
            c.shadow[block_at(c, slot, group, column), f.S_FRESH_STEP] = c.now[f.N_STEP] + 1


@compiled
def _bytes_of(c: Core, block: int) -> Int64:
    """The row of a block as it is when the device comes to the step that is replayed."""
    row = c.shadow[block]
    if 0 < row[f.S_FRESH_STEP] <= c.now[f.N_REPLAYED] + 1:
        row[f.S_TOKENS] = f.UNWRITTEN
        row[f.S_KEYED] = row[f.S_FRESH_STEP] = 0
    return row


@compiled
def _plan_row(c: Core, slice_: int, row: int, g: int) -> None:
    """Remember the blocks a row reads and writes: later steps may move them in the table."""
    chunk = c.chunk[slice_, row]
    slot, width = chunk[f.C_SLOT], 1 + c.fixed[f.F_DRAFTS]
    grid, start = c.group[g, f.G_BLOCK], chunk[f.C_START]
    target = running_column(chunk[f.C_END], grid)
    at, length = c.table[slot, g, f.T_AT], c.table[slot, g, f.T_LENGTH]
    if c.place[slot, g, 1] != chunk[f.C_RESIDENCY]:
        c.place[slot, g, 1] = chunk[f.C_RESIDENCY]
        c.place[slot, g, 2] = 0
        c.place_seen[slot, 0] = start
        c.place_seen[slot, 1] = chunk[f.C_RESIDENCY]
        first = running_column(start, grid) if chunk[f.C_LOADED_TO] else -1
        if start and first < 0:
            first = (start - 1) // c.fixed[f.F_SEED_BLOCK]
        c.place[slot, g, 0] = first
    source = c.place[slot, g, 0]
    c.plan_source[slice_, row, g] = source
    plan = c.plan[slice_, row, g]
    for i in range(width):
        plan[i] = c.column[at + target + i] if target + i < length else 0
        c.place_block[slot, g, i] = plan[i]
        inside = source >= 0 and source + i < length
        plan[width + i] = c.column[at + source + i] if inside else 0
    c.place[slot, g, 0] = target


@compiled
def _set(c: Core, g: int, block: int, owner: int, tokens: int) -> None:
    """A state is written over whatever the block held."""
    if has_keys(c, block):
        _report(c, f.OWNERSHIP, owner, g, block, tokens, c.shadow[block, f.S_TOKENS])
    row = _bytes_of(c, block)
    row[f.S_OWNER] = owner
    row[f.S_TOKENS] = tokens
    row[f.S_KEYED] = 0


@compiled
def _replay_state(c: Core, slice_: int, row: int, g: int, done: int) -> None:
    """Read, carry over, write: what a state kernel does with one row."""
    chunk, plan = c.chunk[slice_, row], c.plan[slice_, row, g]
    slot, width = chunk[f.C_SLOT], 1 + c.fixed[f.F_DRAFTS]
    owner, start = c.request[slot, f.R_ORDER], c.request[slot, f.R_PROCESSED]
    if chunk[f.C_LOADED_TO]:
        _set(c, g, plan[width], owner, start)
    if c.plan_source[slice_, row, g] >= 0:
        ahead = c.place[slot, g, 2]
        source = plan[width + ahead] if ahead < width else 0
        # The null block is never written.
        state = _bytes_of(c, source)
        is_true = state[f.S_OWNER] == owner or state[f.S_KEYED] == start
        if state[f.S_TOKENS] != start or not is_true:
            _report(c, f.SEED, owner, g, source, start, state[f.S_TOKENS])
    if chunk[f.C_CHECKPOINT]:
        export = c.chunk_block[slice_, row, g, 1]
        _set(c, g, export, owner, chunk[f.C_CHECKPOINT])
    c.place[slot, g, 2] = 0
    if chunk[f.C_IS_PREFILL]:
        _set(c, g, plan[0], owner, done)
        return
    end = start + chunk[f.C_END] - chunk[f.C_START]
    for i in range(end - start):
        position = start + 1 + i
        _set(c, g, plan[i], owner, position if position <= done else f.GARBAGE)
    c.place[slot, g, 2] = max(done - start - 1, 0)
    grid = c.group[g, f.G_BLOCK]
    boundary, target = done // grid * grid, running_column(chunk[f.C_END], grid)
    if boundary > start:
        own = boundary // grid - 1
        if own != target + boundary - start - 1:
            _set(c, g, block_at(c, slot, g, own), owner, boundary)


@compiled
def _replay_pages(c: Core, slot: int, g: int, first: int, done: int) -> None:
    """Entries of tokens [first, done) go into the pages that hold them."""
    block_tokens, owner = c.group[g, f.G_BLOCK], c.request[slot, f.R_ORDER]
    for column in range(first // block_tokens, (done + block_tokens - 1) // block_tokens):
        block = block_at(c, slot, g, column)
        if block == 0:
            continue
        low, high = max(first, column * block_tokens), min(done, (column + 1) * block_tokens)
        page = _bytes_of(c, block)
        if has_keys(c, block) and low < page[f.S_KEYED]:
            _report(c, f.OWNERSHIP, owner, g, block, low, page[f.S_KEYED])
        whole = low == column * block_tokens or page[f.S_TOKENS] >= low
        page[f.S_OWNER] = owner
        page[f.S_TOKENS] = high if whole else f.GARBAGE


@compiled
def _catch_up(c: Core, slot: int) -> None:
    """Replay the decode steps that were skipped: they advanced one state in place."""
    start, owner = c.request[slot, f.R_PROCESSED], c.request[slot, f.R_ORDER]
    if c.place_seen[slot, 0] >= start:
        return
    for g in range(c.group.shape[0]):
        if c.group[g, f.G_KIND] == f.STATE:
            for i in range(c.place_block.shape[2]):
                held = start if i == c.place[slot, g, 2] else f.GARBAGE
                _set(c, g, c.place_block[slot, g, i], owner, held)
        elif c.group[g, f.G_KIND] != f.CIRCULAR:
            _replay_pages(c, slot, g, c.place_seen[slot, 0], start)
    c.place_seen[slot, 0] = start


@compiled
def _plan(c: Core, slice_: int, row: int) -> bool:
    """Plan every state group; True if each goes on in the column where it was."""
    stays = True
    for g in range(c.group.shape[0]):
        if c.group[g, f.G_KIND] == f.STATE:
            _plan_row(c, slice_, row, g)
            slot = c.chunk[slice_, row, f.C_SLOT]
            stays = stays and c.plan_source[slice_, row, g] == c.place[slot, g, 0]
    return stays


@compiled
def note_schedule(c: Core, slice_: int, rows: int) -> None:
    """A step was scheduled. With one step in flight, rows that change no table wait."""
    skips = c.fixed[f.F_IN_FLIGHT] == 1
    c.now[f.N_REPLAYED] = c.now[f.N_STEP] - 1
    for row in range(rows):
        chunk = c.chunk[slice_, row]
        if skips and chunk[f.C_IS_QUIET]:
            continue
        slot = chunk[f.C_SLOT]
        if skips and c.place_seen[slot, 1] == chunk[f.C_RESIDENCY]:
            _catch_up(c, slot)
    _mark_fresh(c)
    c.plan_copies[slice_] = c.now[f.N_COPIES]
    for i in range(c.now[f.N_COPIES]):
        c.plan_copy[slice_, i] = c.copy[i]
    for row in range(rows):
        chunk = c.chunk[slice_, row]
        if not skips or not chunk[f.C_IS_QUIET]:
            stays = _plan(c, slice_, row)
            if stays and not chunk[f.C_IS_PREFILL] and c.now[f.N_COPIES] == 0:
                chunk[f.C_IS_QUIET] = 1
    c.now[f.N_REPLAYED] = c.now[f.N_STEP]


@compiled
def _copy_blocks(c: Core, slice_: int) -> None:
    """Copy-on-write copies run before everything else of the step."""
    for i in range(c.plan_copies[slice_]):
        source, target = c.plan_copy[slice_, i, f.Y_SOURCE], c.plan_copy[slice_, i, f.Y_TARGET]
        of_state = c.group[c.plan_copy[slice_, i, f.Y_GROUP], f.G_KIND] == f.STATE
        old, new = _bytes_of(c, source), _bytes_of(c, target)
        new[f.S_OWNER] = old[f.S_OWNER]
        new[f.S_TOKENS] = old[f.S_TOKENS]
        new[f.S_KEYED] = old[f.S_KEYED] if of_state else 0


@compiled
def _replay_row(c: Core, slice_: int, row: int, done: int) -> None:
    chunk = c.chunk[slice_, row]
    slot, first = chunk[f.C_SLOT], c.request[chunk[f.C_SLOT], f.R_PROCESSED]
    if c.fixed[f.F_IN_FLIGHT] == 1 and chunk[f.C_IS_QUIET]:
        _catch_up(c, slot)
        _plan(c, slice_, row)
    for g in range(c.group.shape[0]):
        if c.group[g, f.G_KIND] == f.STATE:
            _replay_state(c, slice_, row, g, done)
        elif c.group[g, f.G_KIND] != f.CIRCULAR:
            low = chunk[f.C_LOADED_FROM] if chunk[f.C_LOADED_TO] else first
            _replay_pages(c, slot, g, low, done)
    c.place_seen[slot, 0] = done


@compiled
def replay(c: Core, slice_: int, rows: int, counts: Int64, ran: UInt8) -> None:
    """The oldest step in flight is known complete: before the engine learns of it."""
    behind = (c.now[f.N_STEP] - slice_) % c.chunk.shape[0]
    c.now[f.N_REPLAYED] = c.now[f.N_STEP] - behind
    _copy_blocks(c, slice_)
    skips = c.fixed[f.F_IN_FLIGHT] == 1
    for row in range(rows):
        chunk = c.chunk[slice_, row]
        slot = chunk[f.C_SLOT]
        if not ran[row] or chunk[f.C_RESIDENCY] != c.request[slot, f.R_RESIDENCY]:
            continue
        start = c.request[slot, f.R_PROCESSED]
        if skips and chunk[f.C_IS_QUIET] and start + counts[row] < c.request[slot, f.R_QUIET_DONE]:
            for g in range(c.group.shape[0]):
                c.place[slot, g, 2] = counts[row] - 1
            continue
        width = chunk[f.C_END] - chunk[f.C_START]
        done = start + (width if chunk[f.C_IS_PREFILL] else counts[row])
        _replay_row(c, slice_, row, done)


@compiled
def check_published(c: Core) -> None:
    """Every key that became findable: the block holds exactly that, and was written for it."""
    for i in range(min(c.now[f.N_TOLD], c.told.shape[0])):
        slot, g, tokens, block = c.told[i]
        owner, row = c.request[slot, f.R_ORDER], _bytes_of(c, block)
        held, keyed = row[f.S_TOKENS], row[f.S_KEYED]
        is_state = c.group[g, f.G_KIND] == f.STATE
        holds = held == tokens if is_state else held >= tokens
        if not holds or row[f.S_OWNER] != owner:
            _report(c, f.PROVENANCE, owner, g, block, tokens, held)
        elif is_state and keyed not in (0, tokens):
            _report(c, f.UNIQUENESS, owner, g, block, tokens, keyed)
        row[f.S_KEYED] = max(keyed, tokens)
    c.now[f.N_TOLD] = 0

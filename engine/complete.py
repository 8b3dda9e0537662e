"""What is learned when a step is known complete: tokens count, keys are published, blocks go back.

The results of the oldest step in flight arrive row by row: how many tokens were sampled, and
whether the request ran at all. A request that did not is preempted: its writes did not happen."""

from truehit.engine import fields as f
from truehit.engine.compiled import compiled
from truehit.engine.filing import file_chunk, retire
from truehit.engine.keys import expect_key, room_for_keys
from truehit.engine.memory import Core, Int32, Int64, UInt8
from truehit.engine.quiet import done_until, wake
from truehit.engine.residency import end_residency
from truehit.engine.rules import VISIBLE_COMMIT
from truehit.engine.sha256 import extend_digest


@compiled
def hash_units(c: Core, slot: int) -> None:
    """Keys of all units whose tokens, and the lookahead beyond them, are known by now."""
    row = c.request[slot]
    unit, lookahead = c.fixed[f.F_HASH_UNIT], c.fixed[f.F_LOOKAHEAD]
    tokens, keys, known = row[f.R_TOKENS], row[f.R_KEYS], row[f.R_KNOWN]
    state, words = c.words[16:24], c.words[:16]
    done = row[f.R_HASHED_UNITS]
    while (done + 1) * unit + lookahead <= known:
        extend_digest(c.chain[slot], c.token, tokens + done * unit, unit, state, words)
        c.chain[slot, :] = state
        if lookahead:
            end = tokens + (done + 1) * unit
            extend_digest(c.chain[slot], c.token, end, lookahead, state, words)
        c.key[keys + done, :] = state
        done += 1
    row[f.R_HASHED_UNITS] = done


@compiled
def _append(c: Core, slot: int, tokens: Int32, first: int, count: int) -> None:
    """Sampled tokens become known."""
    row = c.request[slot]
    at = row[f.R_TOKENS] + row[f.R_KNOWN]
    for i in range(count):
        c.token[at + i] = tokens[first + i]
    row[f.R_KNOWN] += count
    hashed, unit = row[f.R_HASHED_UNITS], c.fixed[f.F_HASH_UNIT]
    if (hashed + 1) * unit + c.fixed[f.F_LOOKAHEAD] <= row[f.R_KNOWN]:
        hash_units(c, slot)
        expect_key(c, row[f.R_KEYS] + hashed)


@compiled
def _learn(c: Core, slice_: int, row: int, tokens: Int32, first: int, count: int) -> int:
    """One chunk is known complete."""
    chunk = c.chunk[slice_, row]
    slot = chunk[f.C_SLOT]
    request = c.request[slot]
    start = request[f.R_PROCESSED]
    end = start + chunk[f.C_END] - chunk[f.C_START]
    done = end if chunk[f.C_IS_PREFILL] else start + count
    request[f.R_PROCESSED] = done
    request[f.R_SAMPLING] -= chunk[f.C_SAMPLING]
    request[f.R_COMPUTED] -= end - done
    _append(c, slot, tokens, first, count)
    if chunk[f.C_IS_PREFILL] or done >= request[f.R_QUIET_DONE]:
        if c.fixed[f.F_VISIBILITY] == VISIBLE_COMMIT:
            file_chunk(c, slice_, row, end, done)
        retire(c, slot)
        done_until(c, slot)
        wake(c, slot)
    if request[f.R_KNOWN] - request[f.R_PROMPT] >= request[f.R_OUTPUT]:
        end_residency(c, slot, f.END_FINISH)
        return f.FINISHED
    return f.LEARNED


@compiled
def count_bounds(c: Core, slice_: int, row: int, ran: bool) -> tuple[int, int]:
    """The fewest and the most tokens that a row of a step can have sampled."""
    chunk = c.chunk[slice_, row]
    slot = chunk[f.C_SLOT]
    if chunk[f.C_RESIDENCY] != c.request[slot, f.R_RESIDENCY]:
        return 0, 1 + chunk[f.C_DRAFTS]
    if not ran or not chunk[f.C_SAMPLING]:
        return 0, 0
    left = c.request[slot, f.R_OUTPUT] - c.request[slot, f.R_KNOWN] + c.request[slot, f.R_PROMPT]
    return 1, min(1 + chunk[f.C_DRAFTS], left)


@compiled
def first_negative(tokens: Int32) -> int:
    """The first token that is no id, or -1."""
    for i in range(tokens.shape[0]):
        if tokens[i] < 0:
            return i
    return -1


@compiled
def checked_total(c: Core, slice_: int, counts: Int64, ran: UInt8) -> int:
    """The tokens of all rows; if row r has more or fewer than it can have, -1 - r."""
    total = 0
    for row in range(counts.shape[0]):
        least, most = count_bounds(c, slice_, row, ran[row] != 0)
        if counts[row] < least or counts[row] > most:
            return -1 - row
        total += counts[row]
    return total


@compiled
def _has_room(c: Core, slice_: int, row: int) -> bool:
    """The key tables have room for whatever this row may publish."""
    slot = c.chunk[slice_, row, f.C_SLOT]
    width = c.chunk[slice_, row, f.C_END] - c.chunk[slice_, row, f.C_START]
    end = c.request[slot, f.R_PROCESSED] + width
    if not c.chunk[slice_, row, f.C_IS_PREFILL] and end < c.request[slot, f.R_QUIET_DONE]:
        return True
    keys = 0
    for g in range(c.group.shape[0]):
        unit = c.fixed[f.F_HASH_UNIT] if c.fixed[f.F_FINE] else c.group[g, f.G_BLOCK]
        filed = c.table[slot, g, f.T_FILED]
        if c.group[g, f.G_KIND] == f.STATE:
            filed *= c.group[g, f.G_BLOCK]
        keys += (end - filed) // unit + 4
    return keys <= room_for_keys(c)


@compiled
def learn_step(
    c: Core, slice_: int, first_row: int, rows: int, counts: Int64, ran: UInt8, tokens: Int32
) -> int:
    """The rows from `first_row` on of the step in this slice are known complete; `status` says what
    became of each. Returns `rows`, or the row before which the key tables have to grow."""
    first = 0
    if first_row == 0:
        c.now[f.N_SETTLED] = 0
    for row in range(first_row):
        first += counts[row]
    for row in range(first_row, rows):
        slot, count = c.chunk[slice_, row, f.C_SLOT], counts[row]
        if c.chunk[slice_, row, f.C_RESIDENCY] != c.request[slot, f.R_RESIDENCY]:
            c.status[row] = f.SKIPPED
        elif not ran[row]:
            end_residency(c, slot, f.END_PREEMPT)
            c.status[row] = f.FAILED
            c.now[f.N_SETTLED] += 1
        elif not _has_room(c, slice_, row):
            return row
        else:
            c.status[row] = _learn(c, slice_, row, tokens, first, count)
            c.now[f.N_SETTLED] += c.status[row] == f.FINISHED
        first += count
    return rows

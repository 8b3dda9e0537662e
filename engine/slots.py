"""Which blocks the rows of a step read and write: the arithmetic of the device, on the host.

A row is one request's tokens of a step. Where it starts (`starts`) and which column its running
state is in (`currents`) depend on accepted drafts, so the device derives blocks by itself; here is
the same arithmetic for a data plane that runs on the host, and what the device is compared with.
A column outside a table has block 0, the null block: nothing is read there and nothing is stored.
"""

from typing import NamedTuple

import numpy as np

from truehit.engine.allocate import running_column
from truehit.engine.compiled import compiled
from truehit.engine.memory import Int32


class StateRows(NamedTuple):
    """The rows of a step in one state group, all int32. R rows, C columns.

    tables (R, C), padded with 0, and lengths (R): the columns that count; row_starts (R + 1):
    packed offset of the first token; starts (R): tokens consumed before the step; planned_ends (R):
    where the scheduler thought the row would end, which fixes the running column; checkpoints (R):
    the position exported from the middle, 0: none; is_decode (R): 1 for decode and verification;
    currents (R): the column of the running state, -1: nothing was consumed."""

    tables: Int32
    lengths: Int32
    row_starts: Int32
    starts: Int32
    planned_ends: Int32
    checkpoints: Int32
    is_decode: Int32
    currents: Int32


class StateSlots(NamedTuple):
    """sources (R): block of the state a row starts from, 0: none; token_targets (T): block that
    receives the state after the token, in a prefill row the last token only; checkpoint_targets
    (R): block of the exported state, 0: none."""

    sources: Int32
    token_targets: Int32
    checkpoint_targets: Int32


class AcceptedSlots(NamedTuple):
    """next_currents (R): the column of the running state after the step; boundary_sources and
    boundary_targets (R): the state of a completed block is copied to the block's own column, 0: no
    copy."""

    next_currents: Int32
    boundary_sources: Int32
    boundary_targets: Int32


class PageSlots(NamedTuple):
    """pages (T): block of a token's key and value, 0: none; offsets (T): its place in the block."""

    pages: Int32
    offsets: Int32


@compiled
def _block(tables: Int32, lengths: Int32, row: int, column: int) -> int:
    """The block of a column; 0 outside the table."""
    return tables[row, column] if 0 <= column < lengths[row] else 0


@compiled
def _checkpoint_column(end: int, grid: int, length: int) -> int:
    """The column before the running one; before the first one comes the last, as in the tables."""
    running = running_column(end, grid)
    return running - 1 if running > 0 else length - 1


@compiled
def state_slots(rows: StateRows, grid: int, tokens: int) -> StateSlots:
    """What a step reads and writes before it is known which drafts are accepted. `tokens`: T, no
    less than the last of `row_starts`."""
    count = len(rows.starts)
    sources = np.zeros(count, np.int32)
    token_targets = np.zeros(tokens, np.int32)
    checkpoint_targets = np.zeros(count, np.int32)
    for row in range(count):
        first, after = rows.row_starts[row], rows.row_starts[row + 1]
        running = running_column(rows.planned_ends[row], grid)
        sources[row] = _block(rows.tables, rows.lengths, row, rows.currents[row])
        if rows.checkpoints[row]:
            end, length = rows.starts[row] + after - first, rows.lengths[row]
            column = _checkpoint_column(end, grid, length)
            checkpoint_targets[row] = _block(rows.tables, rows.lengths, row, column)
        if rows.is_decode[row]:
            for token in range(first, after):
                column = running + token - first
                token_targets[token] = _block(rows.tables, rows.lengths, row, column)
        elif after > first:
            token_targets[after - 1] = _block(rows.tables, rows.lengths, row, running)
    return StateSlots(sources, token_targets, checkpoint_targets)


@compiled
def accepted_slots(rows: StateRows, dones: Int32, grid: int) -> AcceptedSlots:
    """What follows from `dones` (R): the tokens that count after the step, start + 1 + accepted."""
    count = len(rows.starts)
    next_currents = np.zeros(count, np.int32)
    boundary_sources = np.zeros(count, np.int32)
    boundary_targets = np.zeros(count, np.int32)
    for row in range(count):
        start, done = rows.starts[row], dones[row]
        running = running_column(rows.planned_ends[row], grid)
        next_currents[row] = running
        if not rows.is_decode[row]:
            continue
        next_currents[row] = running + max(done - start - 1, 0)
        boundary = done // grid * grid
        column, own = running + boundary - start - 1, boundary // grid - 1
        if boundary <= start or column == own:
            continue
        source = _block(rows.tables, rows.lengths, row, column)
        target = _block(rows.tables, rows.lengths, row, own)
        if source and target:
            boundary_sources[row], boundary_targets[row] = source, target
    return AcceptedSlots(next_currents, boundary_sources, boundary_targets)


@compiled
def page_slots(
    tables: Int32, lengths: Int32, row_starts: Int32, starts: Int32, block_tokens: int, tokens: int
) -> PageSlots:
    """Where keys and values of the packed tokens are stored in a group with pages."""
    pages = np.zeros(tokens, np.int32)
    offsets = np.zeros(tokens, np.int32)
    for row in range(len(starts)):
        first = row_starts[row]
        for token in range(first, row_starts[row + 1]):
            position = starts[row] + token - first
            pages[token] = _block(tables, lengths, row, position // block_tokens)
            offsets[token] = position % block_tokens
    return PageSlots(pages, offsets)

"""Which blocks the rows of a step read and write, derived on the device.

Property: equal to `reference/rules/slots.py` for every row, and no index outside a table is loaded
(`slots-` in `truehit verify`: all sizes). A row is one request's tokens of a step. Where it starts
and which column its running state is in depend on accepted drafts, so the host does not know them
when it launches the step, and never has to: nothing here waits for the device.

All tensors int32, contiguous, on one device; R rows, C columns, T packed tokens.

* `tables [R, C]`, padded with 0, and `lengths [R]`: the columns of each that count (at most C).
* `row_starts [R + 1]`: packed offset of a row's first token, from 0, never less than the one
  before, at most T; a row may be empty.
* `starts [R]`: tokens consumed before the step. `planned_ends [R]`: where the scheduler thought the
  row would end, which fixes the running column. `checkpoints [R]`: the position exported from the
  middle, 0: none. `is_decode [R]`: 1 for decode and verification. `currents [R]`: the column of the
  running state, -1: nothing was consumed. `dones [R]`: tokens that count after the step.
* A column outside its table has block 0, the null block: nothing is read or stored there.
* Positions and block sizes below 2^30, so that no sum of two leaves int32; entries of a table are
  addressed in 64 bits.
* ValueError: a shape, dtype or size that is none of these.

The numbers are those of `slot_columns.py`; here is what is loaded and stored."""

from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import torch
import triton
import triton.language as tl

from truehit.kernels import slot_columns
from truehit.kernels.decode import check_tables
from truehit.kernels.table import Architecture, Config, KernelTable, Variant, architecture_of

SIZE_BOUND = 2**30
"""Positions, block sizes and packed tokens stay below."""


def _compiled(function: Callable[..., object]) -> Any:
    """The function for Triton, whose interpreter wants its language among a function's globals."""
    seen = {"__name__": function.__module__, "tl": tl}
    return triton.jit(FunctionType(function.__code__, seen, function.__name__))


_from_first = _compiled(slot_columns.from_first)
_before_end = _compiled(slot_columns.before_end)
_table_index = _compiled(slot_columns.table_index)
_token_index = _compiled(slot_columns.token_index)
_running_column = _compiled(slot_columns.running_column)
_first_stored = _compiled(slot_columns.first_stored)
_token_column = _compiled(slot_columns.token_column)
_checkpoint_column = _compiled(slot_columns.checkpoint_column)
_next_current = _compiled(slot_columns.next_current)
_last_boundary = _compiled(slot_columns.last_boundary)
_boundary_column = _compiled(slot_columns.boundary_column)
_own_column = _compiled(slot_columns.own_column)
_copies_boundary = _compiled(slot_columns.copies_boundary)
_page_column = _compiled(slot_columns.page_column)
_page_offset = _compiled(slot_columns.page_offset)


# --- the kernels ------------------------------------------------------------------------------


@triton.jit
def _block(tables, row, columns, length, column):
    """The only load from a table: 0 where the column is outside."""
    inside = _from_first(column) & _before_end(column, length)
    return tl.load(tables + _table_index(row, columns, column), mask=inside, other=0)


@triton.jit
def state_slots_kernel(
    tables,
    lengths,
    row_starts,
    starts,
    planned_ends,
    checkpoints,
    is_decode,
    currents,
    sources,
    token_targets,
    checkpoint_targets,
    grid,
    columns,
):
    row = tl.cast(tl.program_id(0), tl.int64)
    length = tl.load(lengths + row)
    first = tl.load(row_starts + row)
    width = tl.load(row_starts + row + 1) - first
    decode = tl.load(is_decode + row)
    tl.store(sources + row, _block(tables, row, columns, length, tl.load(currents + row)))
    column = _checkpoint_column(tl.load(starts + row) + width, grid, length)
    exported = _block(tables, row, columns, length, column)
    exports = tl.load(checkpoints + row) > 0
    tl.store(checkpoint_targets + row, tl.where(exports, exported, 0))
    running = _running_column(tl.load(planned_ends + row), grid)
    ahead = _first_stored(width, decode)
    while ahead < width:
        column = _token_column(running, ahead, decode)
        target = _block(tables, row, columns, length, column)
        tl.store(token_targets + _token_index(first, ahead), target)
        ahead += 1


@triton.jit
def accepted_slots_kernel(
    tables,
    lengths,
    starts,
    planned_ends,
    is_decode,
    dones,
    next_currents,
    boundary_sources,
    boundary_targets,
    grid,
    columns,
):
    row = tl.cast(tl.program_id(0), tl.int64)
    length = tl.load(lengths + row)
    start = tl.load(starts + row)
    done = tl.load(dones + row)
    decode = tl.load(is_decode + row)
    running = _running_column(tl.load(planned_ends + row), grid)
    tl.store(next_currents + row, _next_current(running, start, done, decode))
    boundary = _last_boundary(done, grid)
    column = _boundary_column(running, start, boundary)
    own = _own_column(boundary, grid)
    source = _block(tables, row, columns, length, column)
    target = _block(tables, row, columns, length, own)
    copies = _copies_boundary(start, boundary, column, own, decode)
    copies = copies & (source > 0) & (target > 0)
    tl.store(boundary_sources + row, tl.where(copies, source, 0))
    tl.store(boundary_targets + row, tl.where(copies, target, 0))


@triton.jit
def page_slots_kernel(
    tables,
    lengths,
    row_starts,
    starts,
    pages,
    offsets,
    block,
    columns,
    BT: tl.constexpr,
):
    row = tl.cast(tl.program_id(0), tl.int64)
    length = tl.load(lengths + row)
    first = tl.load(row_starts + row)
    width = tl.load(row_starts + row + 1) - first
    ahead = tl.program_id(1) * BT + tl.arange(0, BT)
    position = tl.load(starts + row) + ahead
    page = _block(tables, row, columns, length, _page_column(position, block))
    token = _token_index(first, ahead)
    tl.store(pages + token, page, mask=ahead < width)
    tl.store(offsets + token, _page_offset(position, block), mask=ahead < width)


# --- the launchers ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StateRows:
    """The rows of a step in one state group; see above."""

    tables: torch.Tensor
    lengths: torch.Tensor
    row_starts: torch.Tensor
    starts: torch.Tensor
    planned_ends: torch.Tensor
    checkpoints: torch.Tensor
    is_decode: torch.Tensor
    currents: torch.Tensor


@dataclass(frozen=True, slots=True)
class StateSlots:
    """`sources [R]`: block of the state a row starts from, 0: none. `token_targets [T]`: block that
    receives the state after the token; in a prefill row the last token's only. `checkpoint_targets
    [R]`: block of the exported state, 0: none."""

    sources: torch.Tensor
    token_targets: torch.Tensor
    checkpoint_targets: torch.Tensor


@dataclass(frozen=True, slots=True)
class AcceptedSlots:
    """`next_currents [R]`: the column of the running state after the step. `boundary_sources` and
    `boundary_targets [R]`: the state of a completed block goes to the block's own column; both 0:
    no copy."""

    next_currents: torch.Tensor
    boundary_sources: torch.Tensor
    boundary_targets: torch.Tensor


@dataclass(frozen=True, slots=True)
class PageSlots:
    """`pages [T]`: block of a token's key and value, 0: none. `offsets [T]`: place in the block."""

    pages: torch.Tensor
    offsets: torch.Tensor


def state_slots(rows: StateRows, grid: int, tokens: int) -> StateSlots:
    """What a step reads and writes before it is known which drafts are accepted."""
    count = _check_rows("slots.state_slots", rows, grid, tokens)
    slots = StateSlots(*(rows.starts.new_zeros(length) for length in (count, tokens, count)))
    if count:
        config = STATE_TABLE.config(VARIANT, architecture_of(rows.tables.device))
        state_slots_kernel[(count,)](
            rows.tables,
            rows.lengths,
            rows.row_starts,
            rows.starts,
            rows.planned_ends,
            rows.checkpoints,
            rows.is_decode,
            rows.currents,
            slots.sources,
            slots.token_targets,
            slots.checkpoint_targets,
            grid,
            rows.tables.shape[1],
            num_warps=config.warps,
            num_stages=config.stages,
        )
    return slots


def accepted_slots(rows: StateRows, dones: torch.Tensor, grid: int) -> AcceptedSlots:
    """What follows from `dones`: start + 1 + accepted drafts in a decode, the end in a prefill."""
    where = "slots.accepted_slots"
    count = _check_rows(where, rows, grid, 0)
    check_tables(where, rows.tables.device, dones=(dones, count))
    slots = AcceptedSlots(*(torch.empty_like(rows.starts) for _ in range(3)))
    if count:
        config = ACCEPTED_TABLE.config(VARIANT, architecture_of(rows.tables.device))
        accepted_slots_kernel[(count,)](
            rows.tables,
            rows.lengths,
            rows.starts,
            rows.planned_ends,
            rows.is_decode,
            dones,
            slots.next_currents,
            slots.boundary_sources,
            slots.boundary_targets,
            grid,
            rows.tables.shape[1],
            num_warps=config.warps,
            num_stages=config.stages,
        )
    return slots


def page_slots(
    tables: torch.Tensor,
    lengths: torch.Tensor,
    row_starts: torch.Tensor,
    starts: torch.Tensor,
    block_tokens: int,
    tokens: int,
    widest_tokens: int,
) -> PageSlots:
    """Where keys and values of the packed tokens are stored in a group with pages.
    `widest_tokens`: no row has more tokens."""
    where = "slots.page_slots"
    count = _check_sizes(where, tables, block_tokens, tokens)
    lines = {"lengths": (lengths, count), "row_starts": (row_starts, count + 1)}
    check_tables(where, tables.device, starts=(starts, count), **lines)
    slots = PageSlots(starts.new_zeros(tokens), starts.new_zeros(tokens))
    if count and widest_tokens:
        config = PAGE_TABLE.config(VARIANT, architecture_of(tables.device))
        page_slots_kernel[(count, triton.cdiv(widest_tokens, config.tiles["BT"]))](
            tables,
            lengths,
            row_starts,
            starts,
            slots.pages,
            slots.offsets,
            block_tokens,
            tables.shape[1],
            **config.tiles,
            num_warps=config.warps,
            num_stages=config.stages,
        )
    return slots


def _check_sizes(where: str, tables: torch.Tensor, block: int, tokens: int) -> int:
    if tables.ndim != 2 or tables.dtype != torch.int32 or not tables.is_contiguous():
        raise ValueError(
            f"{where}: tables is {tables.dtype} of shape {tuple(tables.shape)}, stride "
            f"{tables.stride()}; contiguous int32 of two dimensions would do"
        )
    for name, size, least in (("block", block, 1), ("tokens", tokens, 0)):
        if not least <= size < SIZE_BOUND:
            raise ValueError(f"{where}: {name} is {size}; {least} to {SIZE_BOUND - 1} would do")
    return tables.shape[0]


def _check_rows(where: str, rows: StateRows, grid: int, tokens: int) -> int:
    count = _check_sizes(where, rows.tables, grid, tokens)
    single = ("lengths", "starts", "planned_ends", "checkpoints", "is_decode", "currents")
    lines = {name: (getattr(rows, name), count) for name in single}
    lines["row_starts"] = (rows.row_starts, count + 1)
    check_tables(where, rows.tables.device, **lines)
    return count


# --- the same in torch ------------------------------------------------------------------------


def state_slots_reference(rows: StateRows, grid: int, tokens: int) -> StateSlots:
    """`state_slots`, all rows and tokens at once."""
    widths = rows.row_starts.diff()
    running = _up(rows.planned_ends, grid) - 1
    before = _up(rows.starts + widths, grid) - 2
    before = torch.where(before < 0, rows.lengths - 1, before)
    exported = _blocks(rows.tables, rows.lengths, before[:, None])[:, 0]
    row, ahead = _tokens(rows.row_starts, tokens)
    decode = rows.is_decode[row] > 0
    columns = running[row] + torch.where(decode, ahead, 0)
    targets = _blocks(rows.tables[row], rows.lengths[row], columns[:, None])[:, 0]
    token_targets = rows.starts.new_zeros(tokens)
    token_targets[: len(row)] = torch.where(decode | (ahead == widths[row] - 1), targets, 0)
    return StateSlots(
        _blocks(rows.tables, rows.lengths, rows.currents[:, None])[:, 0],
        token_targets,
        torch.where(rows.checkpoints > 0, exported, 0),
    )


def accepted_slots_reference(rows: StateRows, dones: torch.Tensor, grid: int) -> AcceptedSlots:
    """`accepted_slots`, all rows at once."""
    running = _up(rows.planned_ends, grid) - 1
    decode = rows.is_decode > 0
    boundary = dones // grid * grid
    columns = torch.stack([running + boundary - rows.starts - 1, boundary // grid - 1], 1)
    source, target = _blocks(rows.tables, rows.lengths, columns).unbind(1)
    copies = decode & (boundary > rows.starts) & (columns[:, 0] != columns[:, 1])
    copies &= (source > 0) & (target > 0)
    counted = torch.where(decode, (dones - rows.starts - 1).clamp(min=0), 0)
    return AcceptedSlots(
        running + counted, torch.where(copies, source, 0), torch.where(copies, target, 0)
    )


def page_slots_reference(
    tables: torch.Tensor,
    lengths: torch.Tensor,
    row_starts: torch.Tensor,
    starts: torch.Tensor,
    block_tokens: int,
    tokens: int,
) -> PageSlots:
    """`page_slots`, all tokens at once."""
    row, ahead = _tokens(row_starts, tokens)
    positions = starts[row] + ahead
    columns = positions // block_tokens
    pages, offsets = starts.new_zeros(tokens), starts.new_zeros(tokens)
    pages[: len(row)] = _blocks(tables[row], lengths[row], columns[:, None])[:, 0]
    offsets[: len(row)] = positions % block_tokens
    return PageSlots(pages, offsets)


def _up(count: torch.Tensor, size: int) -> torch.Tensor:
    return (count + size - 1) // size


def _tokens(row_starts: torch.Tensor, tokens: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Of each packed token that belongs to a row: the row, and how many come before it there."""
    numbers = torch.arange(len(row_starts) - 1, device=row_starts.device)
    row = torch.repeat_interleave(numbers, row_starts.diff())
    ahead = torch.arange(len(row), device=row.device) - row_starts[row]
    return row, ahead.to(torch.int32)


def _blocks(tables: torch.Tensor, lengths: torch.Tensor, columns: torch.Tensor) -> torch.Tensor:
    """`tables[r, columns[r, i]]`, 0 outside."""
    inside = (columns >= 0) & (columns < lengths[:, None])
    if not tables.shape[1]:
        return torch.zeros_like(columns)
    found = tables.gather(1, torch.where(inside, columns, 0).long())
    return torch.where(inside, found, 0)


# --- what they are compiled as ----------------------------------------------------------------

VARIANT = "int32"


def _table(name: str, function: object, arrays: str, sizes: str, **tiles: int) -> KernelTable:
    types = dict.fromkeys(arrays.split(), "*i32") | dict.fromkeys(sizes.split(), "i32")
    variant = Variant(VARIANT, types, {}, frozenset(arrays.split()))
    return KernelTable(
        name, function, (variant,), dict.fromkeys(Architecture, Config(tiles, warps=1, stages=1))
    )


STATE_TABLE = _table(
    "state_slots",
    state_slots_kernel,
    "tables lengths row_starts starts planned_ends checkpoints is_decode currents sources "
    "token_targets checkpoint_targets",
    "grid columns",
)
ACCEPTED_TABLE = _table(
    "accepted_slots",
    accepted_slots_kernel,
    "tables lengths starts planned_ends is_decode dones next_currents boundary_sources "
    "boundary_targets",
    "grid columns",
)
PAGE_TABLE = _table(
    "page_slots",
    page_slots_kernel,
    "tables lengths row_starts starts pages offsets",
    "block columns",
    BT=128,
)

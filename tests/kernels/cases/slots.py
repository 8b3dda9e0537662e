"""Slots of random batches: rules, numba, Triton and torch say the same, bit for bit, and nothing is
written beside an output."""

import random
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from tempfile import TemporaryFile

import numpy as np
import torch

from truehit.engine import slots as host
from truehit.kernels import slots as device
from truehit.reference.rules import slots as rules
from truehit.spec.units import floor_to, running_column

from ..buffers import RedZoned

GRIDS = (1, 2, 3, 7, 16, 1648)
ROWS = 32
BATCHES = 6
"""Of each grid: 1152 rows in all, each in three kernels."""
TILE = 128


@dataclass(frozen=True, slots=True)
class Batch:
    """Rows as lists; `tables` are as long as `lengths` say. `dones`: what counts after the step."""

    grid: int
    tables: list[list[int]]
    widths: list[int]
    starts: list[int]
    planned_ends: list[int]
    checkpoints: list[int]
    is_decode: list[int]
    currents: list[int]
    dones: list[int]

    @property
    def row_starts(self) -> list[int]:
        return [sum(self.widths[:row]) for row in range(len(self.widths) + 1)]

    @property
    def tokens(self) -> int:
        """Two more than the rows have."""
        return sum(self.widths) + 2


def drawn(seed: int, grid: int, count: int = ROWS) -> Batch:
    """Rows of every kind, many at edges: on boundaries, before and behind their tables."""
    draw = random.Random(seed)
    batch = Batch(grid, [], [], [], [], [], [], [], [])
    for _ in range(count):
        decode = draw.random() < 0.6
        width = draw.choice((0, 1, 1, 2, 5, 8)) if decode else draw.choice((0, 1, grid, 40))
        block = draw.randrange(6) * grid
        start = max(block + draw.choice((0, 0, -1, -width, 1, draw.randrange(grid))), 0)
        ahead = draw.choice((0, 0, 0, 1, width)) if decode else 0
        running = running_column(start + width + ahead, grid)
        length = max(running + draw.choice((9, 9, 2, 1, 0, -2)), 0)
        batch.tables.append([draw.choice((0, *range(1, 90))) for _ in range(length)])
        batch.widths.append(width)
        batch.starts.append(start)
        batch.planned_ends.append(start + width + ahead)
        batch.checkpoints.append(draw.choice((0, start + width // 2)))
        batch.is_decode.append(int(decode))
        batch.currents.append(draw.choice((-1, running, running - 1, running + 1, length, 99)))
        accepted = draw.randrange(-1, width) if width else -1
        batch.dones.append(start + 1 + accepted if decode else start + width)
    return batch


# --- by the rules, number by number -----------------------------------------------------------


def _block(table: list[int], column: int) -> int:
    return table[column] if rules.in_table(column, len(table)) else 0


def state_by_rules(batch: Batch) -> tuple[list[int], ...]:
    sources, targets, exported = [], [0] * batch.tokens, []
    for row, table in enumerate(batch.tables):
        first, width = batch.row_starts[row], batch.widths[row]
        running = running_column(batch.planned_ends[row], batch.grid)
        sources.append(_block(table, batch.currents[row]))
        column = rules.checkpoint_column(batch.starts[row] + width, batch.grid)
        column = rules.wrapped_column(column, len(table))
        exported.append(_block(table, column) if batch.checkpoints[row] else 0)
        if batch.is_decode[row]:
            for ahead in range(width):
                targets[first + ahead] = _block(table, rules.token_column(running, ahead))
        elif width:
            targets[first + width - 1] = _block(table, running)
    return sources, targets, exported


def accepted_by_rules(batch: Batch) -> tuple[list[int], ...]:
    currents, sources, targets = [], [], []
    for row, table in enumerate(batch.tables):
        start, done = batch.starts[row], batch.dones[row]
        running = running_column(batch.planned_ends[row], batch.grid)
        boundary = floor_to(done, batch.grid)
        column = rules.boundary_column(running, start, boundary)
        own = rules.own_column(boundary, batch.grid)
        pair = (0, 0)
        if batch.is_decode[row] and rules.copies_boundary(start, boundary, column, own):
            pair = (_block(table, column), _block(table, own))
        sources.append(pair[0] if all(pair) else 0)
        targets.append(pair[1] if all(pair) else 0)
        decode = batch.is_decode[row]
        currents.append(rules.next_current(running, start, done) if decode else running)
    return currents, sources, targets


def pages_by_rules(batch: Batch) -> tuple[list[int], ...]:
    pages, offsets = [0] * batch.tokens, [0] * batch.tokens
    for row, table in enumerate(batch.tables):
        for ahead in range(batch.widths[row]):
            position = batch.starts[row] + ahead
            column = rules.page_column(position, batch.grid)
            pages[batch.row_starts[row] + ahead] = _block(table, column)
            offsets[batch.row_starts[row] + ahead] = position - column * batch.grid
    return pages, offsets


# --- by the others ----------------------------------------------------------------------------


def on_host(batch: Batch) -> host.StateRows:
    columns = max(map(len, batch.tables)) + 1
    tables = np.full((len(batch.tables), columns), -7, np.int32)
    for row, table in enumerate(batch.tables):
        tables[row, : len(table)] = table
    lines = (
        list(map(len, batch.tables)),
        batch.row_starts,
        batch.starts,
        batch.planned_ends,
        batch.checkpoints,
        batch.is_decode,
        batch.currents,
    )
    return host.StateRows(tables, *(np.array(line, np.int32) for line in lines))


def on_device(batch: Batch) -> device.StateRows:
    """Every array lies between red zones, so that a load beside it is no plausible value."""
    arrays = (RedZoned.of(torch.from_numpy(array)).tensor for array in on_host(batch))
    return device.StateRows(*arrays)


def _lists(slots: object) -> tuple[list[int], ...]:
    if isinstance(slots, tuple):
        return tuple(array.tolist() for array in slots)
    return tuple(getattr(slots, f.name).tolist() for f in fields(slots))  # type: ignore[arg-type]


def each(check: Callable[[Batch], None]) -> None:
    for grid in GRIDS:
        for number in range(BATCHES):
            check(drawn(100 * grid + number, grid))


def case_state_slots() -> None:
    def check(batch: Batch) -> None:
        expected = state_by_rules(batch)
        rows = on_device(batch)
        tokens = batch.tokens
        assert _lists(host.state_slots(on_host(batch), batch.grid, tokens)) == expected
        assert _lists(device.state_slots_reference(rows, batch.grid, tokens)) == expected
        assert _lists(device.state_slots(rows, batch.grid, tokens)) == expected

    each(check)


def case_accepted_slots() -> None:
    def check(batch: Batch) -> None:
        expected = accepted_by_rules(batch)
        rows, dones = on_device(batch), np.array(batch.dones, np.int32)
        known = torch.from_numpy(dones)
        assert _lists(host.accepted_slots(on_host(batch), dones, batch.grid)) == expected
        assert _lists(device.accepted_slots_reference(rows, known, batch.grid)) == expected
        assert _lists(device.accepted_slots(rows, known, batch.grid)) == expected

    each(check)


def case_page_slots() -> None:
    def check(batch: Batch) -> None:
        expected = pages_by_rules(batch)
        mine, rows = on_host(batch), on_device(batch)
        given = (mine.tables, mine.lengths, mine.row_starts, mine.starts)
        lent = (rows.tables, rows.lengths, rows.row_starts, rows.starts)
        sizes, widest = (batch.grid, batch.tokens), max(batch.widths)
        assert _lists(host.page_slots(*given, *sizes)) == expected
        assert _lists(device.page_slots_reference(*lent, *sizes)) == expected
        assert _lists(device.page_slots(*lent, *sizes, widest)) == expected

    each(check)


def case_the_batches_have_every_kind_of_row() -> None:
    batches = [drawn(100 * grid + n, grid) for grid in GRIDS for n in range(BATCHES)]
    copied = [sum(map(bool, accepted_by_rules(batch)[1])) for batch in batches]
    exported = [sum(map(bool, state_by_rules(batch)[2])) for batch in batches]
    assert sum(copied) > 50 and sum(exported) > 50
    rows = [
        (len(table), current, running_column(end, batch.grid), start % batch.grid, width)
        for batch in batches
        for table, current, end, start, width in zip(
            batch.tables,
            batch.currents,
            batch.planned_ends,
            batch.starts,
            batch.widths,
            strict=True,
        )
    ]
    for name, count in {
        "none": sum(current < 0 for _, current, _, _, _ in rows),
        "behind": sum(current >= length for length, current, _, _, _ in rows),
        "short": sum(length <= running for length, _, running, _, _ in rows),
        "aligned": sum(offset == 0 for *_, offset, _ in rows),
        "empty": sum(width == 0 for *_, width in rows),
    }.items():
        assert count > 50, name


def case_nothing_is_written_beside_an_output() -> None:
    for grid in GRIDS:
        batch = drawn(grid, grid)
        rows, columns = on_device(batch), len(on_host(batch).tables[0])
        before = [getattr(rows, f.name).clone() for f in fields(rows)]
        single = [RedZoned.make((ROWS,), torch.int32) for _ in range(5)]
        sources, exported, currents, *boundaries = (zoned.tensor for zoned in single)
        packed = [RedZoned.make((sum(batch.widths),), torch.int32) for _ in range(3)]
        targets, pages, offsets = (zoned.tensor for zoned in packed)
        everything = [getattr(rows, f.name) for f in fields(rows)]
        device.state_slots_kernel[(ROWS,)](*everything, sources, targets, exported, grid, columns)
        dones = torch.tensor(batch.dones, dtype=torch.int32)
        shape = (rows.tables, rows.lengths)
        device.accepted_slots_kernel[(ROWS,)](
            *shape,
            *(rows.starts, rows.planned_ends, rows.is_decode, dones, currents),
            *(*boundaries, grid, columns),
        )
        device.page_slots_kernel[(ROWS, -(-max(batch.widths) // TILE))](
            *(*shape, rows.row_starts, rows.starts, pages, offsets, grid, columns), BT=TILE
        )
        assert all(zoned.intact() for zoned in (*single, *packed))
        for written in (sources, exported, *boundaries, pages, offsets):
            assert (written >= 0).all()
        after = [getattr(rows, f.name) for f in fields(rows)]
        assert all(torch.equal(*pair) for pair in zip(before, after, strict=True))


def case_a_table_beyond_32_bits_is_addressed() -> None:
    """Of a sparse file of three rows, the last begins at entry 2^31."""
    columns, row, block = 2**30, 2, 16
    with TemporaryFile() as file:
        tables = np.memmap(file, np.int32, "w+", shape=(row + 1, columns))
        tables[row, :3] = (11, 12, 13)
        tables_here = torch.from_numpy(tables)
        lengths = torch.tensor([0, 0, 3], dtype=torch.int32)
        row_starts = torch.tensor([0, 0, 0, 4], dtype=torch.int32)
        starts = torch.tensor([0, 0, 30], dtype=torch.int32)
        found = device.page_slots(tables_here, lengths, row_starts, starts, block, 4, 4)
        assert found.pages.tolist() == [12, 12, 13, 13]


def case_no_rows_is_no_launch() -> None:
    empty = torch.zeros(0, dtype=torch.int32)
    rows = device.StateRows(empty.view(0, 4), empty, empty.new_zeros(1), *[empty] * 5)
    assert device.state_slots(rows, 4, 3).token_targets.tolist() == [0, 0, 0]
    assert device.accepted_slots(rows, empty, 4).next_currents.tolist() == []
    assert _lists(device.page_slots(rows.tables, empty, empty.new_zeros(1), empty, 4, 2, 0)) == (
        [0, 0],
        [0, 0],
    )


def _said(action: Callable[[], object]) -> str:
    try:
        action()
    except ValueError as error:
        return str(error)
    raise AssertionError("nothing was refused")


def case_what_does_not_fit_is_refused_with_what_would() -> None:
    rows = on_device(drawn(1, 4))
    short = replace(rows, starts=rows.starts[1:])
    assert "starts has shape (31,); (32,) would do" in _said(
        lambda: device.state_slots(short, 4, 9)
    )
    wide = replace(rows, currents=rows.currents.long())
    assert "currents is torch.int64" in _said(lambda: device.state_slots(wide, 4, 9))
    sliced = replace(rows, tables=rows.tables[:, 1:])
    assert "tables is torch.int32" in _said(lambda: device.accepted_slots(sliced, rows.starts, 4))
    assert f"block is 0; 1 to {2**30 - 1} would do" in _said(lambda: device.state_slots(rows, 0, 9))
    assert f"tokens is {2**30}; 0" in _said(lambda: device.state_slots(rows, 4, 2**30))

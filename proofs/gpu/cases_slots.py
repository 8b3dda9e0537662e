"""Trials of slot derivation: integers, equal or not."""

from collections.abc import Callable
from dataclasses import dataclass, fields

import torch
from torch import Tensor

from truehit.kernels import slots
from truehit.proofs.gpu.drawing import Draw, offsets
from truehit.proofs.gpu.sizes import EXACT_TOLERANCE, Sizes
from truehit.proofs.gpu.trial import Trial, wide

GRIDS = (1, 2, 7, 16, 1648)
BLOCKS = 90
MOST_DRAFTS = 8
Derive = Callable[["Batch", bool], tuple[Tensor, ...]]


@dataclass(frozen=True, slots=True)
class Batch:
    """Rows of one grid on the device; `on_host` has the same on the CPU."""

    rows: slots.StateRows
    dones: Tensor
    grid: int
    widths: list[int]

    @property
    def tokens(self) -> int:
        return sum(self.widths)

    def on_host(self) -> "Batch":
        own = slots.StateRows(*map(wide, _tensors(self.rows)))
        return Batch(own, wide(self.dones), self.grid, self.widths)


def _tensors(
    own: slots.StateRows | slots.StateSlots | slots.AcceptedSlots | slots.PageSlots,
) -> tuple[Tensor, ...]:
    return tuple(getattr(own, each.name) for each in fields(own))


def drawn_batch(draw: Draw, grid: int, count: int) -> Batch:
    """Rows of every kind, many at the edges of blocks and tables."""
    pick, tables, columns = draw.pick, [], []
    for _ in range(count):
        is_decode = pick.random() < 0.6
        width = pick.choice((0, 1, 2, 5, MOST_DRAFTS)) if is_decode else pick.choice((0, 1, 40))
        start = max(pick.randrange(6) * grid + pick.choice((0, 0, -1, -width, 1)), 0)
        planned_end = start + width + (pick.choice((0, 1, width)) if is_decode else 0)
        running = (planned_end + grid - 1) // grid - 1
        length = max(running + pick.choice((9, 9, 2, 1, 0, -2)), 0)
        tables.append([pick.randrange(BLOCKS) for _ in range(length)])
        accepted = pick.randrange(-1, width) if width else -1
        done = start + 1 + accepted if is_decode else start + width
        checkpoint = pick.choice((0, start + width // 2))
        current = pick.choice((-1, running, running - 1, length, 99))
        columns.append(
            (length, start, planned_end, checkpoint, int(is_decode), current, done, width)
        )
    lengths, starts, ends, checkpoints, decodes, currents, dones, widths = map(
        list, zip(*columns, strict=True)
    )
    widest = max(lengths) + 1
    padded = draw.table([at for own in tables for at in (*own, *[0] * (widest - len(own)))])
    singles = map(draw.table, (starts, ends, checkpoints, decodes, currents))
    rows = slots.StateRows(
        padded.view(count, widest), draw.table(lengths), draw.table(offsets(widths)), *singles
    )
    return Batch(rows, draw.table(dones), grid, widths)


def _trial(draw: Draw, sizes: Sizes, derive: Derive) -> Trial:
    batches = [drawn_batch(draw, grid, 3 * sizes.rows) for grid in GRIDS]

    def launch(pools: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        return tuple(each for batch in batches for each in derive(batch, False))

    def rule(pools: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        return tuple(each for batch in batches for each in derive(batch.on_host(), True))

    return Trial((), launch, rule, EXACT_TOLERANCE)


def state_trial(
    draw: Draw, sizes: Sizes, activations: torch.dtype, pool_dtype: torch.dtype
) -> Trial:
    """What a step reads and writes before drafts are accepted."""

    def derive(batch: Batch, by_rule: bool) -> tuple[Tensor, ...]:
        call = slots.state_slots_reference if by_rule else slots.state_slots
        return _tensors(call(batch.rows, batch.grid, batch.tokens))

    return _trial(draw, sizes, derive)


def accepted_trial(
    draw: Draw, sizes: Sizes, activations: torch.dtype, pool_dtype: torch.dtype
) -> Trial:
    """What follows from the tokens that count."""

    def derive(batch: Batch, by_rule: bool) -> tuple[Tensor, ...]:
        call = slots.accepted_slots_reference if by_rule else slots.accepted_slots
        return _tensors(call(batch.rows, batch.dones, batch.grid))

    return _trial(draw, sizes, derive)


def page_trial(
    draw: Draw, sizes: Sizes, activations: torch.dtype, pool_dtype: torch.dtype
) -> Trial:
    """Where keys and values of the tokens are stored."""

    def derive(batch: Batch, by_rule: bool) -> tuple[Tensor, ...]:
        rows = batch.rows
        known = (rows.tables, rows.lengths, rows.row_starts, rows.starts, batch.grid, batch.tokens)
        if by_rule:
            return _tensors(slots.page_slots_reference(*known))
        return _tensors(slots.page_slots(*known, max(batch.widths)))

    return _trial(draw, sizes, derive)

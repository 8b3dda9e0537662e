"""The data plane: runs the rows of a step on the pool, through the block tables of the engine.

It keeps one number a request and state group, the column of its running state; all else is in
pages. A step is run in two calls, because which drafts are accepted is known only from its logits:
`forward` computes and writes, `settle` says how many tokens count and saves the states of completed
blocks."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from truehit.engine.model import attention, delta_net
from truehit.engine.model.backend import Backend, PageRows
from truehit.engine.model.config import ModelConfig
from truehit.engine.model.delta_net import StatePages
from truehit.engine.model.ghost import Ghosts
from truehit.engine.model.layout import AttentionPages, DeltaNetPages, lay_out
from truehit.engine.model.parts import feed_forward, rms_norm, rotation
from truehit.engine.model.pool import Pool
from truehit.engine.model.step import Step
from truehit.engine.model.watch import GroupSlots, Watch
from truehit.engine.model.weights import AttentionWeights, DeltaNetWeights, ModelWeights
from truehit.kernels.slots import StateRows
from truehit.spec.geometry import Geometry, Kind

POISON = 0xFF


@dataclass(frozen=True, slots=True)
class Model:
    """What is computed: shape, weights, and the type of activations and of states."""

    config: ModelConfig
    weights: ModelWeights
    activations: torch.dtype
    states: torch.dtype


@dataclass(frozen=True, slots=True)
class _Slots:
    """Pages of the step that runs, by group."""

    states: dict[int, StatePages]
    pages: dict[int, PageRows]
    rows: dict[int, StateRows]
    checkpoints: dict[int, Tensor]


class Plane:
    """One pool and one model. `is_watched`: pages carry ghosts, and fresh pages are poisoned."""

    def __init__(
        self, model: Model, geometry: Geometry, backend: Backend, *, is_watched: bool = False
    ) -> None:
        self.model = model
        self.geometry = geometry
        self.backend = backend
        layout = lay_out(
            model.config, geometry, model.activations, model.states, has_ghosts=is_watched
        )
        self.pool = Pool(layout, geometry.pool_blocks, backend.device)
        self.watch = Watch(Ghosts(self.pool), geometry) if is_watched else None
        used = sorted({own.group for own in layout.layers})
        kinds = {group: geometry.groups[group].kind for group in used}
        self.state_groups = tuple(g for g in used if kinds[g] is Kind.RECURRENT_STATE)
        self.page_groups = tuple(g for g in used if kinds[g] is not Kind.RECURRENT_STATE)
        self._currents = torch.full(
            (1, len(geometry.groups)), -1, dtype=torch.int32, device=backend.device
        )
        self._open: tuple[Step, _Slots] | None = None

    def _numbers(self, values: Sequence[int], dtype: torch.dtype = torch.int32) -> Tensor:
        return torch.tensor(values, dtype=dtype, device=self.backend.device)

    # --- requests ---------------------------------------------------------------------------

    def begin(self, slot: int, start: int, seed_block_tokens: int) -> None:
        """A request starts, or resumes at `start` from the column that holds its state."""
        missing = slot + 1 - len(self._currents)
        if missing > 0:
            more = torch.full_like(self._currents[:1], -1).expand(missing, -1)
            self._currents = torch.cat((self._currents, more))
        self._currents[slot] = (start - 1) // seed_block_tokens if start else -1

    def place(self, slot: int, group: int, column: int) -> None:
        """The running state of a request is in this column from now on."""
        self._currents[slot, group] = column

    # --- pages ------------------------------------------------------------------------------

    def copy(self, pairs: Iterable[tuple[int, int]]) -> None:
        """Copy whole pages, in this order; (source, target)."""
        waiting: list[tuple[int, int]] = []
        touched: set[int] = set()
        for source, target in pairs:
            if source in touched or target in touched:
                self._copy_wave(waiting)
                waiting, touched = [], set()
            waiting.append((source, target))
            touched.update((source, target))
        self._copy_wave(waiting)

    def _copy_wave(self, pairs: list[tuple[int, int]]) -> None:
        if pairs:
            sources, targets = zip(*pairs, strict=True)
            self.backend.copy_pages(self.pool.bytes, self._numbers(sources), self._numbers(targets))

    def refresh(self, pages: Sequence[int]) -> None:
        """These pages have a new tenant. Watched planes poison them."""
        if self.watch is not None and pages:
            self.backend.fill_pages(self.pool.bytes, self._numbers(sorted(set(pages))), POISON)

    # --- a step -----------------------------------------------------------------------------

    @torch.inference_mode()
    def forward(self, step: Step) -> Tensor:
        """Run all layers; returns the wanted logits [wanted, vocabulary]."""
        assert self._open is None, "the step before was not settled"
        slots = self._slots(step)
        self._open = (step, slots)
        if self.watch is not None:
            self.watch.step(step, self._on_host(step, slots))
        return self._layers(step, slots)

    @torch.inference_mode()
    def settle(self, dones: Sequence[int]) -> None:
        """`dones`: per row of the step, the tokens that count after it."""
        assert self._open is not None, "no step was run"
        step, slots = self._open
        self._open = None
        done = self._numbers(dones)
        at = self._numbers([row.slot for row in step.rows], torch.int64)
        for group, rows in slots.rows.items():
            grid = self.geometry.groups[group].block_tokens
            currents, sources, targets = self.backend.accepted_slots(rows, done, grid)
            self._currents[at, group] = currents
            self.backend.copy_pages(self.pool.bytes, sources, targets)

    def _slots(self, step: Step) -> _Slots:
        states, pages, state_rows, checkpoints = {}, {}, {}, {}
        for group in (*self.state_groups, *self.page_groups):
            tables, lengths = self._tables(step, group)
            grid = self.geometry.groups[group].block_tokens
            starts = self._numbers([row.start for row in step.rows])
            if group in self.page_groups:
                pages[group] = self._page_rows(step, group, tables, lengths, starts)
                continue
            slots = self._numbers([row.slot for row in step.rows], torch.int64)
            rows = StateRows(
                tables=tables,
                lengths=lengths,
                row_starts=step.row_starts,
                starts=starts,
                planned_ends=self._numbers([row.planned_end for row in step.rows]),
                checkpoints=self._numbers([row.checkpoint_tokens for row in step.rows]),
                is_decode=self._numbers([int(row.is_decode) for row in step.rows]),
                currents=self._currents[slots, group],
            )
            sources, tokens, exports = self.backend.state_slots(rows, grid, step.token_count)
            picked = torch.cat((self._numbers([0]), tokens, exports))[step.segment_picks]
            states[group] = StatePages(sources, tokens, picked)
            state_rows[group], checkpoints[group] = rows, exports
        return _Slots(states, pages, state_rows, checkpoints)

    def _page_rows(
        self, step: Step, group: int, tables: Tensor, lengths: Tensor, starts: Tensor
    ) -> PageRows:
        pages, offsets = self.backend.page_slots(
            tables,
            lengths,
            step.row_starts,
            starts,
            self.geometry.groups[group].block_tokens,
            step.token_count,
            step.longest_row_tokens,
        )
        return PageRows(
            pages=pages,
            offsets=offsets,
            tables=tables,
            row_starts=step.row_starts,
            starts=starts,
            longest_row_tokens=step.longest_row_tokens,
            rows=tuple((row.start, row.end, row.tables[group]) for row in step.rows),
        )

    def _tables(self, step: Step, group: int) -> tuple[Tensor, Tensor]:
        """The block tables of the rows, padded with the null block, and their lengths."""
        tables = [row.tables[group] for row in step.rows]
        width = max(1, *(len(table) for table in tables))
        padded = np.zeros((len(tables), width), np.int32)
        for row, table in enumerate(tables):
            padded[row, : len(table)] = table
        lengths = self._numbers([len(table) for table in tables])
        return torch.from_numpy(padded).to(self.backend.device), lengths

    def _on_host(self, step: Step, slots: _Slots) -> dict[int, GroupSlots]:
        found: dict[int, GroupSlots] = {}
        for group, own in slots.states.items():
            found[group] = GroupSlots(
                sources=own.sources.tolist(),
                token_targets=own.token_targets.tolist(),
                checkpoint_targets=slots.checkpoints[group].tolist(),
                columns=slots.rows[group].currents.tolist(),
            )
        for group, rows in slots.pages.items():
            found[group] = GroupSlots(pages=rows.pages, offsets=rows.offsets)
        return found

    def _layers(self, step: Step, slots: _Slots) -> Tensor:
        config, weights, pool = self.model.config, self.model.weights, self.pool
        x = weights.embedding[step.tokens % config.vocabulary]
        turns = rotation(step.positions, config.attention, x.dtype)
        for layer, own in zip(weights.layers, pool.layout.layers, strict=True):
            y = rms_norm(x, layer.mixer_norm, config.epsilon)
            match layer.mixer, own:
                case DeltaNetWeights(), DeltaNetPages():
                    x = x + delta_net.mix(
                        y,
                        layer.mixer,
                        config.delta_net,
                        config.epsilon,
                        pool.delta_net(own),
                        slots.states[own.group],
                        step,
                        self.backend,
                    )
                case AttentionWeights(), AttentionPages():
                    x = x + attention.attend(
                        y,
                        layer.mixer,
                        config.attention,
                        config.epsilon,
                        turns,
                        pool.attention(own),
                        slots.pages[own.group],
                        own.window_tokens,
                        self.backend,
                    )
            y = rms_norm(x, layer.block_norm, config.epsilon)
            x = x + feed_forward(y, layer.block, config.experts)
        x = rms_norm(x[step.wanted], weights.norm, config.epsilon)
        return x @ weights.head.T

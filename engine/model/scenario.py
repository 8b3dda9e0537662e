"""A scenario with real states: the worker's steps run on a model, token for token.

The scenario says which drafts are accepted: an accepted draft is the token that follows, a rejected
one is another token. So every request computes exactly its own path, and every logit can be
compared with that path computed alone."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from truehit.engine import fields as f
from truehit.engine.memory import Int32
from truehit.engine.model.alone import compute_alone
from truehit.engine.model.backend import Backend
from truehit.engine.model.layout import AttentionPages
from truehit.engine.model.plane import Model, Plane
from truehit.engine.model.server import fresh_pages
from truehit.engine.model.step import Row, pack
from truehit.engine.run import Run, Runner
from truehit.engine.worker import Load, PageCopy, Work
from truehit.spec.geometry import Kind
from truehit.spec.scenario import Scenario
from truehit.spec.units import ceil_div, running_column


@dataclass(frozen=True, slots=True)
class Computed:
    """Logits of a request after the tokens at `start`, `start` + 1, ...: [tokens, vocabulary]."""

    request: int
    step: int
    start: int
    logits: Tensor


class ScenarioPlane:
    """The data plane of a runner. `computed`: everything that counted, in order."""

    def __init__(self, runner: Runner, model: Model, backend: Backend) -> None:
        self._runner = runner
        self.plane = Plane(model, runner.scenario.geometry, backend, is_watched=True)
        self.computed: list[Computed] = []
        self._paths: dict[int, list[int]] = {}

    def path(self, number: int) -> list[int]:
        """Prompt and output of a request, as token ids."""
        if number not in self._paths:
            place = self._runner.worker.places[number]
            self._paths[number] = self._runner.tokens(place.request).tolist()
        return self._paths[number]

    def name(self, number: int) -> str:
        """Of a request, in the scenario."""
        return self._runner.worker.places[number].request.name

    def begin(self, number: int, slot: int, start: int) -> None:
        """A residency starts at `start`."""
        self.plane.begin(slot, start, int(self._runner.host.core.fixed[f.F_SEED_BLOCK]))

    def step(self, copies: Sequence[PageCopy], loads: Sequence[Load], work: Sequence[Work]) -> None:
        """Fresh pages, copies, loads, and then all rows at once."""
        if self.plane.watch is not None:
            self.plane.watch.number = self._runner.step
        self.plane.refresh(fresh_pages(self._runner.host.core))
        self.plane.copy((copy.source, copy.target) for copy in copies)
        for load in loads:
            self._load(load)
        if not work:
            return
        dones = {own.job.slot: own.job.done for own in work}
        step = pack([self._row(own) for own in work], self.plane.backend.device)
        logits = self.plane.forward(step)
        self.plane.settle([dones[row.slot] for row in step.rows])
        first = 0
        for row in step.rows:
            counted = logits[first : first + dones[row.slot] - row.start]
            self.computed.append(Computed(row.request, self._runner.step, row.start, counted))
            first += row.end - row.start

    def _row(self, work: Work) -> Row:
        job = work.job
        true = self.path(work.number)
        path = true[: job.done]
        rejected = range(job.done, job.end)
        path = path + [(true[at] if at < len(true) else 0) + 1 for at in rejected]
        return Row(
            request=work.number,
            slot=job.slot,
            path=path,
            start=job.start,
            planned_end=job.planned_end,
            checkpoint_tokens=job.checkpoint,
            is_decode=job.is_decode,
            tables=self._tables(job.slot),
            logits_from=job.start,
        )

    def _tables(self, slot: int) -> tuple[Int32, ...]:
        core = self._runner.host.core
        rows = core.table[slot].tolist()
        ranges = [(row[f.T_AT], row[f.T_AT] + row[f.T_LENGTH]) for row in rows]
        return tuple(core.column[first:last].copy() for first, last in ranges)

    # --- content from outside ---------------------------------------------------------------

    def _load(self, load: Load) -> None:
        """What a transfer brings: computed alone, elsewhere, and copied in."""
        plane, geometry = self.plane, self.plane.geometry
        donor = compute_alone(
            plane.model,
            geometry,
            plane.backend,
            self.path(load.number)[: load.end],
            is_watched=True,
        )
        tables = self._tables(load.slot)
        for group in (*plane.state_groups, *plane.page_groups):
            for column in self._columns(load, group):
                source, target = donor.tables[group][column], tables[group][column]
                low, high = 0, geometry.groups[group].block_tokens
                if group in plane.page_groups:
                    low = max(load.start - column * high, 0)
                    high = min(high, load.end - column * high)
                pairs = zip(
                    self._arrays(donor.plane, group), self._arrays(plane, group), strict=True
                )
                for theirs, own in pairs:
                    if group in plane.page_groups:
                        own[target, low:high] = theirs[source, low:high]
                    else:
                        own[target] = theirs[source]
            if group in plane.state_groups:
                block = geometry.groups[group].block_tokens
                plane.place(load.slot, group, running_column(load.end, block))

    def _columns(self, load: Load, number: int) -> range:
        group = self.plane.geometry.groups[number]
        block, first = group.block_tokens, load.start
        match group.kind:
            case Kind.RECURRENT_STATE:
                column = running_column(load.end, block)
                return range(column, column + 1)
            case Kind.SLIDING_WINDOW:
                window = group.window_tokens or 1
                first = max(first, max(0, load.end - window + 1) // block * block)
        return range(first // block, ceil_div(load.end, block))

    @staticmethod
    def _arrays(plane: Plane, group: int) -> Iterator[Tensor]:
        """All arrays in the pages of a group."""
        for layer in plane.pool.layout.layers:
            if layer.group != group:
                continue
            if isinstance(layer, AttentionPages):
                yield from plane.pool.attention(layer)
            else:
                yield from plane.pool.delta_net(layer)
        yield plane.pool.view(plane.pool.layout.ghosts[group])


@dataclass(frozen=True, slots=True)
class Compared:
    """What was computed at once, and by how much each token's logits differ (not a number counts as
    infinite): `by` [tokens]; `wrong`: tokens after which another one would be chosen."""

    own: Computed
    by: Tensor
    wrong: int


def against_alone(data: ScenarioPlane, model: Model, backend: Backend) -> Iterator[Compared]:
    """All that counted, in order, against every request computed alone with this model."""
    alone: dict[int, Tensor] = {}
    for own in data.computed:
        if own.request not in alone:
            path = data.path(own.request)
            alone[own.request] = compute_alone(model, data.plane.geometry, backend, path).logits
        found = own.logits.to(backend.device)
        wanted = alone[own.request][own.start : own.start + len(found)]
        by = (found - wanted).abs().amax(dim=-1).nan_to_num(nan=torch.inf)
        yield Compared(own, by, int((found.argmax(-1) != wanted.argmax(-1)).sum()))


@dataclass(frozen=True, slots=True)
class ModelRun:
    """A scenario's trace, and what its data plane computed and holds."""

    run: Run
    data: ScenarioPlane


def run_on_model(scenario: Scenario, rules: str, model: Model, backend: Backend) -> ModelRun:
    """Run a scenario under a rule set with a model on its tables."""
    planes: list[ScenarioPlane] = []

    def plane_of(runner: Runner) -> ScenarioPlane:
        planes.append(ScenarioPlane(runner, model, backend))
        return planes[-1]

    run = Runner(scenario, rules, plane_of).run()
    return ModelRun(run, planes[0])

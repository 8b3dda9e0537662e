"""Serve: the engine schedules, the model runs on its tables, the results go back.

    server = Server(model, geometry, TorchBackend())
    request = server.submit(prompt, output_tokens=20)
    server.run()
    server.output(request)

With several steps in flight the device runs ahead of what the engine has learned, as on a GPU: a
row starts where the device is, not where the scheduler thought it would be."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from torch import Tensor

from truehit.engine import fields as f
from truehit.engine.api import Engine
from truehit.engine.batch import Batch
from truehit.engine.memory import Core
from truehit.engine.model.backend import Backend
from truehit.engine.model.drafter import Drafter, PromptLookup
from truehit.engine.model.plane import Model, Plane
from truehit.engine.model.sampling import Greedy, Sampling, choose, verify
from truehit.engine.model.step import Row, Step, pack
from truehit.spec.geometry import Geometry

IDLE_STEPS = 64


class Stalled(RuntimeError):
    """Requests wait and nothing is scheduled for them any more."""


@dataclass(slots=True)
class Served:
    """One request. `tokens`: prompt and what was generated; `done_tokens`: consumed on the device;
    `hits`: where each residency started."""

    tokens: list[int]
    prompt_tokens: int
    output_tokens: int
    sampling: Sampling
    residency: int = -1
    done_tokens: int = 0
    hits: list[int] = field(default_factory=list)
    is_finished: bool = False

    @property
    def left_tokens(self) -> int:
        return self.prompt_tokens + self.output_tokens - len(self.tokens)


@dataclass(frozen=True, slots=True)
class _Result:
    """What a row sampled."""

    tokens: list[int]


OnLogits = Callable[[int, int, Tensor], None]


def fresh_pages(core: Core) -> list[int]:
    """Blocks that the step took from the free pool."""
    pages: list[int] = []
    for slot, group, column, count, is_fresh in core.update[: core.now[f.N_UPDATES]].tolist():
        if is_fresh:
            first = int(core.table[slot, group, f.T_AT]) + column
            pages += core.column[first : first + count].tolist()
    return [page for page in pages if page]


class Server:
    """One engine and one data plane. `on_logits(request, position, logits)` is called for every
    position whose logits are computed: those of the token after it."""

    def __init__(
        self,
        model: Model,
        geometry: Geometry,
        backend: Backend,
        *,
        rules: str = "default",
        drafter: Drafter | None = None,
        is_watched: bool = False,
        on_logits: OnLogits | None = None,
    ) -> None:
        self.engine = Engine(geometry, rules)
        self.plane = Plane(model, geometry, backend, is_watched=is_watched)
        self.requests: dict[int, Served] = {}
        self._drafter = drafter or PromptLookup()
        self._on_logits = on_logits
        self._results: list[list[_Result]] = []

    # --- requests ---------------------------------------------------------------------------

    def submit(
        self,
        tokens: Sequence[int],
        *,
        output_tokens: int,
        salt: str = "",
        priority: int = 0,
        sampling: Sampling | None = None,
    ) -> int:
        """Queue a prompt; see `Engine.submit`."""
        ids = [int(token) for token in tokens]
        number = self.engine.submit(ids, output_tokens=output_tokens, salt=salt, priority=priority)
        self.requests[number] = Served(ids, len(ids), output_tokens, sampling or Greedy())
        return number

    def abort(self, request: int) -> None:
        """The client gives up; what was generated so far stays readable. Refused for a request
        that is unknown or has ended."""
        self.engine.abort(request)
        self._end(request)

    def output(self, request: int) -> list[int]:
        """What was generated so far."""
        served = self.requests[request]
        return served.tokens[served.prompt_tokens :]

    def run(self) -> None:
        """Until every request has finished. Stalled: some never will."""
        idle = 0
        while not all(served.is_finished for served in self.requests.values()):
            idle = 0 if self.step() else idle + 1
            if idle == IDLE_STEPS:
                waiting = [n for n, served in self.requests.items() if not served.is_finished]
                raise Stalled(f"requests {waiting}: {IDLE_STEPS} steps brought them nothing")

    # --- a step -----------------------------------------------------------------------------

    def step(self) -> int:
        """Schedule a step, run it, and commit the oldest one in flight; returns its tokens."""
        batch = self.engine.schedule()
        if self.plane.watch is not None:
            self.plane.watch.number = self.engine.statistics().steps - 1
        self._begin(batch)
        self.plane.refresh(fresh_pages(self.engine.host.core))
        copies = batch.copies.tolist()
        self.plane.copy((source, target) for _, _, source, target in copies)
        self._results.append(self._run(batch))
        scheduled = int((batch.ends - batch.starts).sum())
        if len(self._results) >= self.engine.geometry.steps_in_flight or not scheduled:
            self._commit()
        return scheduled

    def _begin(self, batch: Batch) -> None:
        core = self.engine.host.core
        seed_block = int(core.fixed[f.F_SEED_BLOCK])
        rows = zip(batch.slots, batch.requests, batch.starts, batch.residencies, strict=True)
        for slot, number, start, residency in rows:
            served = self.requests[int(number)]
            if served.residency != residency:
                served.residency, served.done_tokens = int(residency), int(start)
                # What the device sampled in steps that the engine never learned of is gone.
                del served.tokens[int(core.request[slot, f.R_KNOWN]) :]
                served.hits.append(int(start))
                self.plane.begin(int(slot), int(start), seed_block)

    def _run(self, batch: Batch) -> list[_Result]:
        rows: list[Row] = []
        drafts: dict[int, list[int]] = {}
        numbers = batch.requests.tolist()
        for index, number in enumerate(numbers):
            row = self._row(batch, index, number, drafts)
            if row is not None:
                rows.append(row)
        results = {number: _Result([]) for number in numbers}
        if rows:
            step = pack(rows, self.plane.backend.device)
            self._choose(step, self.plane.forward(step), drafts, results, batch)
        return [results[number] for number in numbers]

    def _row(
        self, batch: Batch, index: int, number: int, drafts: dict[int, list[int]]
    ) -> Row | None:
        served = self.requests[number]
        start = served.done_tokens
        end = start + int(batch.ends[index] - batch.starts[index])
        is_decode = not batch.is_prefill[index]
        path: Sequence[int] = served.tokens[:end]
        if is_decode:
            if served.left_tokens <= 0:
                return None
            drafts[number] = self._drafter.propose(served.tokens, int(batch.drafts[index]))
            path = [*served.tokens, *drafts[number]]
        is_wanted = is_decode or bool(batch.is_sampling[index])
        return Row(
            request=number,
            slot=int(batch.slots[index]),
            path=path,
            start=start,
            planned_end=int(batch.ends[index]),
            checkpoint_tokens=int(batch.checkpoints_tokens[index]),
            is_decode=is_decode,
            tables=tuple(
                self.engine.table(number, group)
                for group in range(len(self.engine.geometry.groups))
            ),
            logits_from=start if self._on_logits or is_decode else end - int(is_wanted),
        )

    def _choose(
        self,
        step: Step,
        logits: Tensor,
        drafts: dict[int, list[int]],
        results: dict[int, _Result],
        batch: Batch,
    ) -> None:
        """Sample, say how many tokens count, and keep what was sampled."""
        sampling = dict(zip(batch.requests.tolist(), batch.is_sampling.tolist(), strict=True))
        dones: list[int] = []
        first = 0
        for row in step.rows:
            served = self.requests[row.request]
            own = logits[first : first + row.end - row.logits_from]
            first += row.end - row.logits_from
            done = row.end
            if row.is_decode:
                tokens = verify(
                    own,
                    drafts[row.request],
                    served.sampling,
                    row.start + 1,
                    served.left_tokens,
                )
                done = row.start + len(tokens)
            else:
                tokens = (
                    [choose(own[-1], served.sampling, row.end)] if sampling[row.request] else []
                )
            if self._on_logits is not None:
                for position in range(row.logits_from, done):
                    self._on_logits(row.request, position, own[position - row.logits_from])
            served.tokens += tokens
            served.done_tokens = done
            results[row.request] = _Result(tokens)
            dones.append(done)
        self.plane.settle(dones)

    def _commit(self) -> None:
        results = self._results.pop(0)
        tokens = [token for result in results for token in result.tokens]
        for number in self.engine.commit(tokens, [len(r.tokens) for r in results]):
            self._end(number)

    def _end(self, request: int) -> None:
        self.requests[request].is_finished = True
        if self.plane.watch is not None:
            self.plane.watch.ghosts.paths.forget(request)

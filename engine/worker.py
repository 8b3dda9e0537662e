"""The worker of a scenario: what the device does with the tables, in device order, as events.

It reads the engine's tables as kernels would, keeps its own place in every request (which runs
ahead of what the scheduler knows when steps are in flight), and decides the accepted drafts the
scenario prescribes. A prefill chunk leaves its state in the running column; a decode step leaves
the state after its j-th token j columns further, and saves a crossed boundary's state."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from truehit.engine import fields as f
from truehit.engine.host import Host
from truehit.engine.tracer import Tracer
from truehit.spec.scenario import Request
from truehit.spec.trace import Copy, CopyWhy, EngineError, Event, Read, Transfer, Write
from truehit.spec.units import running_column


@dataclass(slots=True)
class Place:
    """Where the device is in a request. `current`: column of the running state per group; absent:
    nothing consumed."""

    request: Request
    residency: int = -1
    tokens: int = 0
    generated: int = 0
    decodes: int = 0
    broken: bool = False
    current: dict[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Result:
    """Of one row: drafts, those accepted, tokens sampled after so many `generated` before, tokens
    done, whether it ran."""

    number: int
    drafts: int
    accepted: int
    generated: int
    sampled: int
    done: int
    ran: bool


@dataclass(frozen=True, slots=True)
class Job:
    """One row of a step as the device sees it. `end`: where the device ends (drafts counted);
    `planned_end`: where the scheduler thought it would."""

    slot: int
    name: str
    start: int
    end: int
    planned_end: int
    done: int
    checkpoint: int
    is_decode: bool


@dataclass(frozen=True, slots=True)
class PageCopy:
    """A copy-on-write copy."""

    source: int
    target: int


@dataclass(frozen=True, slots=True)
class Load:
    """Content of tokens [start, end) of a request comes from outside, into all groups."""

    slot: int
    number: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Work:
    """A row that runs, and its request's number."""

    number: int
    job: Job


class DataPlane(Protocol):
    """Who moves the bytes that the events speak of."""

    def begin(self, number: int, slot: int, start: int) -> None:
        """A residency starts at `start`."""

    def step(self, copies: Sequence[PageCopy], loads: Sequence[Load], work: Sequence[Work]) -> None:
        """One step, in this order."""


class Worker:
    """Runs the steps of one host. `places`: per request number. `plane`: moves bytes, if anybody
    does."""

    def __init__(self, host: Host, tracer: Tracer, plane: DataPlane | None = None) -> None:
        self._host = host
        self._tracer = tracer
        self._plane = plane
        self.places: list[Place] = []
        self._order = 0
        self._copies: list[PageCopy] = []
        self._loads: list[Load] = []
        self._work: list[Work] = []

    def begin(self, number: int, slot: int, start: int) -> None:
        """A residency starts at `start`."""
        if self._plane is not None:
            self._plane.begin(number, slot, start)

    def _say(self, event: Event) -> None:
        self._tracer.events.append(event)

    def _next(self) -> tuple[int, int]:
        self._order += 1
        return self._tracer.step, self._order

    def run(self, slice_: int, rows: int, failing: frozenset[str]) -> list[Result]:
        """One step on the device."""
        core, self._order = self._host.core, 0
        chunks = core.chunk[slice_, :rows].tolist()
        numbers = [int(core.request[chunk[f.C_SLOT], f.R_ORDER]) for chunk in chunks]
        for number in numbers:
            place = self.places[number]
            place.broken = place.broken or place.request.name in failing
        self._copies, self._loads, self._work = [], [], []
        self._copy_pages()
        results = [self._row(*pair) for pair in zip(numbers, chunks, strict=True)]
        if self._plane is not None:
            self._plane.step(self._copies, self._loads, self._work)
        return results

    def _copy_pages(self) -> None:
        """Copy-on-write copies run before everything else of the step."""
        core = self._host.core
        for slot, group, source, target in core.copy[: core.now[f.N_COPIES]].tolist():
            number = int(core.request[slot, f.R_ORDER])
            if not self.places[number].broken:
                name = self._tracer.names[number]
                self._copy(name, group, source, target, CopyWhy.COPY_ON_WRITE)
                self._copies.append(PageCopy(source, target))

    def _copy(self, name: str, group: int, source: int, target: int, why: CopyWhy) -> None:
        step, order = self._next()
        self._say(Copy(step, order, name, self._group(group), source, target, why))

    def _group(self, group: int) -> str:
        return self._host.geometry.groups[group].name

    def _row(self, number: int, chunk: list[int]) -> Result:
        place = self.places[number]
        slot, drafts = chunk[f.C_SLOT], chunk[f.C_DRAFTS]
        if place.broken:
            return Result(number, drafts, 0, place.generated, 0, place.tokens, False)
        if chunk[f.C_LOADED_TO]:
            self._load(slot, place, chunk[f.C_LOADED_FROM], chunk[f.C_LOADED_TO])
            self._loads.append(Load(slot, number, chunk[f.C_LOADED_FROM], chunk[f.C_LOADED_TO]))
        start = place.tokens
        end = start + chunk[f.C_END] - chunk[f.C_START]
        is_decode = not chunk[f.C_IS_PREFILL]
        accepted, sampled, done = 0, chunk[f.C_SAMPLING], end
        if is_decode:
            left = place.request.output_tokens - place.generated
            if left <= 0:
                return Result(number, drafts, 0, place.generated, 0, start, True)
            accepted = min(self._accepted(place, drafts), left - 1)
            sampled, done = 1 + accepted, start + 1 + accepted
            place.decodes += 1
        job = Job(
            slot,
            place.request.name,
            start,
            end,
            chunk[f.C_END],
            done,
            chunk[f.C_CHECKPOINT],
            is_decode,
        )
        for group, kind in enumerate(self._host.core.group[:, f.G_KIND].tolist()):
            if kind == f.STATE:
                self._run_state(job, place, group)
            elif kind != f.CIRCULAR:
                self._run_pages(job, group)
        self._work.append(Work(number, job))
        place.tokens = done
        place.generated += sampled
        before = place.generated - sampled
        return Result(number, drafts, accepted, before, sampled, done, True)

    def _accepted(self, place: Place, drafts: int) -> int:
        prescribed = place.request.accepted
        if not prescribed:
            return drafts
        return min(prescribed[min(place.decodes, len(prescribed) - 1)], drafts)

    def _columns(self, slot: int, group: int, first: int, last: int) -> tuple[int, ...]:
        """Blocks of columns [first, last)."""
        core = self._host.core
        at = int(core.table[slot, group, f.T_AT])
        return tuple(core.column[at + first : at + last].tolist())

    def _pages(self, slot: int, group: int, start: int, end: int) -> tuple[int, tuple[int, ...]]:
        block = self._host.geometry.groups[group].block_tokens
        first = start // block
        last = max(running_column(end, block), first) + 1
        length = int(self._host.core.table[slot, group, f.T_LENGTH])
        return first, self._columns(slot, group, first, min(last, length))

    def _load(self, slot: int, place: Place, start: int, end: int) -> None:
        """Content of tokens [start, end) arrives from outside, in every group."""
        core, name = self._host.core, place.request.name
        for group, kind in enumerate(core.group[:, f.G_KIND].tolist()):
            block = self._host.geometry.groups[group].block_tokens
            first = start
            if kind == f.CIRCULAR:
                continue
            if kind == f.STATE:
                first, column = 0, running_column(end, block)
                blocks = self._columns(slot, group, column, column + 1)
                place.current[group] = column
            else:
                if kind == f.WINDOW:
                    window = int(core.group[group, f.G_WINDOW])
                    first = max(start, max(0, end - window + 1) // block * block)
                column, blocks = self._pages(slot, group, first, end)
            step, order = self._next()
            self._say(Transfer(step, order, name, self._group(group), column, blocks, first, end))

    def _run_pages(self, job: Job, group: int) -> None:
        block, name = self._host.geometry.groups[group].block_tokens, self._group(group)
        if job.start:
            last = running_column(job.start, block)
            step, order = self._next()
            self._say(Read(step, order, job.name, name, last, 0, job.start))
        column, blocks = self._pages(job.slot, group, job.start, job.end)
        step, order = self._next()
        self._say(
            Write(
                step,
                order,
                job.name,
                name,
                column,
                blocks,
                job.start,
                job.done,
                rejected_tokens=job.end - job.done,
            )
        )

    def _source(self, job: Job, place: Place, group: int, target: int) -> int | None:
        """The block the chunk's state starts from, after the copy into the running column."""
        if group not in place.current:
            return None
        column = place.current[group]
        length = int(self._host.core.table[job.slot, group, f.T_LENGTH])
        source = self._columns(job.slot, group, column, column + 1)[0] if column < length else 0
        if column >= length:
            message = f"column {column} of a table of {length} columns"
            self._say(EngineError(self._tracer.step, message, job.name))
        step, order = self._next()
        self._say(Read(step, order, job.name, self._group(group), column, source, job.start))
        if column == target:
            return source
        (block,) = self._columns(job.slot, group, target, target + 1)
        self._copy(job.name, group, source, block, CopyWhy.PRE)
        return block

    def _run_state(self, job: Job, place: Place, group: int) -> None:
        block = self._host.geometry.groups[group].block_tokens
        target = running_column(job.planned_end, block)
        source = self._source(job, place, group, target)
        if job.checkpoint:
            column = running_column(job.end, block) - 1
            self._write(job, group, column, source, job.checkpoint, 0)
        if not job.is_decode:
            self._write(job, group, target, source, job.end, 0)
            place.current[group] = target
            return
        # From the far end back: kernels read the initial state once, so it is overwritten last.
        for ahead in range(job.end - job.start - 1, -1, -1):
            position = job.start + 1 + ahead
            real = min(position, job.done)
            self._write(job, group, target + ahead, source, real, position - real)
        place.current[group] = target + max(job.done - job.start - 1, 0)
        self._save_boundary(job, group, target, block)

    def _write(
        self, job: Job, group: int, column: int, source: int | None, end: int, rejected: int
    ) -> None:
        # Released splitters export from the first column too: the column before it is the last.
        length = int(self._host.core.table[job.slot, group, f.T_LENGTH])
        place = column if column >= 0 else length - 1
        blocks = self._columns(job.slot, group, place, place + 1)
        step, order = self._next()
        name = self._group(group)
        self._say(
            Write(step, order, job.name, name, column, blocks, job.start, end, source, rejected)
        )

    def _save_boundary(self, job: Job, group: int, target: int, block: int) -> None:
        boundary = job.done // block * block
        if boundary <= job.start:
            return
        source, own = target + boundary - job.start - 1, boundary // block - 1
        if source != own:
            (have,) = self._columns(job.slot, group, source, source + 1)
            (want,) = self._columns(job.slot, group, own, own + 1)
            self._copy(job.name, group, have, want, CopyWhy.BOUNDARY)

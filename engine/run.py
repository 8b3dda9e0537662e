"""Run a scenario on the engine: the same file in, the same trace out as the oracle's.

Tokens are real here: every stream of the scenario becomes a range of token ids of its own, and
prefixes are recognised by their digests."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from truehit.engine import entry
from truehit.engine import fields as f
from truehit.engine.host import Arrival, Host
from truehit.engine.memory import Int32, Int64
from truehit.engine.misses import Seen
from truehit.engine.moments import Moments
from truehit.engine.refusal import refusal_of
from truehit.engine.rules import RULES
from truehit.engine.tracer import Tracer
from truehit.engine.worker import DataPlane, Place, Result, Worker
from truehit.spec.scenario import (
    Abort,
    Fail,
    Moment,
    Preempt,
    Pressure,
    Request,
    ResetCache,
    Scenario,
)
from truehit.spec.scenario_file import geometry_to_json
from truehit.spec.trace import (
    Complete,
    End,
    EndWhy,
    Event,
    Header,
    Hold,
    Plane,
    Reset,
    Submit,
)

IDLE_STEPS = 64


@dataclass(frozen=True, slots=True)
class Run:
    """The trace of a scenario under a rule set."""

    scenario: Scenario
    rules: str
    events: tuple[Event, ...]
    steps: int


class UnknownRules(ValueError):
    """The scenario names a rule set that does not exist."""


def streams_of(scenario: Scenario) -> dict[str, tuple[int, int]]:
    """First token id and length of every stream that a request reads or generates."""
    lengths: dict[str, int] = {}
    for request in scenario.requests:
        for segment in request.segments:
            lengths[segment.name] = max(lengths.get(segment.name, 0), segment.tokens)
        output = request.output_name
        lengths[output] = max(lengths.get(output, 0), request.output_tokens)
    streams, first = {}, 0
    for name, length in lengths.items():
        streams[name] = (first, length)
        first += length
    return streams


PlaneOf = Callable[["Runner"], DataPlane]


class Runner:
    """Drives one engine through one scenario. `plane_of`: makes who moves the bytes; without it
    nobody does."""

    def __init__(self, scenario: Scenario, rules: str, plane_of: PlaneOf | None = None) -> None:
        if rules not in RULES:
            raise UnknownRules(f"rules: {rules!r} is not known; one of {', '.join(sorted(RULES))}")
        self.scenario = scenario
        self.host = Host(scenario.geometry, rules, scenario.policy, scenario.encoder_budget_tokens)
        self.tracer = Tracer(self.host)
        self.step = 0
        self._rules = rules
        self._streams = streams_of(scenario)
        plane = None if plane_of is None else plane_of(self)
        self.worker = Worker(self.host, self.tracer, plane)
        self._numbers: dict[str, int] = {}
        self._moments = Moments(list(scenario.requests))
        self._pressed: list[tuple[int, Int32]] = []
        self._results: list[list[Result]] = []
        self._noted = 0

    # --- the loop ---------------------------------------------------------------------------

    def run(self) -> Run:
        """Until every request has ended, or nothing moves, or `max_steps`."""
        scenario, idle = self.scenario, 0
        self.tracer.events.append(
            Header(
                engine="engine",
                rules=self._rules,
                geometry=geometry_to_json(scenario.geometry),
                planes=tuple(Plane),
                scenario=scenario.name,
            )
        )
        while self.step < scenario.max_steps and idle < IDLE_STEPS:
            self._act()
            self._arrive()
            if not (self._moments.pending or self.host.slots or self._has_actions_left()):
                break
            scheduled = self._step()
            self._note_moments()
            in_flight = any(rows for _, rows in self.host.in_flight)
            busy = scheduled or in_flight or self._is_due_later()
            idle = 0 if busy else idle + 1
            self.step += 1
        return Run(scenario, self._rules, tuple(self.tracer.events), self.step)

    def _step(self) -> int:
        """Schedule, run, learn; returns the tokens scheduled."""
        scenario, host, step = self.scenario, self.host, self.step
        budget = scenario.geometry.budget_tokens
        if step < len(scenario.budgets):
            budget = scenario.budgets[step]
        failing = frozenset(
            a.request for a in scenario.actions if isinstance(a, Fail) and a.step == step
        )
        self.tracer.in_step(True)
        slice_ = host.schedule(budget)
        rows = int(host.core.now[f.N_CHUNKS])
        chunks = host.core.chunk[slice_, :rows].copy()
        self._begin_residencies(chunks)
        self._results.append(self.worker.run(slice_, rows, failing))
        self._complete()
        self.tracer.in_step(False)
        return int((chunks[:, f.C_END] - chunks[:, f.C_START]).sum())

    def _begin_residencies(self, chunks: Int64) -> None:
        """Requests that were admitted in this step start where their hit ends."""
        core = self.host.core
        for chunk in chunks.tolist():
            slot, start = chunk[f.C_SLOT], chunk[f.C_START]
            place = self.worker.places[int(core.request[slot, f.R_ORDER])]
            if place.residency != chunk[f.C_RESIDENCY]:
                generated = int(core.request[slot, f.R_KNOWN] - core.request[slot, f.R_PROMPT])
                column = (start - 1) // int(core.fixed[f.F_SEED_BLOCK])
                states = np.flatnonzero(core.group[:, f.G_KIND] == f.STATE).tolist()
                place.residency = chunk[f.C_RESIDENCY]
                place.tokens, place.generated, place.broken = start, generated, False
                place.current = dict.fromkeys(states, column) if start else {}
                self.worker.begin(int(core.request[slot, f.R_ORDER]), slot, start)

    def _complete(self) -> None:
        """Learn the results of the step that is known complete, if there is one."""
        host, depth = self.host, self.scenario.geometry.steps_in_flight
        accepted: list[tuple[str, int]] = []
        failed: list[str] = []
        if len(host.in_flight) >= depth:
            results = self._results.pop(0)
            for result, status in zip(results, self._commit(results), strict=True):
                name = self.tracer.names[result.number]
                if status == f.FAILED:
                    failed.append(name)
                elif status != f.SKIPPED:
                    self.tracer.misses.progressed(result.number, result.done)
                    if result.drafts:
                        accepted.append((name, result.accepted))
        else:
            host.close_step()
        of, now = self.step - depth + 1, host.core.now
        free, keyed = int(now[f.N_FREE]), int(now[f.N_KEYED_FREE])
        self.tracer.events.append(
            Complete(
                self.step,
                of if of >= 0 else None,
                tuple(accepted),
                tuple(failed),
                self.scenario.geometry.pool_blocks - 1 - free,
                keyed,
                free - keyed,
            )
        )

    def _commit(self, results: list[Result]) -> list[int]:
        """What became of each row; the sampled tokens are those of the request's own stream."""
        tokens: list[int] = []
        for result in results:
            first, _ = self._streams[self.worker.places[result.number].request.output_name]
            tokens += range(first + result.generated, first + result.generated + result.sampled)
        status = self.host.commit(
            np.array([result.sampled for result in results], np.int64),
            np.array([result.ran for result in results], np.uint8),
            np.array(tokens, np.int32),
        )
        return [int(word) for word in status]

    # --- what the scenario does -------------------------------------------------------------

    def _act(self) -> None:
        step, host, events = self.step, self.host, self.tracer.events
        for _, blocks in [pressed for pressed in self._pressed if pressed[0] <= step]:
            events.append(Hold(step, "", tuple(blocks.tolist()), "pressure", False))
            entry.release(host.handle, blocks)
        self._pressed = [pressed for pressed in self._pressed if pressed[0] > step]
        for action in self.scenario.actions:
            if action.step != step:
                continue
            match action:
                case Abort(_, name):
                    if name in self._numbers and name not in self._moments.ended:
                        host.end(self._numbers[name], f.END_ABORT)
                        self._moments.ended.add(name)
                    kept = [r for r in self._moments.pending if r.name != name]
                    self._moments.pending = kept
                case Preempt(_, name):
                    if self._is_running(name):
                        host.end(self._numbers[name], f.END_PREEMPT)
                case ResetCache():
                    host.reset()
                    events.append(Reset(step))
                case Pressure(_, count, for_steps):
                    self._press(min(count, int(host.core.now[f.N_FREE])), for_steps)
                case Fail():
                    pass

    def _is_running(self, name: str) -> bool:
        slot = self.host.slots.get(self._numbers.get(name, -1))
        return slot is not None and self.host.core.request[slot, f.R_STATUS] == f.RUNNING

    def _press(self, count: int, for_steps: int) -> None:
        blocks = np.zeros(count, np.int32)
        self.tracer.make_room()
        entry.take_into(self.host.handle, blocks, count)
        self.tracer.drain()
        held = Hold(self.step, "", tuple(blocks.tolist()), "pressure", True)
        self.tracer.events.append(held)
        self._pressed.append((self.step + for_steps, blocks))

    def _arrive(self) -> None:
        for request in list(self._moments.pending):
            if self._moments.is_due(request, self.step):
                self._moments.pending.remove(request)
                self._submit(request)

    def _submit(self, request: Request) -> None:
        step, geometry = self.step, self.scenario.geometry
        self.tracer.events.append(
            Submit(
                step,
                request.name,
                request.segments,
                request.output_name,
                request.output_tokens,
                request.salt,
                request.priority,
            )
        )
        self._moments.came.add(request.name)
        self._moments.note(request.name, Moment.SUBMITTED, step)
        items = tuple((item.at, item.tokens) for item in request.encoder_items)
        message = refusal_of(
            geometry,
            request.total_tokens,
            max((tokens for _, tokens in items), default=0),
            self.scenario.encoder_budget_tokens,
        )
        if message is not None:
            self.tracer.events.append(End(step, request.name, EndWhy.REFUSED, message))
            self._moments.ended.add(request.name)
            self._moments.note(request.name, Moment.FINISHED, step)
            return
        path = self.tokens(request)
        number = self.host.submit(
            Arrival(
                tokens=path[: request.prompt_tokens],
                output_tokens=request.output_tokens,
                salt=request.salt,
                priority=request.priority,
                external_tokens=request.external_tokens,
                shares=request.shares,
                items=items,
            )
        )
        self._numbers[request.name] = number
        self.tracer.names.append(request.name)
        self.tracer.misses.seen.append(Seen(number, request.salt, path))
        self.worker.places.append(Place(request))

    def tokens(self, request: Request) -> Int32:
        """Prompt and output as token ids."""
        parts = [(segment.name, segment.tokens) for segment in request.segments]
        parts.append((request.output_name, request.output_tokens))
        firsts = [(self._streams[name][0], tokens) for name, tokens in parts]
        ranges = [np.arange(first, first + tokens, dtype=np.int32) for first, tokens in firsts]
        return np.concatenate(ranges)

    # --- what is still to come --------------------------------------------------------------

    def _has_actions_left(self) -> bool:
        return any(action.step >= self.step for action in self.scenario.actions)

    def _is_due_later(self) -> bool:
        """Something is still to come at a fixed step."""
        return (
            any(self._moments.comes_later(r, self.step) for r in self._moments.pending)
            or any(action.step > self.step for action in self.scenario.actions)
            or bool(self._pressed)
            or self.step + 1 < len(self.scenario.budgets)
        )

    def _note_moments(self) -> None:
        self._moments.note_all(self.tracer.events[self._noted :], self.step)
        self._noted = len(self.tracer.events)
        core = self.host.core
        for number, slot in self.host.slots.items():
            if core.request[slot, f.R_KNOWN] > core.request[slot, f.R_PROMPT]:
                self._moments.note(self.tracer.names[number], Moment.PREFILLED, self.step)


def run(scenario: Scenario, rules: str | None = None) -> Run:
    """Run a scenario under a named rule set (default: the one it names)."""
    return Runner(scenario, rules or scenario.rules).run()

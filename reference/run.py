"""Run a scenario on the oracle: arrivals and actions, step by step, until nothing is left to do."""

from dataclasses import dataclass

from truehit.reference.live import Live
from truehit.reference.ruleset import RULE_SETS, RuleSet
from truehit.reference.scheduler import Engine
from truehit.spec.scenario import (
    Abort,
    After,
    AtStep,
    Fail,
    Moment,
    Preempt,
    Pressure,
    Request,
    ResetCache,
    Scenario,
)
from truehit.spec.scenario_file import geometry_to_json
from truehit.spec.tokens import Segment, TokenTree
from truehit.spec.trace import EndWhy, Event, Header, Hold, Plane, Submit, Unpublish, UnpublishWhy

IDLE_STEPS = 64


@dataclass(frozen=True, slots=True)
class Served:
    """What became of one request. `hit` None: never admitted. `ended` None: still open."""

    name: str
    send: int
    carve: tuple[int, ...]
    hit: int | None
    stored: tuple[int, ...]
    reason: str | None
    ended: str | None


@dataclass(frozen=True, slots=True)
class Run:
    """The trace of a scenario and what became of its requests, in order of submission."""

    scenario: Scenario
    rules: RuleSet
    events: tuple[Event, ...]
    served: tuple[Served, ...]
    steps: int


class UnknownRules(ValueError):
    """The scenario names a rule set that does not exist."""


class Runner:
    """Drives one engine through one scenario."""

    def __init__(self, scenario: Scenario, rules: RuleSet) -> None:
        self.scenario = scenario
        self.engine = Engine(
            scenario.geometry, rules, scenario.policy, scenario.encoder_budget_tokens
        )
        self._tree = TokenTree()
        self._lives: dict[str, Live] = {}
        self._pending = list(scenario.requests)
        self._moments: dict[tuple[str, Moment], int] = {}
        self._pressed: list[tuple[int, list[int]]] = []
        recorder = self.engine.recorder
        recorder.emit(
            Header(
                engine="reference",
                rules=rules.name,
                geometry=geometry_to_json(scenario.geometry),
                planes=tuple(Plane),
                scenario=scenario.name,
            )
        )

    def run(self) -> Run:
        """Until every request has ended, or nothing moves, or `max_steps`."""
        scenario, engine = self.scenario, self.engine
        idle = 0
        while engine.recorder.step < scenario.max_steps and idle < IDLE_STEPS:
            step = engine.recorder.step
            self._act(step)
            self._arrive(step)
            if not (self._pending or engine.waiting or engine.running or self._actions_after(step)):
                break
            budget = scenario.geometry.budget_tokens
            if step < len(scenario.budgets):
                budget = scenario.budgets[step]
            failing = frozenset(
                a.request for a in scenario.actions if isinstance(a, Fail) and a.step == step
            )
            scheduled = engine.step(budget, failing)
            self._note_moments(step)
            busy = scheduled or engine.in_flight_work() or self._due_after(step)
            idle = 0 if busy else idle + 1
        served = tuple(self._served(live) for live in self._lives.values())
        return Run(
            scenario, engine.rules, tuple(engine.recorder.events), served, engine.recorder.step
        )

    def _actions_after(self, step: int) -> bool:
        return any(action.step >= step for action in self.scenario.actions)

    def _due_after(self, step: int) -> bool:
        """Something is still to come at a fixed step."""
        return (
            any(self._comes_later(request, step) for request in self._pending)
            or any(action.step > step for action in self.scenario.actions)
            or bool(self._pressed)
            or step + 1 < len(self.scenario.budgets)
        )

    def _comes_later(self, request: Request, step: int) -> bool:
        """The step of the arrival is fixed and still to come."""
        match request.arrival:
            case AtStep(at):
                return at > step
            case After(name, moment, delay):
                seen = self._moments.get((name, moment))
                return seen is not None and seen + delay >= step

    def _act(self, step: int) -> None:
        engine = self.engine
        for due, blocks in [entry for entry in self._pressed if entry[0] <= step]:
            engine.recorder.emit(Hold(step, "", tuple(blocks), "pressure", False))
            engine.pool.release(blocks)
            self._pressed.remove((due, blocks))
        for action in self.scenario.actions:
            if action.step != step:
                continue
            match action:
                case Abort(_, name):
                    live = self._lives.get(name)
                    if live is not None and live.ended is None:
                        engine.end(live, EndWhy.ABORT)
                    self._pending = [r for r in self._pending if r.name != name]
                case Preempt(_, name):
                    live = self._lives.get(name)
                    if live is not None and live in engine.running:
                        engine.end(live, EndWhy.PREEMPT)
                case ResetCache():
                    engine.reset()
                case Pressure(_, count, for_steps):
                    self._press(step, min(count, engine.pool.free_count), for_steps)
                case Fail():
                    pass

    def _press(self, step: int, count: int, for_steps: int) -> None:
        taken, evicted = self.engine.pool.take(count)
        recorder = self.engine.recorder
        if evicted:
            recorder.emit(Unpublish(step, "", tuple(evicted), UnpublishWhy.EVICTED))
        recorder.emit(Hold(step, "", tuple(taken), "pressure", True))
        self._pressed.append((step + for_steps, taken))

    def _arrive(self, step: int) -> None:
        for request in list(self._pending):
            if not self._is_due(request, step):
                continue
            self._pending.remove(request)
            output = Segment(request.output_name, request.output_tokens)
            path = self._tree.path((*request.segments, output), request.salt)
            live = Live(request, len(self._lives), path, known=request.prompt_tokens)
            self._lives[request.name] = live
            self.engine.recorder.emit(
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
            self.engine.reasons.remember(live)
            self.engine.submit(live)
            self._moments[(request.name, Moment.SUBMITTED)] = step
            if live.ended is not None:
                self._moments[(request.name, Moment.FINISHED)] = step

    def _is_due(self, request: Request, step: int) -> bool:
        match request.arrival:
            case AtStep(at):
                return at <= step
            case After(name, moment, delay):
                seen = self._moments.get((name, moment))
                if seen is None and not self._can_come(name):
                    return True
                return seen is not None and seen + delay < step

    def _can_come(self, name: str) -> bool:
        """The awaited moment may still come: the other request has not ended without it."""
        live = self._lives.get(name)
        if live is None:
            return any(request.name == name for request in self._pending)
        return live.ended is None

    def _note_moments(self, step: int) -> None:
        for name, live in self._lives.items():
            for moment, seen in (
                (Moment.SCHEDULED, bool(live.carve)),
                (Moment.PREFILLED, live.known > live.prompt),
                (Moment.FINISHED, live.ended is not None),
            ):
                if seen:
                    self._moments.setdefault((name, moment), step)

    def _served(self, live: Live) -> Served:
        same = [
            other
            for other in self._lives.values()
            if other.request.segments == live.request.segments
            and other.request.salt == live.request.salt
        ]
        return Served(
            name=live.name,
            send=same.index(live) + 1,
            carve=tuple(live.carve),
            hit=live.hit,
            stored=tuple(live.stored),
            reason=live.reason,
            ended=live.ended,
        )


def rules_named(name: str) -> RuleSet:
    """The rule set of this name; UnknownRules names the nearest ones."""
    if name not in RULE_SETS:
        raise UnknownRules(f"rules: {name!r} is not known; one of {', '.join(sorted(RULE_SETS))}")
    return RULE_SETS[name]


def run(scenario: Scenario, rules: RuleSet | None = None) -> Run:
    """Run a scenario under a rule set (default: the one it names)."""
    return Runner(scenario, rules or rules_named(scenario.rules)).run()

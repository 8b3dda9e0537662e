"""progress: who is offered a token is scheduled one, and nobody is forgotten.

F(geometry), the patience of this checker, is max_model_tokens + 2 * steps in flight: the longest
that one older request can run, one token a step. It counts only steps that left budget unused, and
starts again whenever somebody else ends.

*verified*: a schedule with offered tokens >= 1 and an empty chunk breaks the law, unless pool,
encoder or lookahead cut it and the reason is stated. Idle steps (somebody is live, tokens are
offered or nobody is even asked, nothing runs, no other party holds blocks) do not follow each other
more often than deferral and steps in flight explain. A live request is not passed over for
F(geometry) steps with budget left.

*not verified*: that a finite run finishes later (a trace that ends is *open*, its live requests are
listed); how many older arrivals are too many; budgets by decree, which a trace shows only as
offers.
"""

from collections import OrderedDict
from collections.abc import Mapping
from typing import ClassVar

from truehit.spec.geometry import Geometry
from truehit.spec.laws.base import Handler, Law, Report, Subscription, ViolationClass
from truehit.spec.ledger import Ledger
from truehit.spec.predicates.split import progresses
from truehit.spec.trace import Complete, Cut, End, EndWhy, Plane, Schedule, Submit

_EXCUSED = frozenset({Cut.POOL, Cut.ENCODER, Cut.LOOKAHEAD})


def patience_steps(geometry: Geometry) -> int:
    """F(geometry): after so many steps with budget left somebody who waits has been forgotten."""
    return geometry.max_model_tokens + 2 * geometry.steps_in_flight


def idle_limit_steps(geometry: Geometry) -> int:
    """Steps in a row that may run nothing: results in flight, then one deferral of as many."""
    return 2 * geometry.steps_in_flight + 1


def _is_excused(event: Schedule) -> bool:
    """Pool, encoder and lookahead may leave a chunk empty if they say why."""
    return event.cut in _EXCUSED and bool(event.reason)


class Progress(Law):
    name: ClassVar[str] = "progress"
    sentence: ClassVar[str] = (
        "a request that is offered at least one token is scheduled at least one; with a positive "
        "budget in every step it finishes within F(geometry) steps"
    )
    planes: ClassVar[frozenset[Plane]] = frozenset({Plane.SCHEDULE})

    def __init__(self, ledger: Ledger, report: Report) -> None:
        super().__init__(ledger, report)
        geometry = ledger.geometry
        self._patience = patience_steps(geometry)
        self._idle_limit = idle_limit_steps(geometry)
        self._budget = geometry.budget_tokens
        self._last_run: OrderedDict[str, int] = OrderedDict()
        """Live request -> count of steps with budget left when it last ran, longest ago first."""
        self._spare_steps = 0
        self._moved_at = 0
        self._idle = 0
        self._scheduled = 0
        self._asked = 0
        self._offered = 0

    def handlers(self) -> Mapping[Subscription, Handler]:
        return {
            Submit: self.on_submit,
            Schedule: self.on_schedule,
            End: self.on_end,
            Complete: self.on_complete,
        }

    def on_submit(self, event: Submit) -> None:
        self._last_run[event.request] = self._spare_steps

    def on_schedule(self, event: Schedule) -> None:
        self._asked += 1
        self._offered += event.offered_tokens
        if progresses(event.start, event.end):
            self._scheduled += event.end - event.start
            self._last_run[event.request] = self._spare_steps
            self._last_run.move_to_end(event.request)
        elif event.offered_tokens >= 1 and not _is_excused(event):
            self.say(
                ViolationClass.STALL,
                event.step,
                event.request,
                f"request {event.request}: is offered {event.offered_tokens} tokens at "
                f"{event.start} and "
                f"scheduled none (cut: {event.cut}, step {event.step})",
            )

    def on_end(self, event: End) -> None:
        self._moved_at = self._spare_steps
        if event.why == EndWhy.PREEMPT:
            self._last_run[event.request] = self._spare_steps
            self._last_run.move_to_end(event.request)
        else:
            self._last_run.pop(event.request, None)

    def on_complete(self, event: Complete) -> None:
        if self._last_run:
            if self._scheduled:
                self._idle = 0
            elif self._offered or not self._asked:
                self._count_idle(event)
            if self._scheduled < self._budget:
                self._spare_steps += 1
                self._judge_oldest(event)
        else:
            self._idle = 0
        self._scheduled = self._asked = self._offered = 0

    def _count_idle(self, event: Complete) -> None:
        if self.ledger.pool.held_outside:
            return
        self._idle += 1
        if self._idle == self._idle_limit + 1:
            name = next(iter(self._last_run))
            self.say(
                ViolationClass.STALL,
                event.step,
                name,
                f"request {name}: is live and nothing has run for {self._idle} steps "
                f"(step {event.step})",
            )

    def _judge_oldest(self, event: Complete) -> None:
        name, ran = next(iter(self._last_run.items()))
        waited = self._spare_steps - max(ran, self._moved_at)
        if waited == self._patience + 1:
            self.say(
                ViolationClass.STALL,
                event.step,
                name,
                f"request {name}: was passed over in {waited} steps with budget left "
                f"(step {event.step})",
            )

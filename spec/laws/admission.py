"""admission: the estimate equals the blocks taken; reservations fit; what can never fit is refused.

The estimate of a request in a step counts, over all groups, the blocks that leave the free pool for
it: every placed block, every fresh block of a copy-on-write, and every adopted block that nobody
held.

*verified*: in every step, the last estimate of each request that is scheduled a token equals the
blocks taken after it; a request that is scheduled none takes none. With full-sequence reservation,
at the end of every step in which somebody was admitted: what the running requests may still take
(the most for their whole length, less what they hold) fits what no table holds. A request
whose pages and states can never fit is refused, and every refusal names a number that would work.

*not verified*: blocks that other parties hold (pressure, transfers), which no admission can
foresee; the engine's own reasons for refusing beyond pool and maximum length.
"""

import re
from collections.abc import Mapping
from typing import ClassVar

from truehit.spec.geometry import Geometry, Kind
from truehit.spec.laws.base import Handler, Law, Report, Subscription, ViolationClass
from truehit.spec.ledger import Ledger
from truehit.spec.predicates.admit import promises_kept
from truehit.spec.trace import Complete, End, EndWhy, Plane, Schedule, Submit, Table, TableOp
from truehit.spec.units import ceil_div


def fewest_blocks(geometry: Geometry, total_tokens: int) -> int:
    """No engine can run a request of this length with fewer blocks: all its attention pages, one
    block a circular buffer, one state and its scratch a state group. A window holds at least its
    own pages."""
    fewest = 0
    for group in geometry.groups:
        match group.kind:
            case Kind.FULL_ATTENTION:
                fewest += ceil_div(max(total_tokens - 1, 1), group.block_tokens)
            case Kind.SLIDING_WINDOW:
                seen = min(total_tokens - 1, group.window_tokens or total_tokens)
                fewest += ceil_div(max(seen, 1), group.block_tokens)
            case Kind.CIRCULAR_BUFFER:
                fewest += 1
            case Kind.RECURRENT_STATE:
                fewest += 1 + geometry.drafts
    return fewest


class Admission(Law):
    name: ClassVar[str] = "admission"
    sentence: ClassVar[str] = (
        "the estimate equals the blocks taken, in every step; reservations of admitted requests "
        "fit the pool; what can never fit is refused with the number that would"
    )
    planes: ClassVar[frozenset[Plane]] = frozenset({Plane.SCHEDULE, Plane.TABLE, Plane.ESTIMATE})

    def __init__(self, ledger: Ledger, report: Report) -> None:
        super().__init__(ledger, report)
        self._estimates: dict[str, tuple[int, int]] = {}
        """Request -> (the estimate, blocks it had taken in this step before)."""
        self._running: dict[str, int] = {}
        """Request -> the most blocks it may hold."""
        self._admitted = False
        self._refusable: dict[str, int] = {}
        """Live requests that can never fit -> the fewest blocks they need."""

    def handlers(self) -> Mapping[Subscription, Handler]:
        return {
            Submit: self.on_submit,
            Schedule: self.on_schedule,
            TableOp.ESTIMATE: self.on_estimate,
            End: self.on_end,
            Complete: self.on_complete,
        }

    def on_submit(self, event: Submit) -> None:
        needed = fewest_blocks(self.ledger.geometry, event.prompt_tokens + event.output_tokens)
        if needed > self.ledger.pool.blocks - 1:
            self._refusable[event.request] = needed

    def on_schedule(self, event: Schedule) -> None:
        if event.end > event.start and event.request not in self._running:
            total = self.ledger.requests[event.request].total_tokens
            self._running[event.request] = self.ledger.geometry.request_blocks(total)
            self._admitted = True

    def on_estimate(self, event: Table) -> None:
        taken = self.ledger.taken.get(event.request, 0)
        self._estimates[event.request] = (event.count, taken)

    def on_end(self, event: End) -> None:
        if event.request in self._estimates:
            self._compare(event.step, event.request)
            del self._estimates[event.request]
        self._running.pop(event.request, None)
        if event.why == EndWhy.REFUSED:
            self._judge_refusal(event)
        elif event.why != EndWhy.PREEMPT:
            self._refusable.pop(event.request, None)

    def on_complete(self, event: Complete) -> None:
        for request in self._estimates:
            self._compare(event.step, request)
        self._estimates.clear()
        if self._admitted:
            self._admitted = False
            if self.ledger.geometry.reserve_full_sequence:
                self._judge_reservations(event)

    def finish(self) -> None:
        for request, needed in self._refusable.items():
            self.say(
                ViolationClass.STALL,
                self.ledger.last_step,
                request,
                f"request {request}: needs {needed} blocks, the pool has "
                f"{self.ledger.pool.blocks - 1}, and it is not refused; "
                f"pool_blocks {needed + 1} would do",
            )

    def _compare(self, step: int, name: str) -> None:
        request = self.ledger.requests.get(name)
        estimate, before = self._estimates[name]
        taken = self.ledger.taken.get(name, 0) - before
        chunk = request.chunk if request is not None else None
        scheduled = chunk is not None and chunk.step == step and chunk.end > chunk.start
        if taken != estimate and (scheduled or taken):
            self.say(
                ViolationClass.STALL if taken > estimate else ViolationClass.WASTE,
                step,
                name,
                f"request {name}: the estimate is {estimate} blocks but {taken} are taken "
                f"(step {step})",
            )

    def _judge_reservations(self, event: Complete) -> None:
        requests, pool = self.ledger.requests, self.ledger.pool
        owed = 0
        for name, most in self._running.items():
            owed += max(0, most - requests[name].held)
        outside = sum(1 for b in pool.held_outside if pool.readers(b) == 0)
        free = pool.blocks - 1 - pool.referenced + outside
        if not promises_kept(free, owed):
            newest = next(reversed(self._running))
            self.say(
                ViolationClass.STALL,
                event.step,
                newest,
                f"request {newest}: reservations of {len(self._running)} running requests may "
                f"still take {owed} blocks but {free} are free (step {event.step}); pool_blocks "
                f"{pool.blocks + owed - free} would do",
            )

    def _judge_refusal(self, event: End) -> None:
        numbers = [int(text) for text in re.findall(r"\d+", event.message)]
        needed = self._refusable.pop(event.request, None)
        if needed is not None and not any(number > needed for number in numbers):
            self._say_refusal(event, f"without the number that would fit: pool_blocks {needed + 1}")
        elif not numbers:
            self._say_refusal(event, "without a number that would work")

    def _say_refusal(self, event: End, why: str) -> None:
        sentence = f"request {event.request}: is refused {why} (step {event.step})"
        self.say(ViolationClass.POLICY, event.step, event.request, sentence)

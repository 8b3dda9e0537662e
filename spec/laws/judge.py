"""The judge reads a trace once: the ledger books each event, then every law that subscribed looks
at it.

A law whose planes the header does not list is not asked: it is *not observed*, which is never
green.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from truehit.spec.geometry import Geometry
from truehit.spec.geometry_file import geometry_from_json
from truehit.spec.laws import LAWS
from truehit.spec.laws.base import Handler, Report, Violation, ViolationClass
from truehit.spec.ledger import Ledger, LedgerError
from truehit.spec.trace import Complete, Event, Header, Plane, Table, TableOp


@dataclass(frozen=True, slots=True)
class NotObserved:
    """A law that was not asked, and the planes that the trace lacks."""

    law: str
    missing: tuple[Plane, ...]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the laws say of a whole trace. `suppressed`: violations beyond the limit a law, only
    counted. `open_requests`: submitted and not ended when the trace ended."""

    violations: tuple[Violation, ...]
    not_observed: tuple[NotObserved, ...]
    open_requests: tuple[str, ...]
    events: int
    suppressed: int = 0

    def of_law(self, name: str) -> tuple[Violation, ...]:
        return tuple(v for v in self.violations if v.law == name)

    def of_class(self, *classes: ViolationClass) -> tuple[Violation, ...]:
        return tuple(v for v in self.violations if v.violation_class in classes)


class Judge:
    """Feed it every event after the header, in order; `finish` gives the verdict."""

    __slots__ = ("_events", "_laws", "_not_observed", "_on", "_on_table", "_report", "ledger")

    def __init__(self, geometry: Geometry, header: Header) -> None:
        self.ledger = Ledger(geometry)
        self._report = Report()
        self._events = 0
        planes = {Plane(plane) for plane in header.planes}
        self._not_observed = tuple(
            NotObserved(law.name, tuple(sorted(law.planes - planes)))
            for law in LAWS
            if law.planes - planes
        )
        self._laws = [law(self.ledger, self._report) for law in LAWS if law.planes <= planes]
        self._on, self._on_table = self._dispatch()

    def _dispatch(self) -> tuple[dict[type, tuple[Handler, ...]], dict[str, tuple[Handler, ...]]]:
        """Event class -> handlers, and op of a table event -> handlers; the ledger comes first."""
        by_kind: dict[type, list[Handler]] = {
            kind: [handler] for kind, handler in self.ledger.handlers().items()
        }
        by_op: dict[str, list[Handler]] = {
            op: [handler] for op, handler in self.ledger.table_handlers().items()
        }
        for law in self._laws:
            for subscription, handler in law.handlers().items():
                if isinstance(subscription, type):
                    by_kind.setdefault(subscription, []).append(handler)
                else:
                    by_op.setdefault(subscription, []).append(handler)
        by_kind[Complete].append(self.ledger.close_step)
        return (
            {kind: tuple(handlers) for kind, handlers in by_kind.items()},
            {op: tuple(by_op.get(op, ())) for op in TableOp},
        )

    def feed(self, event: Event) -> None:
        """One event; LedgerError if it speaks of something that does not exist."""
        self._events += 1
        try:
            if type(event) is Table:
                for handler in self._on_table[event.op]:
                    handler(event)
            else:
                for handler in self._on.get(type(event), ()):
                    handler(event)
        except IndexError as error:
            raise LedgerError(
                f"step {event.step}: a {event.kind} event names a block beyond the pool of "
                f"{self.ledger.pool.blocks}, or a position beyond its request"
            ) from error

    def finish(self) -> Verdict:
        """The trace has ended; its last step may be open."""
        for law in self._laws:
            law.finish()
        return Verdict(
            violations=tuple(self._report.violations),
            not_observed=self._not_observed,
            open_requests=tuple(r.name for r in self.ledger.requests.values() if r.live),
            events=self._events,
            suppressed=self._report.suppressed,
        )


def check_trace(events: Iterable[Event]) -> Verdict:
    """Judge a whole trace, header first."""
    stream = iter(events)
    header = next(stream, None)
    if not isinstance(header, Header):
        raise LedgerError("step 0: the trace does not begin with a header; one header works")
    judge = Judge(geometry_from_json(header.geometry), header)
    for event in stream:
        judge.feed(event)
    return judge.finish()

"""When requests of a scenario arrive: at a step, or after a moment of another request."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from truehit.spec.scenario import After, AtStep, Moment, Request
from truehit.spec.trace import End, EndWhy, Event, Schedule


@dataclass(slots=True)
class Moments:
    """What has happened to which request, and what is still to arrive. `came`: submitted; `ended`:
    finished, aborted or refused."""

    pending: list[Request]
    came: set[str] = field(default_factory=set)
    ended: set[str] = field(default_factory=set)
    _first: dict[tuple[str, Moment], int] = field(default_factory=dict)

    def note(self, name: str, moment: Moment, step: int) -> None:
        """The moment was reached; only the first time counts."""
        self._first.setdefault((name, moment), step)

    def note_all(self, events: Iterable[Event], step: int) -> None:
        """What the events of a step say."""
        for event in events:
            match event:
                case Schedule(request=name) if event.start < event.end:
                    self.note(name, Moment.SCHEDULED, step)
                case End(request=name, why=EndWhy.FINISH):
                    self.ended.add(name)
                    self.note(name, Moment.PREFILLED, step)
                    self.note(name, Moment.FINISHED, step)
                case End(request=name, why=EndWhy.ABORT):
                    self.note(name, Moment.FINISHED, step)
                case _:
                    pass

    def comes_later(self, request: Request, step: int) -> bool:
        """The step of the arrival is fixed and still to come."""
        match request.arrival:
            case AtStep(at):
                return at > step
            case After(name, moment, delay):
                seen = self._first.get((name, moment))
                return seen is not None and seen + delay >= step

    def is_due(self, request: Request, step: int) -> bool:
        """The request arrives in this step."""
        match request.arrival:
            case AtStep(at):
                return at <= step
            case After(name, moment, delay):
                seen = self._first.get((name, moment))
                if seen is None:
                    return not self._can_come(name)
                return seen + delay < step

    def _can_come(self, name: str) -> bool:
        """The request that is waited for is still to arrive or has not ended."""
        if name not in self.came:
            return any(request.name == name for request in self.pending)
        return name not in self.ended

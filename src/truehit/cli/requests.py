"""What became of each request, read off a trace: send, carve, hit, stored states, reason."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from truehit.spec.geometry_file import geometry_from_json
from truehit.spec.tokens import Segment
from truehit.spec.trace import End, EndWhy, Event, Header, Lookup, Publish, Schedule, Submit


@dataclass(slots=True)
class RequestRow:
    """`hit` None: never admitted. `ended` None: still open at the end of the trace; `message`
    says why a request was refused."""

    name: str
    send: int
    prompt_tokens: int
    carve: list[int] = field(default_factory=list)
    hit: int | None = None
    stored: list[int] = field(default_factory=list)
    reason: str | None = None
    lookup: Lookup | None = None
    ended: str | None = None
    message: str = ""

    def to_json(self) -> dict[str, Any]:
        """The published form, the same in `run`, `check` and `predict`."""
        return {
            "name": self.name,
            "send": self.send,
            "carve": self.carve,
            "hit": self.hit,
            "stored": self.stored,
            "reason": self.reason,
        }


def reason_text(event: Lookup) -> str | None:
    """The reason with the group that vetoed beside it: `vetoed_by(attention)`."""
    if event.reason is None or event.vetoed_by is None:
        return event.reason
    return f"{event.reason}({event.vetoed_by})"


class RequestRows:
    """Collects the rows while the events stream past."""

    def __init__(self) -> None:
        self.rows: dict[str, RequestRow] = {}
        self._sends: dict[tuple[tuple[Segment, ...], str], int] = {}
        self._state_group: str | None = None

    def watch(self, events: Iterable[Event]) -> Iterator[Event]:
        """The same events; each has been noted when it comes out."""
        for event in events:
            self.note(event)
            yield event

    def note(self, event: Event) -> None:
        """Note one event."""
        match event:
            case Header():
                groups = geometry_from_json(event.geometry).state_groups
                self._state_group = groups[0].name if groups else None
            case Submit():
                prompt = (event.segments, event.salt)
                self._sends[prompt] = self._sends.get(prompt, 0) + 1
                row = RequestRow(event.request, self._sends[prompt], event.prompt_tokens)
                self.rows[event.request] = row
            case Lookup() | Schedule() | Publish() | End():
                row_or_none = self.rows.get(event.request)
                if row_or_none is not None:
                    self._note_life(row_or_none, event)
            case _:
                pass

    def _note_life(self, row: RequestRow, event: Lookup | Schedule | Publish | End) -> None:
        match event:
            case Lookup() if row.hit is None:
                row.lookup = event
            case Schedule(start=start, end=end) if end > start:
                if row.hit is None:
                    row.hit = start
                    row.reason = reason_text(row.lookup) if row.lookup else None
                if start < event.prefill_end:
                    row.carve.append(end)
            case Publish() if event.group == self._state_group:
                row.stored.extend(tokens for tokens, _ in event.keys)
            case End(why=why, message=message) if why != EndWhy.PREEMPT:
                row.ended, row.message = why, message
            case _:
                pass

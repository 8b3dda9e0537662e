"""What the reason of a miss needs beside the keys that are there: who came, and what is gone.

Fed with the events of one trace, each after the ledger has booked it.
"""

from dataclasses import dataclass

from truehit.spec.ledger import Ledger
from truehit.spec.ledger_records import Key
from truehit.spec.tokens import TokenPath
from truehit.spec.trace import (
    Complete,
    End,
    Event,
    Publish,
    Reset,
    Schedule,
    Submit,
    Unpublish,
    UnpublishWhy,
    Write,
)


@dataclass(slots=True)
class Seen:
    """A request that was submitted. `reached_tokens`: the most that was known complete of it;
    `is_held`: it has blocks."""

    path: TokenPath
    reached_tokens: int = 0
    is_held: bool = False


class Remembered:
    """`lost`: keys that went and did not come back. `made`: keys that states at the end of a block
    could have had, whether they were kept or not."""

    __slots__ = ("_ledger", "_running", "lost", "made", "seen")

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._running: list[Schedule] = []
        self.seen: dict[str, Seen] = {}
        self.lost: set[Key] = set()
        self.made: set[Key] = set()

    def note(self, event: Event) -> None:
        """The ledger has booked the event."""
        match event:
            case Submit():
                self.seen[event.request] = Seen(self._ledger.requests[event.request].path)
            case Schedule() if event.start < event.end:
                self._running.append(event)
                self.seen[event.request].is_held = True
            case Write():
                self._note_state(event)
            case Publish():
                self.lost.difference_update(entry.key for entry in self._ledger.published)
            case Unpublish(why=why) if why != UnpublishWhy.PROMOTED:
                self._note_lost()
            case Reset():
                self._note_lost()
            case End():
                self.seen[event.request].is_held = False
            case Complete():
                self._note_complete(event)
            case _:
                pass

    def shared(self, name: str, known: int) -> tuple[int, int]:
        """The longest prefix (of `known` tokens) shared with tokens known complete, its own before
        a preemption included; and with a request that runs, computed or not."""
        own = self.seen[name]
        computed, pending = min(own.reached_tokens, known), 0
        for other in self.seen.values():
            if other is own:
                continue
            shared = min(own.path.shared_tokens(other.path), known)
            computed = max(computed, min(shared, other.reached_tokens))
            if other.is_held:
                pending = max(pending, shared)
        return computed, pending

    def _note_state(self, event: Write) -> None:
        group = self._ledger.groups[event.group]
        if group.is_state and event.end % group.block_tokens == 0:
            path = self.seen[event.request].path
            self.made.add(self._ledger.keys.key(group.index, path, event.end))

    def _note_lost(self) -> None:
        for entry in self._ledger.removed:
            if entry.key not in self._ledger.keys.by_key:
                self.lost.add(entry.key)

    def _note_complete(self, event: Complete) -> None:
        if event.of is None:
            return
        accepted = dict(event.accepted)
        for chunk in self._running:
            if chunk.step <= event.of and chunk.request not in event.failed:
                done = chunk.end - chunk.drafts + accepted.get(chunk.request, 0)
                seen = self.seen[chunk.request]
                seen.reached_tokens = max(seen.reached_tokens, done)
        self._running = [chunk for chunk in self._running if chunk.step > event.of]

"""neutrality: every read set equals the reader's own prefix, whatever the chunking, hits and
drafts.

*verified*: the initial state of every chunk has consumed exactly the reader's own first `start`
tokens; every state a chunk leaves has consumed exactly the reader's first `end` tokens; the
attention entries a reader at n sees (all of them, or those of its window) are written and are the
reader's own. Entries are checked once and again after their column, or their block under another's
hand, changed.

*not verified*: numbers (floats are compared by the data plane's tests); circular buffers, whose
content is a window that no key names; content that a transfer brings; entries inside the chunk
itself; steps in flight that start after the last token a request consumes, whose results nobody
reads.
"""

from collections.abc import Mapping
from typing import ClassVar

from truehit.spec.ghost import is_state_after
from truehit.spec.laws.base import Handler, Law, Report, Subscription, ViolationClass
from truehit.spec.ledger import Ledger
from truehit.spec.ledger_records import Fact, FactKind
from truehit.spec.ledger_words import state_words
from truehit.spec.trace import Complete, End, EndWhy, Plane, Read, Write

_READS = frozenset({FactKind.READS_HOLE, FactKind.READS_NOTHING, FactKind.READS_OTHER})


class Neutrality(Law):
    name: ClassVar[str] = "neutrality"
    sentence: ClassVar[str] = "every read set equals the reader's own prefix in ghost tokens"
    planes: ClassVar[frozenset[Plane]] = frozenset({Plane.TABLE, Plane.DEVICE})

    def __init__(self, ledger: Ledger, report: Report) -> None:
        super().__init__(ledger, report)
        self._said: dict[str, set[tuple[int, str, int | None]]] = {}
        """Request -> (residency, group, column) already reported: a false state stays false."""

    def handlers(self) -> Mapping[Subscription, Handler]:
        return {
            Read: self.on_read,
            Write: self.on_write,
            Complete: self.on_complete,
            End: self.on_end,
        }

    def on_read(self, event: Read) -> None:
        ledger = self.ledger
        if not event.tokens or not ledger.groups[event.group].is_state:
            return
        request = ledger.requests[event.request]
        if event.tokens >= request.total_tokens - 1:
            return
        path, content = request.path, ledger.pool.states[event.block]
        if not is_state_after(content, path, event.tokens):
            self._say_state(
                event,
                f"resumes at {event.tokens} from block {event.block}, which holds "
                f"{state_words(content, path)}",
            )

    def on_write(self, event: Write) -> None:
        ledger = self.ledger
        if event.rejected_tokens or not ledger.groups[event.group].is_state:
            return
        request = ledger.requests[event.request]
        if event.start >= request.total_tokens - 1:
            return
        path = request.path
        content = ledger.pool.states[event.blocks[0]]
        if not is_state_after(content, path, event.end):
            self._say_state(
                event,
                f"leaves {state_words(content, path)} in column {event.column} after tokens "
                f"[{event.start}, {event.end})",
            )

    def on_complete(self, event: Complete) -> None:
        for fact in self.ledger.facts:
            if fact.kind in _READS:
                self._judge(fact)

    def on_end(self, event: End) -> None:
        if event.why != EndWhy.PREEMPT:
            self._said.pop(event.request, None)

    def finish(self) -> None:
        for fact in self.ledger.facts:
            if fact.kind in _READS:
                self._judge(fact)

    def _judge(self, fact: Fact) -> None:
        if not self._is_news(fact.request, fact.group, fact.column):
            return
        words = fact.detail if fact.block else f"{fact.detail} but the column is a hole"
        self.say(
            ViolationClass.CORRUPT,
            fact.step,
            fact.request,
            f"request {fact.request}: column {fact.column} of group {fact.group} {words} "
            f"(step {fact.step})",
            group=fact.group,
            column=fact.column,
            block=fact.block,
        )

    def _say_state(self, event: Read | Write, words: str) -> None:
        if self._is_news(event.request, event.group, None):
            self.say(
                ViolationClass.CORRUPT,
                event.step,
                event.request,
                f"request {event.request}: group {event.group} {words} (step {event.step})",
                group=event.group,
                column=event.column,
            )

    def _is_news(self, name: str, group: str, column: int | None) -> bool:
        request = self.ledger.requests.get(name)
        residency = request.residency if request is not None else 0
        said = self._said.setdefault(name, set())
        mark = (residency, group, column)
        if mark in said:
            return False
        said.add(mark)
        return True

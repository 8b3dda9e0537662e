"""ownership: keyed bytes stay, shared blocks are copied first, null and foreign bytes are not
touched.

*verified*: every write, copy and transfer: its target is in the writer's own table, in nobody
else's, and covers no bytes for which a findable key is already true; a block that is taken is free
and has no key; the null block is never placed, written, copied, published or read; what is read or
copied was written in this tenancy (state groups here, attention entries when their column is read).

*not verified*: keys that are registered inside the engine and not yet published (an overwrite in
between is found by provenance when the key appears); holds of other parties, which are no readers;
the order of device events of different streams beyond the order in the trace.
"""

from collections.abc import Mapping
from typing import ClassVar

from truehit.spec.laws.base import Handler, Law, Subscription, ViolationClass
from truehit.spec.ledger_records import Fact, FactKind
from truehit.spec.trace import Complete, Plane, Publish, Read

_WORDS: Mapping[FactKind, str] = {
    FactKind.TAKES_REFERENCED: "{who}: block {block} of group {group} {detail}",
    FactKind.TAKES_KEYED: "{who}: block {block} of group {group} {detail}",
    FactKind.USES_NULL: "{who}: the null block {detail} in group {group}",
    FactKind.WRITES_KEYED: "{who}: block {block} of group {group} {detail}",
    FactKind.WRITES_SHARED: "{who}: writes block {block} of group {group}, which {detail}",
    FactKind.WRITES_FOREIGN: "{who}: writes block {block} of group {group}, which {detail}",
    FactKind.MOVES_OTHER: "{who}: column {column} of group {group} {detail}",
    FactKind.COPIES_NOTHING: "{who}: block {block} of group {group} {detail} but nobody wrote it",
    FactKind.READS_HOLE: "{who}: column {column} of group {group} is null and {detail}",
    FactKind.READS_NOTHING: "{who}: column {column} of group {group} {detail}",
}


class Ownership(Law):
    name: ClassVar[str] = "ownership"
    sentence: ClassVar[str] = (
        "bytes covered by a key are not written again after the step that makes the key true; a "
        "block with another reader is copied first; null blocks are never read or written; "
        "nothing reads a previous tenant's bytes"
    )
    planes: ClassVar[frozenset[Plane]] = frozenset({Plane.TABLE, Plane.KEYS, Plane.DEVICE})

    def handlers(self) -> Mapping[Subscription, Handler]:
        return {Read: self.on_read, Publish: self.on_publish, Complete: self.on_complete}

    def on_read(self, event: Read) -> None:
        ledger = self.ledger
        if not event.tokens or not ledger.groups[event.group].is_state:
            return
        if not event.block:
            words = f"group {event.group} resumes at {event.tokens} from the null block"
        elif ledger.pool.written_step[event.block] is None:
            words = (
                f"group {event.group} resumes at {event.tokens} from block {event.block}, "
                "which holds a previous tenant's bytes"
            )
        else:
            return
        self._say(event.step, event.request, words, event.group, event.column, event.block)

    def on_publish(self, event: Publish) -> None:
        for tokens, block in event.keys:
            if not block:
                words = f"the null block is published at {tokens} tokens in group {event.group}"
                self._say(event.step, event.request, words, event.group, None, 0)

    def on_complete(self, event: Complete) -> None:
        self._judge_facts()

    def finish(self) -> None:
        self._judge_facts()

    def _judge_facts(self) -> None:
        for fact in self.ledger.facts:
            words = _WORDS.get(fact.kind)
            if words is not None:
                self._say_fact(fact, words)

    def _say_fact(self, fact: Fact, words: str) -> None:
        sentence = words.format(
            who=f"request {fact.request}",
            block=fact.block,
            group=fact.group,
            column=fact.column,
            detail=fact.detail,
        )
        self.say(
            ViolationClass.CORRUPT,
            fact.step,
            fact.request,
            f"{sentence} (step {fact.step})",
            group=fact.group,
            column=fact.column,
            block=fact.block,
        )

    def _say(
        self, step: int, request: str, words: str, group: str, column: int | None, block: int
    ) -> None:
        sentence = f"request {request}: {words} (step {step})"
        self.say(
            ViolationClass.CORRUPT,
            step,
            request,
            sentence,
            group=group,
            column=column,
            block=block,
        )

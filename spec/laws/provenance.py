"""provenance: a block readable under the key of a prefix holds the state after exactly those
tokens.

*verified*: every key that is published, or whose block is written, copied over or taken again while
it is findable, is compared at the end of that step with the ghost content that writes and copies
left in the block: the tokens, not only their count, and the salt (another salt is another root).
Attention pages likewise, entry by entry. The first later adoption of a false block is added to the
sentence.

*not verified*: bytes (the data plane's tests do that); content that a transfer brings from outside,
which is taken at its word; keys whose step the trace does not close; circular buffers, which have
no keys.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from truehit.spec.laws.base import Handler, Law, Report, Subscription, ViolationClass
from truehit.spec.ledger import Ledger
from truehit.spec.ledger_records import Entry, GroupBook
from truehit.spec.ledger_words import page_words, state_words
from truehit.spec.trace import Complete, Plane, Table, TableOp


class Provenance(Law):
    name: ClassVar[str] = "provenance"
    sentence: ClassVar[str] = (
        "a block readable under the key of a prefix of n tokens holds the state that has consumed "
        "exactly those tokens"
    )
    planes: ClassVar[frozenset[Plane]] = frozenset({Plane.TABLE, Plane.KEYS, Plane.DEVICE})

    def __init__(self, ledger: Ledger, report: Report) -> None:
        super().__init__(ledger, report)
        self._unread: dict[int, tuple[int, int]] = {}
        """Falsely published block -> (its tenancy, index of the violation)."""

    def handlers(self) -> Mapping[Subscription, Handler]:
        return {Complete: self.on_complete, TableOp.ADOPT: self.on_adopt}

    def on_complete(self, event: Complete) -> None:
        for entry in self.ledger.false_entries:
            self._judge(event.step, entry)

    def on_adopt(self, event: Table) -> None:
        if not self._unread:
            return
        for block in event.blocks:
            tenancy, index = self._unread.get(block, (None, None))
            if index is not None and tenancy == self.ledger.pool.tenancy[block]:
                self._add_reader(index, event)
                del self._unread[block]

    def _judge(self, step: int, entry: Entry) -> None:
        group = self.ledger.by_index[entry.key[0]]
        tokens = entry.key[2]
        column = entry.column
        if column is None:
            column = (tokens - 1) // group.block_tokens
        index = self.say(
            ViolationClass.CORRUPT,
            step,
            entry.request,
            f"request {entry.request}: column {column} is published as {_claim(group, tokens)} "
            f"but holds {self._truth(group, entry)} (step {step})",
            group=group.name,
            column=column,
            block=entry.block,
        )
        if index is not None:
            self._unread[entry.block] = (self.ledger.pool.tenancy[entry.block], index)

    def _truth(self, group: GroupBook, entry: Entry) -> str:
        pool = self.ledger.pool
        if group.is_paged:
            return page_words(pool.pages[entry.block], entry.path)
        return state_words(pool.states[entry.block], entry.path)

    def _add_reader(self, index: int, event: Table) -> None:
        found = self.report.violations[index]
        if found.request == event.request and found.step == event.step:
            return
        read = f"; read by request {event.request} at step {event.step})"
        self.report.replace(index, replace(found, sentence=found.sentence[:-1] + read))


def _claim(group: GroupBook, tokens: int) -> str:
    if group.is_state:
        return f"state@{tokens}"
    base = (tokens - 1) // group.block_tokens * group.block_tokens
    return f"entries [{base}, {tokens})"

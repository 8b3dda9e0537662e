"""uniqueness: within one residency a key names one block; duplicates across residencies agree.

*verified*: every publication is compared with the blocks that the key already names: another block
of the same residency breaks the law at once; a block of another residency must be equally true at
the end of the step.

*not verified*: which of several equal blocks a lookup returns (the engine's policy, recorded, not
law).
"""

from collections.abc import Mapping
from typing import ClassVar

from truehit.spec.laws.base import Handler, Law, Report, Subscription, ViolationClass
from truehit.spec.ledger import Ledger
from truehit.spec.ledger_records import Entry, Key
from truehit.spec.trace import Complete, Plane, Publish


class Uniqueness(Law):
    name: ClassVar[str] = "uniqueness"
    sentence: ClassVar[str] = (
        "within one residency a key names one block; duplicates across residencies have equal "
        "content"
    )
    planes: ClassVar[frozenset[Plane]] = frozenset({Plane.KEYS})

    def __init__(self, ledger: Ledger, report: Report) -> None:
        super().__init__(ledger, report)
        self._doubles: set[Key] = set()

    def handlers(self) -> Mapping[Subscription, Handler]:
        return {Publish: self.on_publish, Complete: self.on_complete}

    def on_publish(self, event: Publish) -> None:
        for entry in self.ledger.doubled:
            self._doubles.add(entry.key)
            for other in self.ledger.keys.of_key(entry.key):
                if other.block != entry.block and other.residency == entry.residency:
                    self._say_double(event, other, entry.block)

    def on_complete(self, event: Complete) -> None:
        if not self._doubles:
            return
        ledger = self.ledger
        for key in sorted(self._doubles):
            group = ledger.by_index[key[0]]
            entries = ledger.keys.of_key(key)
            truths = [ledger.device.entry_is_true(entry, group) for entry in entries]
            if any(truths) and not all(truths):
                right, wrong = entries[truths.index(True)], entries[truths.index(False)]
                self.say(
                    ViolationClass.CORRUPT,
                    event.step,
                    wrong.request,
                    f"request {wrong.request}: the key of {key[2]} tokens of group {group.name} "
                    "names "
                    f"blocks {right.block} and {wrong.block}, which differ (step {event.step})",
                    group=group.name,
                    block=wrong.block,
                )
        self._doubles.clear()

    def _say_double(self, event: Publish, other: Entry, block: int) -> None:
        self.say(
            ViolationClass.CORRUPT,
            event.step,
            event.request,
            f"request {event.request}: the key of {other.key[2]} tokens of group {event.group} "
            "names "
            f"block {other.block} and block {block} within one residency (step {event.step})",
            group=event.group,
            block=block,
        )

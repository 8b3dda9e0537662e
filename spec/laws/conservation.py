"""conservation: null + referenced + keyed-free + empty-free = pool, and the counts are the
ledger's.

*verified*: the counts that the engine gives at the end of a step add up with the null block to the
pool, and equal what block tables, holds and keys of the trace add up to.

*not verified*: per-block reference counts (a trace has only the sums); steps for which the engine
gives no counts; who holds a block that the trace does not mention.
"""

from collections.abc import Mapping
from typing import ClassVar

from truehit.spec.laws.base import Handler, Law, Subscription, ViolationClass
from truehit.spec.trace import Complete, Plane


class Conservation(Law):
    name: ClassVar[str] = "conservation"
    sentence: ClassVar[str] = (
        "null + referenced + keyed-free + empty-free = pool and reference counts match, at the "
        "end of every step"
    )
    planes: ClassVar[frozenset[Plane]] = frozenset({Plane.TABLE, Plane.KEYS, Plane.POOL})

    def handlers(self) -> Mapping[Subscription, Handler]:
        return {Complete: self.on_complete}

    def on_complete(self, event: Complete) -> None:
        referenced, keyed, empty = (
            event.referenced_blocks,
            event.keyed_free_blocks,
            event.empty_free_blocks,
        )
        if referenced is None or keyed is None or empty is None:
            return
        pool = self.ledger.pool
        if 1 + referenced + keyed + empty != pool.blocks:
            self._say(
                event,
                ViolationClass.CORRUPT,
                f"1 null + {referenced} referenced + {keyed} keyed-free + {empty} empty-free = "
                f"{1 + referenced + keyed + empty} blocks, but the pool has {pool.blocks}",
            )
        if referenced != pool.referenced:
            lost = referenced > pool.referenced
            self._say(
                event,
                ViolationClass.WASTE if lost else ViolationClass.CORRUPT,
                f"the engine counts {referenced} referenced blocks, tables and holds name "
                f"{pool.referenced}",
            )
        if keyed != pool.keyed_free:
            self._say(
                event,
                ViolationClass.WASTE,
                f"the engine counts {keyed} free blocks with keys, the keys name {pool.keyed_free}",
            )

    def _say(self, event: Complete, violation_class: ViolationClass, words: str) -> None:
        self.say(violation_class, event.step, "", f"step {event.step}: {words}")

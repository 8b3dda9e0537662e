"""The pool: references, tenancies and contents of every block. Block 0 is the null block.

A block that is taken starts a new tenancy: nobody has written it, whatever its bytes are.
"""

from collections.abc import Mapping

from truehit.spec.ghost import StateContent, Unwritten
from truehit.spec.ledger_pages import BLANK, Page

UNWRITTEN: StateContent = Unwritten()


class Pool:
    """Lists indexed by block; counts kept as events come.

    `disturbed`: keyed blocks whose content changed, or was not there yet, since the last end of a
    step.
    """

    __slots__ = (
        "blocks",
        "disturbed",
        "held_outside",
        "keyed",
        "keyed_free",
        "pages",
        "referenced",
        "references",
        "states",
        "tenancy",
        "written_step",
    )

    def __init__(self, blocks: int, keyed: Mapping[int, object]) -> None:
        self.blocks = blocks
        self.keyed = keyed
        self.references = [0] * blocks
        self.states: list[StateContent] = [UNWRITTEN] * blocks
        self.pages: list[Page] = [BLANK] * blocks
        self.written_step: list[int | None] = [None] * blocks
        self.tenancy = [0] * blocks
        self.disturbed: set[int] = set()
        self.held_outside: dict[int, int] = {}
        self.referenced = 0
        self.keyed_free = 0

    @property
    def empty_free(self) -> int:
        return self.blocks - 1 - self.referenced - self.keyed_free

    def renew(self, block: int) -> None:
        """A new tenancy: contents of the previous tenant are nobody's."""
        self.states[block] = UNWRITTEN
        self.pages[block] = BLANK
        self.written_step[block] = None
        self.tenancy[block] += 1

    def hold(self, block: int) -> bool:
        """One more reference; True iff the block was free."""
        count = self.references[block]
        self.references[block] = count + 1
        if count:
            return False
        self.referenced += 1
        if block in self.keyed:
            self.keyed_free -= 1
        return True

    def release(self, block: int) -> None:
        count = self.references[block] - 1
        self.references[block] = count
        if not count:
            self.referenced -= 1
            if block in self.keyed:
                self.keyed_free += 1

    def hold_outside(self, block: int) -> None:
        self.hold(block)
        self.held_outside[block] = self.held_outside.get(block, 0) + 1

    def release_outside(self, block: int) -> None:
        left = self.held_outside.get(block, 0) - 1
        if left < 0:
            return
        if left:
            self.held_outside[block] = left
        else:
            del self.held_outside[block]
        self.release(block)

    def readers(self, block: int) -> int:
        """Block tables that name the block (holds by copies and the like are not readers)."""
        return self.references[block] - self.held_outside.get(block, 0)

"""What committed prefills left behind, by token node: how far they went, which positions fell due.

A bounded memory: the node that was touched longest ago is forgotten, which only makes the law
weaker.
"""

from collections import OrderedDict
from dataclasses import dataclass, field

from truehit.spec.ledger_records import Entry, Key
from truehit.spec.tokens import TokenPath

SMALLEST_MEMORY_NODES = 1024


@dataclass(slots=True, eq=False)
class NodeBook:
    """`extent_tokens`: the furthest token on this node that a committed chunk has computed. `due`:
    kept positions on it that fell due. `lost`: keys on it that were evicted, taken back or
    reset."""

    extent_tokens: int = 0
    due: set[int] = field(default_factory=set)
    lost: set[Key] = field(default_factory=set)


class ReachMemory:
    """Nodes in the order they were last touched.

    `margin_tokens`: drop and lookahead; the keys of a position depend on so many tokens beyond it,
    so a due position belongs to the node of the last of them.
    """

    __slots__ = ("_limit", "_margin", "_nodes", "has_lost")

    def __init__(self, pool_blocks: int, margin_tokens: int) -> None:
        self._margin = margin_tokens
        self._limit = max(SMALLEST_MEMORY_NODES, 4 * pool_blocks)
        self._nodes: OrderedDict[int, NodeBook] = OrderedDict()
        self.has_lost = False

    def open(self, path: TokenPath) -> None:
        """A request with this path is there: its nodes are the last to be forgotten."""
        for node in path.nodes:
            if node in self._nodes:
                self._nodes.move_to_end(node)
            else:
                self._nodes[node] = NodeBook()
        while len(self._nodes) > self._limit:
            self._nodes.popitem(last=False)

    def clear(self) -> None:
        self._nodes.clear()
        self.has_lost = False

    def extend(self, path: TokenPath, tokens: int) -> None:
        """A committed chunk has computed the path's first `tokens` tokens."""
        start = 0
        for node, end in zip(path.nodes, path.ends_tokens, strict=True):
            book = self._nodes.get(node)
            if book is not None:
                book.extent_tokens = max(book.extent_tokens, min(tokens, end))
            start = end
            if start >= tokens:
                return

    def add_due(self, path: TokenPath, position: int) -> None:
        book = self._nodes.get(path.prefix(position + self._margin)[0])
        if book is not None:
            book.due.add(position)

    def shared_tokens(self, path: TokenPath, known: int) -> int:
        """The longest prefix (of the first `known` tokens) that committed chunks have computed."""
        shared = 0
        for node, end in zip(path.nodes, path.ends_tokens, strict=True):
            book = self._nodes.get(node)
            if book is None or book.extent_tokens <= shared:
                break
            shared = min(book.extent_tokens, end, known)
            if shared < end:
                break
        return shared

    def due_upto(self, path: TokenPath, limit: int, known: int) -> list[int]:
        """Due positions <= limit whose keys the first `known` tokens can name, deepest first."""
        margin = self._margin
        found: list[int] = []
        start = 0
        for node, end in zip(path.nodes, path.ends_tokens, strict=True):
            if start >= known:
                break
            book = self._nodes.get(node)
            if book is not None:
                last = min(end, known)
                found.extend(p for p in book.due if p <= limit and start < p + margin <= last)
            start = end
        return sorted(found, reverse=True)

    def lose(self, entry: Entry) -> None:
        book = self._nodes.get(entry.key[1])
        if book is not None:
            book.lost.add(entry.key)
            self.has_lost = True

    def regain(self, key: Key) -> None:
        book = self._nodes.get(key[1])
        if book is not None:
            book.lost.discard(key)

    def is_lost(self, key: Key) -> bool:
        """True if the key went, or nobody remembers."""
        book = self._nodes.get(key[1])
        return book is None or key in book.lost

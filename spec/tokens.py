"""Token identity: two prefixes are equal exactly when their interned ids are equal.

A request is a path in a tree of named segments. A prefix of n tokens is the pair
(node, n), where the node is the segment that holds token n-1, reached by the same
cuts from the same root. A million-token prompt is therefore a few integers.
"""

from bisect import bisect_left
from dataclasses import dataclass

PrefixId = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Segment:
    """`tokens` > 0 tokens of the named stream, from its start."""

    name: str
    tokens: int


@dataclass(frozen=True, slots=True)
class TokenPath:
    """A sequence of segments with the node of each and the position where each ends."""

    root: int
    segments: tuple[Segment, ...]
    nodes: tuple[int, ...]
    ends_tokens: tuple[int, ...]

    @property
    def tokens(self) -> int:
        return self.ends_tokens[-1] if self.ends_tokens else 0

    def prefix(self, tokens: int) -> PrefixId:
        """The identity of the first `tokens` tokens; IndexError beyond the end."""
        if tokens == 0:
            return (self.root, 0)
        return (self.nodes[bisect_left(self.ends_tokens, tokens)], tokens)

    def shared_tokens(self, other: "TokenPath") -> int:
        """How many leading tokens two paths have in common."""
        if self.root != other.root:
            return 0
        shared = 0
        for mine, theirs, end, other_end in zip(
            self.nodes, other.nodes, self.ends_tokens, other.ends_tokens, strict=False
        ):
            if mine != theirs:
                break
            shared = min(end, other_end)
            if end != other_end:
                break
        return shared


class TokenTree:
    """Interns segments, so that equal prefixes get equal ids."""

    __slots__ = ("_nodes",)

    def __init__(self) -> None:
        self._nodes: dict[tuple[int, int, str], int] = {}

    def _node(self, parent: int, cut_tokens: int, name: str) -> int:
        return self._nodes.setdefault((parent, cut_tokens, name), len(self._nodes) + 1)

    def path(self, segments: tuple[Segment, ...], salt: str = "") -> TokenPath:
        """The path of a request; another salt is another root."""
        root = self._node(0, 0, salt)
        parent, end = root, 0
        nodes: list[int] = []
        ends: list[int] = []
        for segment in segments:
            parent = self._node(parent, end, segment.name)
            end += segment.tokens
            nodes.append(parent)
            ends.append(end)
        return TokenPath(root, segments, tuple(nodes), tuple(ends))

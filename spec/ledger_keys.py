"""Keys: which prefix finds which blocks, in order of publication, and which keys a block carries.

A key of n tokens with lookahead L is valid only for prefixes that agree on n + L tokens; its node
is the one of token n + L - 1. State positions are indexed by node, so that the largest one below a
candidate is found without a walk over the pool.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator

from truehit.spec.ledger_records import Entry, GroupBook, Key
from truehit.spec.tokens import TokenPath


class Keys:
    """The first entry of a key and of a block; the rare further ones aside, in order of
    publication.

    `version` counts removals: while it stands still, what was found is still there.
    """

    __slots__ = (
        "_more_of_block",
        "_more_of_key",
        "by_block",
        "by_key",
        "lookahead",
        "state_positions",
        "version",
    )

    def __init__(self, lookahead: int) -> None:
        self.lookahead = lookahead
        self.by_key: dict[Key, Entry] = {}
        self.by_block: dict[int, Entry] = {}
        self._more_of_key: dict[Key, list[Entry]] = {}
        self._more_of_block: dict[int, list[Entry]] = {}
        self.state_positions: dict[tuple[int, int], set[int]] = {}
        self.version = 0

    def of_block(self, block: int) -> list[Entry]:
        """All keys of the block."""
        first = self.by_block.get(block)
        return [] if first is None else [first, *self._more_of_block.get(block, ())]

    def of_key(self, key: Key) -> list[Entry]:
        """All blocks under the key."""
        first = self.by_key.get(key)
        return [] if first is None else [first, *self._more_of_key.get(key, ())]

    def key(self, group_index: int, path: TokenPath, tokens: int) -> Key:
        """The key of the path's first `tokens` tokens."""
        covered = min(tokens + self.lookahead, path.tokens)
        return (group_index, path.prefix(covered)[0], tokens)

    def keys_at(self, group_index: int, path: TokenPath, positions: Iterable[int]) -> Iterator[Key]:
        """The keys of many positions, cheapest when they ascend."""
        lookahead, most = self.lookahead, path.tokens
        nodes, ends = path.nodes, path.ends_tokens
        low, high, node = 0, 0, path.root
        for tokens in positions:
            covered = tokens + lookahead
            if covered > most:
                covered = most
            if not low < covered <= high:
                index = bisect_left(ends, covered)
                low = ends[index - 1] if index else 0
                high, node = ends[index], nodes[index]
            yield (group_index, node, tokens)

    def add(self, entry: Entry, group: GroupBook) -> bool:
        """File the entry; True iff another block already has its key."""
        block, key = entry.block, entry.key
        if block not in self.by_block:
            self.by_block[block] = entry
        elif any(e.key == key for e in self.of_block(block)):
            return False
        else:
            self._more_of_block.setdefault(block, []).append(entry)
        if group.is_state:
            self.state_positions.setdefault((key[0], key[1]), set()).add(key[2])
        if key not in self.by_key:
            self.by_key[key] = entry
            return False
        self._more_of_key.setdefault(key, []).append(entry)
        return True

    def remove_block(self, block: int) -> list[Entry]:
        """All keys of the block go; what was removed."""
        entries = self.of_block(block)
        self.by_block.pop(block, None)
        self._more_of_block.pop(block, None)
        for entry in entries:
            self.version += 1
            self._remove_from_key(entry)
        return entries

    def _remove_from_key(self, entry: Entry) -> None:
        key = entry.key
        left = [other for other in self.of_key(key) if other is not entry]
        self._more_of_key.pop(key, None)
        if not left:
            del self.by_key[key]
            self._forget_position(key)
            return
        self.by_key[key] = left[0]
        if left[1:]:
            self._more_of_key[key] = left[1:]

    def _forget_position(self, key: Key) -> None:
        index, node, tokens = key
        positions = self.state_positions.get((index, node))
        if positions is not None:
            positions.discard(tokens)
            if not positions:
                del self.state_positions[(index, node)]

    def finds(self, group_index: int, path: TokenPath, tokens: int) -> bool:
        """True iff a lookup of the path's first `tokens` tokens finds a block of the group."""
        return self.key(group_index, path, tokens) in self.by_key

    def largest_state(
        self, group_index: int, path: TokenPath, limit: int, known: int, alignment: int
    ) -> int:
        """The largest aligned state position <= limit on the path whose key the first `known`
        tokens can name; 0 if there is none."""
        best, start = 0, 0
        for node, end in zip(path.nodes, path.ends_tokens, strict=True):
            for tokens in self.state_positions.get((group_index, node), ()):
                covered = tokens + self.lookahead
                named = start < covered <= min(end, known)
                if named and best < tokens <= limit and tokens % alignment == 0:
                    best = tokens
            start = end
        return best

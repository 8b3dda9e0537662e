"""Which keys can be found: watched where the engine inserts and removes them.

The map of the pool is replaced by one of the same class that tells; a key is told as tokens of the
prefix that its hash stands for, whatever the engine believes of the block.
"""

from collections import deque
from typing import Any

from .out import Recorder

Change = tuple[str, int, str, int, int]
"""What happened: `publish`, or why a key went; group, in whose name, tokens, block."""


class KeyWatch:
    """Keys by block, and what changed since it was last told. `why` and `request` say why keys go
    and in whose name the pool is asked just now."""

    def __init__(self, recorder: Recorder, groups: list[str], unit_tokens: int) -> None:
        self.request = ""
        self.why = "taken_back"
        self._recorder = recorder
        self._groups = groups
        self._unit = unit_tokens
        self._tokens: dict[bytes, int] = {}
        self._of_block: dict[int, dict[bytes, tuple[int, int]]] = {}
        self._changes: deque[Change] = deque()

    def learn(self, request: Any) -> None:
        """The hashes of a request, each for so many of its tokens."""
        tokens = self._tokens
        for number, digest in enumerate(request.block_hashes, 1):
            tokens[bytes(digest)] = number * self._unit

    def inserted(self, key: bytes, block: int) -> None:
        group = int.from_bytes(key[-4:], "big")
        digest = bytes(key[:-4])
        tokens = self._tokens.get(digest)
        if tokens is None:
            # Some releases name a larger block by the hashes of all its units, one after another.
            tokens = self._tokens[digest[-32:]]
        self._of_block.setdefault(block, {})[bytes(key)] = (group, tokens)
        self._changes.append(("publish", group, self.request, tokens, block))

    def removed(self, key: bytes, block: int) -> None:
        keys = self._of_block.get(block, {})
        found = keys.pop(bytes(key), None)
        if found is None:
            return
        group, tokens = found
        self._changes.append((self.why, group, self.request, tokens, block))

    def forget_all(self) -> None:
        """The cache was dropped."""
        self._of_block.clear()
        self._changes.clear()

    def tell_evictions(self) -> None:
        """Blocks that were taken from the pool lost their keys first."""
        evicted = [change for change in self._changes if change[0] == "evicted"]
        if evicted:
            self._changes = deque(change for change in self._changes if change[0] != "evicted")
            self._removals("evicted", evicted)

    def tell(self) -> None:
        """Say what changed, in order."""
        changes = self._changes
        while changes:
            first = changes.popleft()
            what, group, request, tokens, block = first
            if what == "publish":
                keys = [(tokens, block)]
                while changes and changes[0][:3] == (what, group, request):
                    keys.append(changes.popleft()[3:])
                self._publish(request, group, keys)
                continue
            removed = [first]
            while changes and changes[0][0] == what:
                removed.append(changes.popleft())
            self._removals(what, removed)

    def _removals(self, why: str, removed: list[Change]) -> None:
        """An unpublish takes all keys of a block: what the engine left is said again."""
        by_group: dict[int, list[int]] = {}
        for _, group, _, _, block in removed:
            blocks = by_group.setdefault(group, [])
            if block not in blocks:
                blocks.append(block)
        for group, blocks in by_group.items():
            name = self._groups[group]
            self._recorder.emit("unpublish", group=name, blocks=blocks, why=why)
            pending = {change[4] for change in self._changes if change[0] == "publish"}
            for block in blocks:
                kept = self._of_block.get(block)
                if kept and block not in pending:
                    self._publish(self.request, group, [(t, block) for _, t in kept.values()])

    def _publish(self, request: str, group: int, keys: list[tuple[int, int]]) -> None:
        self._recorder.emit(
            "publish", request=request, group=self._groups[group], keys=[list(k) for k in keys]
        )

    def keyed(self, block: int) -> bool:
        """The block can be found."""
        return bool(self._of_block.get(block))


def watch_map(pool: Any, watch: KeyWatch) -> None:
    """Let the pool's map of keys tell the watch."""
    kind = type(pool.cached_block_hash_to_block)

    class Telling(kind):  # type: ignore[misc, valid-type]
        """The engine's own map, and a word of each change."""

        def insert(self, key: Any, block: Any) -> None:
            super().insert(key, block)
            watch.inserted(key, block.block_id)

        def pop(self, key: Any, block_id: int) -> Any:
            found = super().pop(key, block_id)
            if found is not None:
                watch.removed(key, block_id)
            return found

    pool.cached_block_hash_to_block = Telling()

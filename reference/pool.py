"""One pool of blocks for all groups: reference counts, keys, and an LRU order of free blocks.

Block 0 is the null block: never counted, keyed, read or written. A free block may still carry keys
until it is taken (evicted). Freed blocks without keys are taken first, keyed ones in the order they
were freed. A key may name several blocks (two requests computed the same prefix); a lookup returns
the first one."""

from collections import OrderedDict
from dataclasses import dataclass

from truehit.spec.tokens import PrefixId

NULL_BLOCK = 0


@dataclass(frozen=True, slots=True)
class Key:
    """The state or pages of one group after `tokens` tokens; `prefix` covers the lookahead too."""

    group: str
    tokens: int
    prefix: PrefixId


class PoolError(Exception):
    """More blocks were asked for than are free."""


class Pool:
    """Mutable pool of `blocks` ids, the null block included. `lost`: keys that went and did not
    come back, for the reason of a miss."""

    __slots__ = (
        "_by_key",
        "_free",
        "_keys",
        "_references",
        "blocks",
        "keyed_free_count",
        "lost",
    )

    def __init__(self, blocks: int) -> None:
        self.blocks = blocks
        self.lost: set[Key] = set()
        self.keyed_free_count = 0
        self._free: OrderedDict[int, None] = OrderedDict((b, None) for b in range(1, blocks))
        self._references: dict[int, int] = {}
        self._keys: dict[int, dict[Key, None]] = {}
        self._by_key: dict[Key, dict[int, None]] = {}

    @property
    def free_count(self) -> int:
        return len(self._free)

    @property
    def referenced_count(self) -> int:
        return self.blocks - 1 - len(self._free)

    def is_free(self, block: int) -> bool:
        return block in self._free

    def references(self, block: int) -> int:
        return self._references.get(block, 0)

    def has_keys(self, block: int) -> bool:
        return block in self._keys

    def find(self, key: Key) -> int | None:
        """The first block published under the key, or None."""
        blocks = self._by_key.get(key)
        return next(iter(blocks)) if blocks else None

    def take(self, count: int) -> tuple[list[int], list[int]]:
        """Take blocks; returns them and those of them whose keys were evicted. PoolError if not
        enough."""
        if count > len(self._free):
            raise PoolError(f"{count} blocks asked, {len(self._free)} free")
        taken = [self._free.popitem(last=False)[0] for _ in range(count)]
        evicted = [block for block in taken if block in self._keys]
        for block in taken:
            self._references[block] = 1
        for block in evicted:
            self.keyed_free_count -= 1
            self._forget(block)
        return taken, evicted

    def touch(self, block: int) -> None:
        """One more reader of a found block."""
        if block in self._free:
            del self._free[block]
            self.keyed_free_count -= 1 if block in self._keys else 0
        self._references[block] = self._references.get(block, 0) + 1

    def release(self, blocks: list[int]) -> None:
        """One reader less of each; blocks nobody reads become free, in the order given."""
        empty: list[int] = []
        for block in blocks:
            self._references[block] -= 1
            if self._references[block] > 0:
                continue
            del self._references[block]
            if block in self._keys:
                self._free[block] = None
                self.keyed_free_count += 1
            else:
                empty.append(block)
        for block in reversed(empty):
            self._free[block] = None
            self._free.move_to_end(block, last=False)

    def publish(self, key: Key, block: int) -> bool:
        """Make a block findable; False if it already was under this key."""
        if block not in self._keys and block in self._free:
            self.keyed_free_count += 1
        keys = self._keys.setdefault(block, {})
        if key in keys:
            return False
        keys[key] = None
        self._by_key.setdefault(key, {})[block] = None
        self.lost.discard(key)
        return True

    def _forget(self, block: int) -> None:
        """Remove all keys of a block; a key that no other block carries is lost."""
        for key in self._keys.pop(block):
            blocks = self._by_key[key]
            del blocks[block]
            if not blocks:
                del self._by_key[key]
                self.lost.add(key)

    def drop_all_keys(self) -> None:
        """Nothing is findable any more."""
        self.keyed_free_count = 0
        self.lost.update(self._by_key)
        self._keys.clear()
        self._by_key.clear()

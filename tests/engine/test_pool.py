"""The pool and its keys against a model anybody can check: lists and dictionaries.

Which block is taken next, which block a key names, what is evicted, how many free blocks have keys,
and that all of it survives the key tables growing at any moment."""

from collections import OrderedDict
from typing import Any

import numba
import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from truehit.engine import entry, keys, pool
from truehit.engine import fields as f
from truehit.engine.api import Engine
from truehit.engine.handle import opened
from truehit.engine.host import Host

from .recount import recount
from .room import CI, Device, hybrid, serve

GROUPS, ROWS = 2, 6
Key = tuple[int, int]


@numba.njit
def touch(handle: Any, block: int) -> None:
    pool.touch(opened(handle), block)


@numba.njit
def publish(handle: Any, group: int, row: int, block: int) -> bool:
    return keys.publish(opened(handle), group, row, block)


@numba.njit
def forget(handle: Any, block: int) -> None:
    keys.forget_keys(opened(handle), block)


@numba.njit
def find(handle: Any, group: int, row: int) -> int:
    return keys.find_block(opened(handle), group, row)


class Model:
    """Free blocks in order, readers, keys of a block and blocks of a key in order of publishing."""

    def __init__(self, blocks: int) -> None:
        self.free = list(range(1, blocks))
        self.readers = dict.fromkeys(range(1, blocks), 0)
        self.blocks: dict[Key, OrderedDict[int, None]] = {}
        self.evicted = self.published = 0

    def keyed(self, block: int) -> bool:
        return any(block in blocks for blocks in self.blocks.values())

    def take(self, count: int) -> list[int]:
        taken, self.free = self.free[:count], self.free[count:]
        for block in taken:
            self.evicted += self.keyed(block)
            self.forget(block)
            self.readers[block] += 1
        return taken

    def touch(self, block: int) -> None:
        self.readers[block] += 1
        self.free = [other for other in self.free if other != block]

    def release(self, blocks: list[int]) -> None:
        ended = []
        for block in blocks:
            self.readers[block] -= 1
            if not self.readers[block]:
                ended.append(block)
        empty = [block for block in ended if not self.keyed(block)]
        self.free = empty + self.free + [block for block in ended if self.keyed(block)]

    def publish(self, key: Key, block: int) -> bool:
        blocks = self.blocks.setdefault(key, OrderedDict())
        is_new = block not in blocks
        blocks.setdefault(block)
        self.published += is_new
        return is_new

    def forget(self, block: int) -> None:
        for blocks in self.blocks.values():
            blocks.pop(block, None)

    def first(self, key: Key) -> int:
        return next(iter(self.blocks.get(key, ())), 0)


class Pooled(RuleBasedStateMachine):
    """The machine: every operation on both, every answer compared."""

    @initialize(blocks=st.integers(16, 30), seed=st.integers(0, 99))
    def begin(self, blocks: int, seed: int) -> None:
        self.host, self.model = Host(hybrid(pool_blocks=blocks)), Model(blocks)
        # Rows differ in one word only, and some pairs share the first, which chooses the bucket.
        rows = np.random.default_rng(seed).integers(0, 3, (ROWS, 8)).astype(np.uint32)
        rows[:, 7] = range(ROWS)
        self.host.use(self.host.core._replace(key=rows))

    def _read(self) -> list[int]:
        """Blocks somebody reads, as often as they are read."""
        return [block for block, readers in self.model.readers.items() for _ in range(readers)]

    @rule(data=st.data())
    def take(self, data: st.DataObject) -> None:
        count = data.draw(st.integers(0, min(5, len(self.model.free))))
        taken = np.zeros(count, np.int32)
        entry.take_into(self.host.handle, taken, count)
        assert taken.tolist() == self.model.take(count)

    @rule(data=st.data())
    def touch(self, data: st.DataObject) -> None:
        block = data.draw(st.sampled_from(sorted(self.model.readers)))
        touch(self.host.handle, block)
        self.model.touch(block)

    @precondition(lambda self: self._read())
    @rule(data=st.data(), holes=st.booleans())
    def release(self, data: st.DataObject, holes: bool) -> None:
        order = data.draw(st.permutations(self._read()))
        blocks = order[: data.draw(st.integers(1, len(order)))]
        told = [word for block in blocks for word in (block, 0)] if holes else blocks
        entry.release(self.host.handle, np.array(told, np.int32))
        self.model.release(blocks)

    @rule(data=st.data(), group=st.integers(0, GROUPS - 1), row=st.integers(0, ROWS - 1))
    def publish(self, data: st.DataObject, group: int, row: int) -> None:
        block = data.draw(st.sampled_from(sorted(self.model.readers)))
        is_new = publish(self.host.handle, group, row, block)
        assert is_new == self.model.publish((group, row), block)

    @rule(data=st.data())
    def forget_what_is_read(self, data: st.DataObject) -> None:
        read = sorted(set(self._read()))
        if read:
            block = data.draw(st.sampled_from(read))
            forget(self.host.handle, block)
            self.model.forget(block)

    @rule()
    def drop_all(self) -> None:
        entry.drop_all_keys(self.host.handle)
        self.model.blocks.clear()

    @rule(more=st.integers(1, 400))
    def grow(self, more: int) -> None:
        before = self.host.core.record.shape[0]
        self.host._grow_keys(more)
        used = int(self.host.core.now[f.N_USED_RECORDS])
        assert (self.host.core.record.shape[0] > before) == (used + more >= before)

    @invariant()
    def everything_agrees(self) -> None:
        now, model = self.host.core.now, self.model
        block, order = self.host.core.block[:, f.B_NEXT].tolist(), []
        at = block[0]
        while at:
            order.append(at)
            at = block[at]
        assert order == model.free
        assert self.host.core.block[1:, f.B_READERS].tolist() == list(model.readers.values())
        assert now[f.N_FREE] == len(model.free)
        assert now[f.N_KEYED_FREE] == sum(map(model.keyed, model.free))
        assert (now[f.N_EVICTED], now[f.N_PUBLISHED]) == (model.evicted, model.published)
        for group in range(GROUPS):
            for row in range(ROWS):
                assert find(self.host.handle, group, row) == model.first((group, row))


Pooled.TestCase.settings = settings(CI, max_examples=100, stateful_step_count=50)
TestPooled = Pooled.TestCase


def test_a_key_table_that_grows_in_the_middle_of_a_commit_loses_nothing() -> None:
    """64 records to begin with; one commit files 120 pages."""
    device = Device(Engine(hybrid(budget_tokens=480)))
    host, prompt = device.engine.host, list(range(480))
    before = host.core.record.shape[0]
    assert serve(device, prompt) == 0
    assert host.core.record.shape[0] > before
    recount(host)
    assert serve(device, prompt) == 472

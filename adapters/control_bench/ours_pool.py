"""Our block pool alone: batches of blocks taken, filed under keys, and given back."""

from collections import deque
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from truehit.adapters.control_bench.ours_engine import engine_of
from truehit.adapters.control_bench.works import Output
from truehit.adapters.vllm.inside.control_peer.clock import Measured, Stopwatch
from truehit.adapters.vllm.inside.control_peer.workloads import Churn, Shape
from truehit.engine import entry
from truehit.engine import fields as f
from truehit.engine.growth import with_keys
from truehit.engine.handle import opened
from truehit.engine.keys import expect_key, publish

SHAPE = Shape(16, 16)
KEY_WORDS = 8


@dataclass(slots=True)
class Taken:
    """The blocks a request was given."""

    request: int
    blocks: list[int]


@numba.njit
def file_batch(handle: Any, blocks: Any, row: int) -> None:
    """Publish a batch under the keys from `row` of the key arena on."""
    core = opened(handle)
    for place in range(blocks.shape[0]):
        expect_key(core, row + place)
    for place in range(blocks.shape[0]):
        publish(core, 0, row + place, blocks[place])


class ChurnSession:
    """A pool in its steady state: when blocks are keyed, every free one of it has a key."""

    def __init__(self, workload: Churn, output: Output) -> None:
        self._work = workload
        self._output = output
        self._host = engine_of(SHAPE, 1, 8192, workload.pool_blocks).host
        rows = workload.operations * workload.batch_blocks
        core = with_keys(self._host.core, workload.pool_blocks + workload.batch_blocks)
        self._host.use(core._replace(key=np.zeros((rows, KEY_WORDS), np.uint32)))
        self._random = np.random.default_rng(workload.pool_blocks)
        self._held: deque[NDArray[np.int32]] = deque()
        warm = workload.pool_blocks // workload.batch_blocks if workload.keyed else 0
        for first in range(0, warm + workload.held_batches, workload.operations):
            self._turns(min(workload.operations, warm + workload.held_batches - first))

    def settings(self) -> dict[str, Any]:
        now = self._host.core.now
        return {
            "pool_blocks": self._work.pool_blocks,
            "free_blocks": int(now[f.N_FREE]),
            "findable_keys": int(now[f.N_USED_RECORDS]),
        }

    def measure(self, number: int) -> Measured:
        watch = self._turns(self._work.operations)
        count = self._work.operations * self._work.batch_blocks
        filed = count if self._work.keyed else 0
        return Measured.of(watch, self._work.operations, blocks=count, keys=filed)

    def _turns(self, count: int) -> Stopwatch:
        """So many operations, under keys that were never there before."""
        key = self._host.core.key
        key[:] = self._random.integers(0, 1 << 32, key.shape, np.uint32)
        turn = {Output.ARRAYS: self._turn, Output.LISTS: self._list}.get(self._output, self._object)
        watch = Stopwatch()
        watch.start()
        for place in range(count):
            turn(place)
        watch.stop()
        return watch

    def _turn(self, place: int) -> NDArray[np.int32]:
        work, handle, held = self._work, self._host.handle, self._held
        taken = np.empty(work.batch_blocks, np.int32)
        entry.take_into(handle, taken, work.batch_blocks)
        if work.keyed:
            file_batch(handle, taken, place * work.batch_blocks)
        held.append(taken)
        if len(held) > work.held_batches:
            entry.release(handle, held.popleft()[::-1])
        return taken

    def _list(self, place: int) -> list[int]:
        blocks: list[int] = self._turn(place).tolist()
        return blocks

    def _object(self, place: int) -> Taken:
        return Taken(place, self._turn(place).tolist())

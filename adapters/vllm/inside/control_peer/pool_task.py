"""The real block pool alone: batches of blocks taken, filed under keys, and given back."""

import random
from collections import deque
from dataclasses import dataclass
from typing import Any

from . import release
from .clock import Measured, Stopwatch
from .workloads import Churn

UNIT_TOKENS = 16
KEY_BYTES = 32


@dataclass(frozen=True, slots=True)
class Keys:
    """All that the pool reads of a request when it files its blocks."""

    block_hashes: list[bytes]


class ChurnTask:
    """A pool in its steady state: when blocks are keyed, every free one of it has a key."""

    def __init__(self, workload: Churn) -> None:
        self._work = workload
        self._pool = release.BlockPool(
            num_gpu_blocks=workload.pool_blocks, enable_caching=True, hash_block_size=UNIT_TOKENS
        )
        self._random = random.Random(workload.pool_blocks)
        self._held: deque[Any] = deque()
        warm = workload.pool_blocks // workload.batch_blocks if workload.keyed else 0
        for _ in range(warm + workload.held_batches):
            self._turn(self._keys())

    def settings(self) -> dict[str, Any]:
        return {
            "version": release.VERSION,
            "pool_blocks": self._pool.num_gpu_blocks,
            "findable_keys": len(self._pool.cached_block_hash_to_block),
        }

    def measure(self, number: int) -> Measured:
        keys = [self._keys() for _ in range(self._work.operations)]
        watch = Stopwatch()
        watch.start()
        for batch in keys:
            self._turn(batch)
        watch.stop()
        count = self._work.operations * self._work.batch_blocks
        filed = count if self._work.keyed else 0
        return Measured.of(watch, self._work.operations, blocks=count, keys=filed)

    def _turn(self, keys: Keys) -> None:
        work = self._work
        taken = self._pool.get_new_blocks(work.batch_blocks)
        if work.keyed:
            self._pool.cache_full_blocks(keys, taken, 0, work.batch_blocks, UNIT_TOKENS, 0)
        self._held.append(taken)
        if len(self._held) > work.held_batches:
            self._pool.free_blocks(reversed(self._held.popleft()))

    def _keys(self) -> Keys:
        if not self._work.keyed:
            return Keys([])
        return Keys([self._random.randbytes(KEY_BYTES) for _ in range(self._work.batch_blocks)])

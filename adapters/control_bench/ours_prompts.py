"""Whole prompts on our engine: looking one up, and hashing one."""

from typing import Any, NamedTuple

from truehit.adapters.control_bench.ours_engine import engine_of, settings_of
from truehit.adapters.control_bench.ours_steps import Steps
from truehit.adapters.control_bench.works import Output
from truehit.adapters.vllm.inside.control_peer.clock import Measured, Stopwatch
from truehit.adapters.vllm.inside.control_peer.tokens import prompt
from truehit.adapters.vllm.inside.control_peer.workloads import Hashing, Lookup
from truehit.engine import fields as f
from truehit.engine.api import Engine, Hit

DIGEST_BYTES = 32


class Found(NamedTuple):
    """What a request would resume with."""

    request: int
    hit_tokens: int
    blocks: list[list[int]]


class Hashed(NamedTuple):
    """A request and the keys of its prefixes."""

    request: int
    keys: list[bytes]


class LookupSession:
    """A cache with one finished prompt, and new requests that look for theirs."""

    def __init__(self, workload: Lookup, output: Output) -> None:
        self._work = workload
        self._output = output
        self._engine = engine_of(workload.shape, 1, workload.budget_tokens, workload.pool_blocks)
        self._engine.submit(prompt(0, workload.prompt_tokens), output_tokens=1)
        steps = Steps(self._engine, Output.ARRAYS, [workload.prompt_tokens])
        steps.until(1, Stopwatch())

    def settings(self) -> dict[str, Any]:
        return settings_of(self._engine)

    def measure(self, number: int) -> Measured:
        work = self._work
        own = prompt(1, work.prompt_tokens - work.shared_tokens)
        tokens = prompt(0, work.shared_tokens) + own
        requests = [self._engine.submit(tokens, output_tokens=1) for _ in range(work.operations)]
        find = {Output.ARRAYS: self._arrays, Output.LISTS: self._lists}.get(
            self._output, self._object
        )
        watch = Stopwatch()
        watch.start()
        for request in requests:
            find(request)
        watch.stop()
        hit = self._engine.find(requests[0])
        held = sum(1 for group in hit.blocks for block in group.tolist() if block)
        for request in requests:
            self._engine.abort(request)
        return Measured.of(
            watch,
            work.operations,
            tokens=hit.hit_tokens * work.operations,
            blocks=held * work.operations,
        )

    def _arrays(self, request: int) -> Hit:
        return self._engine.find(request)

    def _lists(self, request: int) -> list[list[int]]:
        return [blocks.tolist() for blocks in self._engine.find(request).blocks]

    def _object(self, request: int) -> Found:
        hit = self._engine.find(request)
        return Found(request, hit.hit_tokens, [blocks.tolist() for blocks in hit.blocks])


class HashingSession:
    """Requests with all their hashes, made from one list of token ids."""

    def __init__(self, workload: Hashing, output: Output) -> None:
        self._work = workload
        self._output = output
        self._engine = engine_of(workload.shape, 1, 8192, workload.pool_blocks)
        self._tokens = prompt(0, workload.prompt_tokens)
        self._units = workload.prompt_tokens // workload.shape.unit_tokens

    def settings(self) -> dict[str, Any]:
        return settings_of(self._engine)

    def measure(self, number: int) -> Measured:
        watch = Stopwatch()
        for _ in range(self._work.operations):
            watch.start()
            request = self._engine.submit(self._tokens, output_tokens=1)
            if self._output is not Output.ARRAYS:
                made = self._keys(request)
                if self._output is Output.OBJECTS:
                    Hashed(request, made)
            watch.stop()
            self._engine.abort(request)
        return Measured.of(
            watch,
            self._work.operations,
            tokens=self._work.prompt_tokens * self._work.operations,
            keys=self._units * self._work.operations,
        )

    def _keys(self, request: int) -> list[bytes]:
        """The keys as the peer holds them: bytes in a list."""
        return keys_of(self._engine, request, self._units)


def keys_of(engine: Engine, request: int, units: int) -> list[bytes]:
    """The digests of the first `units` hash units of a live request."""
    core = engine.host.core
    first = int(core.request[engine.host.slots[request], f.R_KEYS])
    data = core.key[first : first + units].astype(">u4").tobytes()
    return [data[at : at + DIGEST_BYTES] for at in range(0, len(data), DIGEST_BYTES)]

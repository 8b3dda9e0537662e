"""Steps of our engine: the worker is played, the engine and its output are timed."""

from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from truehit.adapters.control_bench.ours_engine import engine_of, settings_of
from truehit.adapters.control_bench.works import Output
from truehit.adapters.vllm.inside.control_peer.clock import Measured, Stopwatch
from truehit.adapters.vllm.inside.control_peer.tokens import prompt, sampled
from truehit.adapters.vllm.inside.control_peer.workloads import (
    MOST_STEPS,
    WARM_STEPS,
    Decode,
    Prefill,
)
from truehit.engine.api import Engine
from truehit.engine.batch import Batch


@dataclass(slots=True)
class Answer:
    """What a client is told about its request after a step. Not frozen: the peer's is not either,
    and freezing alone would triple its cost."""

    request: int
    tokens: list[int]
    finished: bool


class Done(NamedTuple):
    """What one step did. `blocks`: handed to the worker, holes left out."""

    requests: int
    sampled: int
    tokens: int
    blocks: int


class Steps:
    """Drives one engine, handing its decisions on in one form of output."""

    def __init__(self, engine: Engine, output: Output, lengths: list[int]) -> None:
        """`lengths`: prompt tokens by request number, counted from the first submitted."""
        self._engine = engine
        self._output = output
        self._lengths: NDArray[np.int64] = np.asarray(lengths, np.int64)

    def step(self, watch: Stopwatch) -> Done:
        """One step, timed without the worker's part."""
        watch.start()
        batch = self._engine.schedule()
        handed = self._hand_on(batch)
        watch.stop()
        requests = batch.requests.copy()
        counts = self._counts(batch, requests)
        tokens, blocks = int((batch.ends - batch.starts).sum()), self._blocks(batch)
        if self._output is Output.ARRAYS:
            flat = np.zeros(int(counts.sum()), np.int32)
            watch.start()
            self._engine.commit(flat, counts)
            watch.stop()
        else:
            pairs = zip(requests.tolist(), counts.tolist(), strict=True)
            answers = [sampled(request, count) for request, count in pairs]
            watch.start()
            self._commit(answers, handed)
            watch.stop()
        return Done(len(requests), int(counts.sum()), tokens, blocks)

    def until(self, sampled_tokens: int, watch: Stopwatch) -> list[Done]:
        """Steps until one of them samples so many tokens."""
        done = [self.step(watch)]
        while done[-1].sampled < sampled_tokens:
            if len(done) == MOST_STEPS:
                raise RuntimeError(
                    f"{MOST_STEPS} steps sampled {done[-1].sampled} of {sampled_tokens} tokens"
                )
            done.append(self.step(watch))
        return done

    def _hand_on(self, batch: Batch) -> Any:
        """The step as its worker gets it."""
        if self._output is Output.ARRAYS:
            return (batch.slots, batch.starts, batch.ends, batch.drafts, batch.table_changes)
        lists = batch.as_lists()
        scheduled = dict(zip(lists.requests, (batch.ends - batch.starts).tolist(), strict=True))
        return lists, scheduled

    def _commit(self, answers: list[list[int]], handed: Any) -> list[Answer]:
        """The samples come in as a list a request; in the third form each request is answered."""
        counts = list(map(len, answers))
        finished = self._engine.commit(list(chain.from_iterable(answers)), counts)
        if self._output is Output.LISTS:
            return []
        requests = handed[0].requests
        is_finished = map(frozenset(finished).__contains__, requests)
        return list(map(Answer, requests, answers, is_finished))

    def _counts(self, batch: Batch, requests: NDArray[np.int64]) -> NDArray[np.int64]:
        """Every draft was right and one token follows; in the middle of a prompt nothing is."""
        is_sampling = batch.ends >= self._lengths[requests]
        return np.where(is_sampling, batch.drafts + 1, 0)

    def _blocks(self, batch: Batch) -> int:
        changes = batch.as_lists().changes
        return sum(1 for row in changes for change in row for block in change.blocks if block)


class DecodeSession:
    """All requests are running and stay so."""

    def __init__(self, workload: Decode, output: Output) -> None:
        self._work = workload
        self._engine = engine_of(workload.shape, workload.running, 8192, workload.pool_blocks)
        lengths = [workload.prompt_tokens(index) for index in range(workload.running)]
        for index, length in enumerate(lengths):
            self._engine.submit(prompt(index, length), output_tokens=workload.output_tokens)
        self._steps = Steps(self._engine, output, lengths)
        whole = workload.running * (1 + workload.shape.drafts)
        self._steps.until(whole, Stopwatch())
        self._warm_up()

    def settings(self) -> dict[str, Any]:
        return settings_of(self._engine)

    def _warm_up(self) -> None:
        for _ in range(WARM_STEPS):
            self._steps.step(Stopwatch())

    def measure(self, number: int) -> Measured:
        self._warm_up()
        watch = Stopwatch()
        keys = self._engine.statistics().published_keys
        done = [self._steps.step(watch) for _ in range(self._work.steps)]
        return Measured.of(
            watch,
            self._work.steps,
            tokens=sum(step.tokens for step in done),
            blocks=sum(step.blocks for step in done),
            keys=self._engine.statistics().published_keys - keys,
        )


class PrefillSession:
    """One prompt after another, each into an empty cache."""

    def __init__(self, workload: Prefill, output: Output) -> None:
        self._work = workload
        self._output = output
        self._engine = engine_of(workload.shape, 1, workload.budget_tokens, workload.pool_blocks)
        self._tokens = prompt(0, workload.prompt_tokens)
        self._submitted = 0

    def settings(self) -> dict[str, Any]:
        return settings_of(self._engine)

    def measure(self, number: int) -> Measured:
        watch = Stopwatch()
        keys = self._engine.statistics().published_keys
        done: list[Done] = []
        for _ in range(self._work.prompts):
            request = self._engine.submit(self._tokens, output_tokens=2)
            self._submitted += 1
            steps = Steps(self._engine, self._output, [len(self._tokens)] * self._submitted)
            done += steps.until(1, watch)
            self._engine.abort(request)
            self._engine.reset_cache()
        return Measured.of(
            watch,
            len(done),
            tokens=sum(step.tokens for step in done),
            blocks=sum(step.blocks for step in done),
            keys=self._engine.statistics().published_keys - keys,
        )

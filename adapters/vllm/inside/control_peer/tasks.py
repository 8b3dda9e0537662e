"""One task a kind of workload: made ready once, then measured round by round."""

from collections.abc import Callable
from typing import Any

from . import subject
from .clock import Measured, Stopwatch
from .pool_task import ChurnTask
from .serve import Task
from .steps import blocks, step, until
from .tokens import prompt
from .workloads import WARM_STEPS, Churn, Decode, Hashing, Lookup, Prefill, Workload


def make(workload: Workload) -> Task:
    """Build the scheduler and bring it to where the workload begins."""
    match workload:
        case Decode():
            return DecodeTask(workload)
        case Prefill():
            return PrefillTask(workload)
        case Lookup():
            return LookupTask(workload)
        case Hashing():
            return HashingTask(workload)
        case Churn():
            return ChurnTask(workload)


class DecodeTask:
    """All requests are running and stay so."""

    def __init__(self, workload: Decode) -> None:
        self._work = workload
        self._subject = subject.build(workload.shape, workload.running, 8192, workload.pool_blocks)
        for index in range(workload.running):
            tokens = prompt(index, workload.prompt_tokens(index))
            request = self._subject.request(str(index), tokens, workload.output_tokens)
            self._subject.scheduler.add_request(request)
        for _ in until(self._all_decode, self._subject, workload.shape.drafts, Stopwatch()):
            pass
        self._warm_up()

    def settings(self) -> dict[str, Any]:
        return subject.settings(self._subject)

    def _warm_up(self) -> None:
        for _ in range(WARM_STEPS):
            self._step(Stopwatch())

    def measure(self, number: int) -> Measured:
        self._warm_up()
        watch = Stopwatch()
        keys = self._subject.keys()
        tokens = taken = 0
        for _ in range(self._work.steps):
            output = self._step(watch)
            tokens += output.total_num_scheduled_tokens
            taken += blocks(output)
        found = self._subject.keys() - keys
        return Measured.of(watch, self._work.steps, tokens=tokens, blocks=taken, keys=found)

    def _step(self, watch: Stopwatch) -> Any:
        return step(self._subject, self._work.shape.drafts, watch)

    def _all_decode(self) -> bool:
        running = self._subject.scheduler.running
        return len(running) == self._work.running and all(r.num_output_tokens for r in running)


class PrefillTask:
    """One prompt after another, each into an empty cache."""

    def __init__(self, workload: Prefill) -> None:
        self._work = workload
        self._subject = subject.build(
            workload.shape, 1, workload.budget_tokens, workload.pool_blocks
        )
        self._tokens = prompt(0, workload.prompt_tokens)
        self.measure(0)

    def settings(self) -> dict[str, Any]:
        return subject.settings(self._subject)

    def measure(self, number: int) -> Measured:
        watch = Stopwatch()
        scheduler = self._subject.scheduler
        steps = tokens = taken = keys = 0
        for _ in range(self._work.prompts):
            request = self._subject.request("0", self._tokens)
            scheduler.add_request(request)
            for output in until(_answered(request), self._subject, 0, watch):
                steps += 1
                tokens += output.total_num_scheduled_tokens
                taken += blocks(output)
            keys += self._subject.keys()
            self._subject.finish_all()
            scheduler.schedule()
            if not scheduler.reset_prefix_cache():
                raise RuntimeError("the cache could not be emptied between two prompts")
        return Measured.of(watch, steps, tokens=tokens, blocks=taken, keys=keys)


class LookupTask:
    """A cache with one finished prompt, and new requests that look for theirs."""

    def __init__(self, workload: Lookup) -> None:
        self._work = workload
        self._subject = subject.build(
            workload.shape, 1, workload.budget_tokens, workload.pool_blocks
        )
        cached = self._subject.request("0", prompt(0, workload.prompt_tokens))
        self._subject.scheduler.add_request(cached)
        for _ in until(_answered(cached), self._subject, 0, Stopwatch()):
            pass
        self._subject.finish_all()
        self._subject.scheduler.schedule()

    def settings(self) -> dict[str, Any]:
        return subject.settings(self._subject)

    def measure(self, number: int) -> Measured:
        work = self._work
        own = prompt(1, work.prompt_tokens - work.shared_tokens)
        tokens = prompt(0, work.shared_tokens) + own
        requests = [self._subject.request(str(i), tokens) for i in range(1, work.operations + 1)]
        find = self._subject.scheduler.kv_cache_manager.get_computed_blocks
        watch = Stopwatch()
        watch.start()
        for request in requests:
            found = find(request)
        watch.stop()
        pages, hit_tokens = found[0], found[1]
        held = sum(1 for group in pages.blocks for block in group if not block.is_null)
        return Measured.of(
            watch,
            work.operations,
            tokens=hit_tokens * work.operations,
            blocks=held * work.operations,
        )


class HashingTask:
    """Requests with all their hashes, made from one list of token ids."""

    def __init__(self, workload: Hashing) -> None:
        self._work = workload
        self._subject = subject.build(workload.shape, 1, 8192, workload.pool_blocks)
        self._tokens = prompt(0, workload.prompt_tokens)

    def settings(self) -> dict[str, Any]:
        return subject.settings(self._subject)

    def measure(self, number: int) -> Measured:
        watch = Stopwatch()
        keys = 0
        for _ in range(self._work.operations):
            watch.start()
            request = self._subject.request("0", self._tokens)
            watch.stop()
            keys += len(request.block_hashes)
        tokens = self._work.prompt_tokens * self._work.operations
        return Measured.of(watch, self._work.operations, tokens=tokens, keys=keys)


def _answered(request: Any) -> Callable[[], bool]:
    """Whether a token of the request was sampled."""
    return lambda: request.num_output_tokens > 0

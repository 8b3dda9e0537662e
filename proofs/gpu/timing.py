"""How long a launch takes: inputs rotate, so that a cache of the last launch helps nobody; a graph
is replayed, so that the host costs nothing; the median of replays counts."""

import statistics
from collections.abc import Callable, Sequence
from typing import Protocol

import torch

Run = Callable[[], object]
COLD_BYTES = 128 << 20
"""More than any cache holds."""
LEAST_SETS = 3
MOST_SETS = 32
WARM_REPLAYS = 3
LEAST_REPLAYS = 10
MOST_REPLAYS = 100
REPLAYED_SECONDS = 0.4


class Timer(Protocol):
    """What tells time."""

    def measure(self, runs: Sequence[Run]) -> tuple[float, int]:
        """Seconds of one run, median over repetitions of all of them; and how many."""
        ...


def sets_of(moved_bytes: int) -> int:
    """How many sets of inputs make the last use of one cold."""
    return min(max(-(-COLD_BYTES // moved_bytes), LEAST_SETS), MOST_SETS)


def replays_of(seconds: float) -> int:
    """How many replays of this length."""
    wanted = int(REPLAYED_SECONDS / max(seconds, 1e-9))
    return min(max(wanted, LEAST_REPLAYS), MOST_REPLAYS)


class GraphTimer:
    """CUDA only: all runs in one graph, events around each replay."""

    def measure(self, runs: Sequence[Run]) -> tuple[float, int]:
        stream: torch.cuda.Stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        stream.wait_stream(torch.cuda.current_stream())
        # What is compiled or tuned at a first launch is not captured; twice, for caches of tuning.
        with torch.cuda.stream(stream):
            for run in (*runs, *runs):
                run()
        torch.cuda.current_stream().wait_stream(stream)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for run in runs:
                run()
        once = [self._replay(graph, 1)[0] for _ in range(WARM_REPLAYS)]
        seconds = self._replay(graph, replays_of(once[-1]))
        return statistics.median(seconds) / len(runs), len(seconds)

    def _replay(self, graph: torch.cuda.CUDAGraph, count: int) -> list[float]:
        pairs = []
        for _ in range(count):
            begin, end = _event(), _event()
            begin.record()
            graph.replay()
            end.record()
            pairs.append((begin, end))
        torch.cuda.synchronize()
        return [begin.elapsed_time(end) / 1e3 for begin, end in pairs]


def _event() -> torch.cuda.Event:
    return torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]


class ClockTimer:
    """Any device that does not run ahead of the host: a clock before and after all runs."""

    def __init__(self, clock: Callable[[], float], repetitions: int) -> None:
        self._clock = clock
        self._repetitions = repetitions

    def measure(self, runs: Sequence[Run]) -> tuple[float, int]:
        for run in runs:
            run()
        seconds = []
        for _ in range(self._repetitions):
            begin = self._clock()
            for run in runs:
                run()
            seconds.append(self._clock() - begin)
        return statistics.median(seconds) / len(runs), self._repetitions

"""Two children that compile side by side. A compiler may end the process it runs in: then that job
is lost, and the next one gets a new child."""

import queue
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from truehit.kernels.gate.child import JOB_LIMIT_SECONDS, Child, ChildLost
from truehit.kernels.gate.measurement import Found, Job, Lost, Taken
from truehit.kernels.gate.toolchain import Toolchain

PROCESSES = 2


class Bench:
    """A seat for a child, which is started when it is first needed."""

    def __init__(self, start: Callable[[], Child]) -> None:
        self._start = start
        self._child: Child | None = None

    def found(self) -> Found:
        """What there is to compile.

        Raises:
            ChildLost: no child starts.
        """
        self._child = self._child or self._start()
        return self._child.found

    def take(self, job: Job) -> Taken:
        """A job and its answer, which may be that there is none."""
        try:
            self._child = self._child or self._start()
            return Taken(job, self._child.ask(job))
        except ChildLost as loss:
            self.close()
            return Taken(job, Lost(str(loss)))

    def close(self) -> None:
        """End the child, if there is one."""
        if self._child is not None:
            self._child.close()
        self._child = None


class Benches:
    """The children of one toolchain."""

    def __init__(self, start: Callable[[], Child], processes: int) -> None:
        self._all = [Bench(start) for _ in range(processes)]

    def found(self) -> Found:
        """What there is to compile.

        Raises:
            ChildLost: no child starts.
        """
        return self._all[0].found()

    def take(self, jobs: Iterable[Job]) -> Iterator[Taken]:
        """Answers in the order of the jobs, as they come."""
        idle: queue.SimpleQueue[Bench] = queue.SimpleQueue()
        for bench in self._all:
            idle.put(bench)

        def one(job: Job) -> Taken:
            bench = idle.get()
            try:
                return bench.take(job)
            finally:
                idle.put(bench)

        with ThreadPoolExecutor(len(self._all)) as pool:
            yield from pool.map(one, jobs)

    def close(self) -> None:
        """End all children."""
        for bench in self._all:
            bench.close()


@contextmanager
def started(
    toolchain: Toolchain,
    processes: int = PROCESSES,
    limit_seconds: float = JOB_LIMIT_SECONDS,
) -> Iterator[Benches]:
    """The children of a toolchain, ended at the end."""
    benches = Benches(lambda: Child(toolchain, limit_seconds), processes)
    try:
        yield benches
    finally:
        benches.close()

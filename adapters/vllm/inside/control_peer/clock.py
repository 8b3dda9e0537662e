"""What an operation costs: wall time, and the CPU time of the one thread that does the work.

The garbage collector is off while the clock runs and what was prepared is frozen, on both sides:
its pauses would fall on whichever side happens to reach a threshold, and mostly on the one that
makes more objects. So the comparison leaves them out, in that side's favour.
"""

import gc
import time
from dataclasses import dataclass, field


@dataclass(slots=True)
class Stopwatch:
    """Adds up what lies between `start` and `stop`."""

    wall_ns: int = 0
    cpu_ns: int = 0
    _wall: int = field(default=0, repr=False)
    _cpu: int = field(default=0, repr=False)

    def start(self) -> None:
        self._wall = time.perf_counter_ns()
        self._cpu = time.thread_time_ns()

    def stop(self) -> None:
        self.cpu_ns += time.thread_time_ns() - self._cpu
        self.wall_ns += time.perf_counter_ns() - self._wall


@dataclass(frozen=True, slots=True)
class Measured:
    """One round. `counts`: what was done in all of it, to show that both sides did the same."""

    operations: int
    wall_us: float
    cpu_us: float
    counts: dict[str, int]

    @classmethod
    def of(cls, watch: Stopwatch, operations: int, **counts: int) -> "Measured":
        return cls(operations, watch.wall_ns / 1000, watch.cpu_ns / 1000, counts)


def settle() -> None:
    """Call before a round: nothing is left to collect, and nothing will be collected in it."""
    gc.enable()
    gc.collect()
    gc.freeze()
    gc.disable()

"""The benchmark fixture with types: what is measured, how often, and what is noted beside it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from pytest_benchmark.fixture import BenchmarkFixture

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Measured:
    """`whole`: in `make bench`; otherwise everything runs once, small, and nothing is timed."""

    benchmark: BenchmarkFixture
    whole: bool

    def of(self, function: Callable[..., Result], *arguments: object, rounds: int) -> Result:
        """The result of the last of so many rounds."""
        pedantic: Callable[..., Result] = self.benchmark.pedantic
        return pedantic(function, arguments, rounds=rounds)

    def note(self, **numbers: Any) -> None:
        """Numbers beside the time, in the report's `extra_info`."""
        self.benchmark.extra_info.update(numbers)

    def note_rate(self, events: int) -> None:
        """Events a second in the fastest round."""
        if self.benchmark.stats is not None:
            fastest_seconds = self.benchmark.stats.stats.min
            self.note(events=events, events_per_second=round(events / fastest_seconds))

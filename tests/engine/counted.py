"""Run as a program, without compilation: how many array elements a decode step touches.

Every array of the engine becomes one that counts the elements read from it and written to it.
Prints the counts of each step as JSON. It says nothing about time, and does not see a loop that
touches nothing."""

import json
import sys
from typing import Any, ClassVar

import numpy as np

from truehit.engine import entry
from truehit.engine.api import Engine
from truehit.spec.geometry import Geometry, Group, Kind, ReachOnly


class Counting(np.ndarray[Any, Any]):
    """An array that counts elements, its views included."""

    touched: ClassVar[int] = 0

    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(key)
        # A view touches nothing; whoever reads it does.
        if not isinstance(found, np.ndarray):
            Counting.touched += 1
        return found

    def __setitem__(self, key: Any, value: Any) -> None:
        Counting.touched += int(np.size(super().__getitem__(key)))
        super().__setitem__(key, value)

    def __iter__(self) -> Any:
        return (self[index] for index in range(len(self)))

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        Counting.touched += sum(int(np.size(one)) for one in inputs)
        plain = [one.view(np.ndarray) if isinstance(one, Counting) else one for one in inputs]
        return getattr(ufunc, method)(*plain, **options)


def prepared(pool_blocks: int, prompt_tokens: int, running: int, output: int) -> Engine:
    """So many requests decode; nothing waits."""
    groups = (
        Group("attention", Kind.FULL_ATTENTION, 16),
        Group("window", Kind.SLIDING_WINDOW, 16, window_tokens=64),
        Group("state", Kind.RECURRENT_STATE, 32),
    )
    geometry = Geometry(
        groups,
        16,
        retention=ReachOnly(),
        budget_tokens=max(4096, 2 * running),
        max_model_tokens=64_000,
        pool_blocks=pool_blocks,
        max_running=running,
    )
    engine = Engine(geometry)
    for n in range(running):
        prompt = [(n + 31 * at) % 50_021 for at in range(prompt_tokens)]
        engine.submit(prompt, output_tokens=output)
    while not all(step(engine)) or engine.host.waiting:
        pass
    return engine


def step(engine: Engine) -> list[bool]:
    """Schedule and commit; which rows sampled."""
    engine.schedule()
    slice_, rows = engine.host.in_flight[0]
    counts = [entry.count_bounds(engine.host.handle, slice_, row, True)[1] for row in range(rows)]
    engine.commit([7] * sum(counts), counts)
    return [count > 0 for count in counts]


def touched(engine: Engine, steps: int) -> list[int]:
    """Elements touched in each of the next steps."""
    host, counts = engine.host, list[int]()
    host.use(host.core._replace(**{n: a.view(Counting) for n, a in host.core._asdict().items()}))
    for _ in range(steps):
        before = Counting.touched
        engine.schedule()
        scheduled = Counting.touched - before
        rows = host.in_flight[0][1]
        before = Counting.touched
        engine.commit([7] * rows, [1] * rows)
        counts.append(scheduled + Counting.touched - before)
    return counts


if __name__ == "__main__":
    asked: list[tuple[int, int, int]] = json.loads(sys.argv[1])
    answers = [touched(prepared(*sizes, output=600), 64) for sizes in asked]
    print(json.dumps(answers))

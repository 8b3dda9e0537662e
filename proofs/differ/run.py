"""A whole differential: what is listed first, then drawn runs until enough steps were compared.

Parts run side by side and are added up in order, so that a seed and a number of steps give the same
counts on every machine."""

from collections.abc import Callable, Iterator

from joblib import Parallel, delayed

from truehit.proofs.differ.parts import (
    Compared,
    DrawnPart,
    GoldenPart,
    ListedPart,
    Part,
    compare_part,
    merged,
)
from truehit.proofs.differ.sources import case_runs, golden_entries, regression_runs

SLICE_RUNS = 25
"""About 3,000 steps: less than two seconds of work a slice."""
GOLDEN_SLICE = 24
ENOUGH = 10
"""Differing runs after which nothing more is drawn: one defect shows in many."""

Progress = Callable[[int, int, str], None]


def known_parts() -> list[Part]:
    """Everything that is not drawn."""
    entries = golden_entries()
    slices = range(0, len(entries), GOLDEN_SLICE)
    parts: list[Part] = [GoldenPart(entries[first : first + GOLDEN_SLICE]) for first in slices]
    parts.append(ListedPart("regressions", regression_runs()))
    parts.append(ListedPart("cases", case_runs()))
    return parts


def drawn_parts(
    first_seed: int, rules: str | None, slice_runs: int = SLICE_RUNS
) -> Iterator[DrawnPart]:
    """Slices of drawn runs without end."""
    while True:
        yield DrawnPart(first_seed, slice_runs, rules)
        first_seed += slice_runs


def differential(
    subject: str,
    parts: list[Part],
    drawn: Iterator[DrawnPart],
    steps: int,
    jobs: int,
    progress: Progress,
) -> Compared:
    """Compare all parts, then drawn ones until `steps` steps of the oracle were drawn and compared.

    `progress(done, total, name)` is called in steps."""
    done: list[Compared] = []
    drawn_steps = differing = 0
    finished = False

    def work() -> Iterator[Part]:
        yield from parts
        while not finished and steps > 0:
            yield next(drawn)

    parallel = Parallel(n_jobs=jobs, return_as="generator", batch_size=1)
    for number, part in enumerate(parallel(delayed(compare_part)(p, subject) for p in work())):
        if finished:
            continue
        done.append(part)
        differing += part.total.differences
        if number >= len(parts):
            drawn_steps += part.total.steps
        finished = number + 1 >= len(parts) and (drawn_steps >= steps or differing >= ENOUGH)
        progress(min(drawn_steps, steps), steps, next(iter(part.sources)))
    return merged(done)

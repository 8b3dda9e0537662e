"""Work in proportion to what changes: elements touched in a decode step, counted, not timed.

Two whole pages and one state grid pass in 64 steps, so quiet steps, page steps and grid steps are
all among them. Runs the engine's own code uncompiled, in a process of its own."""

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

COUNTED = Path(__file__).with_name("counted.py")
SMALL = (1_000, 1_024, 1)
LARGE_POOL = (100_000, 1_024, 1)
LONG_PROMPT = (100_000, 20_480, 1)
SIXTEEN = (100_000, 1_024, 16)
THIRTY_TWO = (100_000, 1_024, 32)


@cache
def counts() -> dict[tuple[int, ...], list[int]]:
    """Elements touched in each of 64 decode steps, by (blocks, prompt tokens, running)."""
    sizes = (SMALL, LARGE_POOL, LONG_PROMPT, SIXTEEN, THIRTY_TWO)
    done = subprocess.run(
        [sys.executable, str(COUNTED), json.dumps(sizes)],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        timeout=250,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return dict(zip(sizes, json.loads(done.stdout), strict=True))


def costs_the_same(one: tuple[int, ...], other: tuple[int, ...]) -> None:
    """Step by step; a few keys more or less may share a bucket."""
    pairs = list(zip(counts()[one], counts()[other], strict=True))
    assert max(abs(mine - theirs) for mine, theirs in pairs) <= 12
    quiet = min(counts()[one])
    assert [mine for mine, _ in pairs if mine == quiet] == [n for _, n in pairs if n == quiet]


def test_a_pool_a_hundred_times_as_large_costs_nothing() -> None:
    costs_the_same(SMALL, LARGE_POOL)


def test_a_prompt_and_its_table_twenty_times_as_long_cost_nothing() -> None:
    costs_the_same(LARGE_POOL, LONG_PROMPT)


def test_a_quiet_step_costs_less_than_one_that_changes_a_table() -> None:
    steps = counts()[SMALL]
    quiet, page = min(steps), max(steps)
    assert steps.count(quiet) >= 50
    assert quiet < 150
    assert page > 2 * quiet


def test_twice_the_requests_cost_twice_as_much() -> None:
    sixteen, thirty_two = sum(counts()[SIXTEEN]), sum(counts()[THIRTY_TWO])
    assert thirty_two <= 2 * sixteen

"""The same scenario gives the same trace, byte by byte: in one process, and under any hash seed."""

import hashlib
import io
import os
import subprocess
import sys

import pytest

from truehit.proofs.sweep.draw import draw
from truehit.proofs.sweep.features import covering_sets
from truehit.reference.run import run
from truehit.spec.scenario import Scenario
from truehit.spec.trace_file import write_events

SEEDS = range(12)


def drawn(seed: int) -> Scenario:
    return draw(seed, covering_sets(1, 8)[seed])


def text_of(scenario: Scenario) -> str:
    """The trace as a file."""
    lines = io.StringIO()
    write_events(lines, run(scenario).events)
    return lines.getvalue()


def digest() -> str:
    return hashlib.sha256("".join(text_of(drawn(seed)) for seed in SEEDS).encode()).hexdigest()


@pytest.mark.parametrize("seed", SEEDS)
def test_the_same_scenario_gives_equal_events(seed: int) -> None:
    first, second = run(drawn(seed)), run(drawn(seed))
    assert first.events == second.events
    assert first.served == second.served


def test_traces_do_not_depend_on_the_hash_seed() -> None:
    """Two other processes with other seeds write the very same bytes."""
    digests = {digest()}
    for seed in ("0", "4711"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        answer = subprocess.run(
            [sys.executable, __file__], env=environment, capture_output=True, text=True, check=True
        )
        digests.add(answer.stdout.strip())
    assert len(digests) == 1


if __name__ == "__main__":
    print(digest())

"""Events a second: reading a trace from its text, and judging parsed events by all thirteen laws.

The trace is the oracle's: requests that decode beside each other with one draft, a third of which
is rejected. `tests/spec/laws/bench_laws.py` has other shapes.
"""

import io
import time

import pytest

from truehit.reference.ruleset import DEFAULT
from truehit.reference.run import run
from truehit.spec.geometry import Geometry, Group, Kind
from truehit.spec.laws.judge import check_trace
from truehit.spec.scenario import Request, Scenario
from truehit.spec.tokens import Segment
from truehit.spec.trace import Event
from truehit.spec.trace_file import read_events, write_events

from .measured import Measured

pytestmark = pytest.mark.benchmark(timer=time.process_time)
SMALL_TOKENS, WHOLE_TOKENS = 40, 900
REQUESTS = 32


@pytest.fixture
def events(measured: Measured) -> tuple[Event, ...]:
    """The trace of a run that breaks no law."""
    groups = (
        Group("attention", Kind.FULL_ATTENTION, 16),
        Group("state", Kind.RECURRENT_STATE, 512),
    )
    output_tokens = WHOLE_TOKENS if measured.whole else SMALL_TOKENS
    requests = tuple(
        Request(f"r{i}", (Segment(f"doc-{i}", 300),), output_tokens, accepted=(1, 0, 1))
        for i in range(REQUESTS)
    )
    geometry = Geometry(groups, hash_unit_tokens=16, drafts=1, pool_blocks=20_000)
    return run(Scenario("decoding", geometry, requests), DEFAULT).events


def test_judging_events(measured: Measured, events: tuple[Event, ...]) -> None:
    verdict = measured.of(check_trace, events, rounds=5)
    assert verdict.violations == ()
    assert verdict.not_observed == ()
    measured.note_rate(len(events))


def test_reading_events(measured: Measured, events: tuple[Event, ...]) -> None:
    file = io.StringIO()
    write_events(file, events)
    text = file.getvalue()

    def read() -> list[Event]:
        return list(read_events(io.StringIO(text)))

    assert measured.of(read, rounds=5) == list(events)
    measured.note_rate(len(events))

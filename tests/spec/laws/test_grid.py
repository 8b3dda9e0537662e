"""grid: where the chunks of a prefill end."""

import pytest

from truehit.spec.geometry import Dense, Interval, ReachOnly, Retention
from truehit.spec.laws.base import ViolationClass

from .script import Script, geometry
from .test_clean import two_requests


def chunk(
    start: int,
    end: int,
    retention: Retention,
    checkpoint: int | None = None,
    junction: int | None = None,
) -> Script:
    """One chunk of a prompt of 23 tokens: legal(23) = extend(23) = 20."""
    script = Script(geometry(retention=retention)).submit("a", ("doc", 23))
    script.lookup("a", 22, 0, junction)
    return script.schedule("a", start, end, 23, checkpoint=checkpoint).complete()


def test_a_clean_carve_passes() -> None:
    assert two_requests().sentences("grid") == []


@pytest.mark.parametrize(
    ("start", "end"), [(0, 4), (0, 20), (0, 3), (4, 6), (6, 8), (20, 23), (1, 2), (12, 16)]
)
def test_allowed_ends_pass(start: int, end: int) -> None:
    assert chunk(start, end, ReachOnly()).sentences("grid") == []


def test_a_start_inside_a_block_does_not_pass_its_end() -> None:
    script = chunk(6, 12, ReachOnly())
    assert script.sentences("grid") == [
        "request a: chunk [6, 12) starts inside a block and passes its end 8 (step 0)"
    ]
    assert script.judge().violations[0].violation_class is ViolationClass.CORRUPT


def test_an_end_off_the_grid_is_named() -> None:
    assert chunk(0, 6, ReachOnly()).sentences("grid") == [
        "request a: chunk [0, 6) ends off the grid of 4, at no kept position, beyond 4 (step 0)"
    ]


@pytest.mark.parametrize(("retention", "stop"), [(Dense(), 4), (Interval(8), 8), (ReachOnly(), 20)])
def test_a_kept_position_is_not_passed(retention: Retention, stop: int) -> None:
    assert chunk(0, 23, retention).sentences("grid") == [
        f"request a: chunk [0, 23) passes the kept position {stop} and does not export it (step 0)"
    ]


def test_one_kept_position_may_be_exported() -> None:
    assert chunk(0, 23, ReachOnly(), checkpoint=20).sentences("grid") == []
    assert chunk(0, 12, Dense(), checkpoint=4).sentences("grid") == [
        "request a: chunk [0, 12) passes the kept position 8 and does not export it (step 0)"
    ]


def test_a_junction_is_a_kept_position() -> None:
    assert chunk(0, 20, ReachOnly(), junction=12).sentences("grid") == [
        "request a: chunk [0, 20) passes the kept position 12 and does not export it (step 0)"
    ]
    assert chunk(0, 12, ReachOnly(), junction=12).sentences("grid") == []


def test_decode_is_not_judged() -> None:
    assert chunk(23, 26, Dense()).sentences("grid") == []

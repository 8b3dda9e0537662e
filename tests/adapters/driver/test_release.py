"""Two real releases, the oldest and the newest: chunks, hits and keys are those that were known
before; a version that nobody tried is driven, and says so."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from truehit.adapters.vllm.driver import Driven, Driver
from truehit.adapters.vllm.environment import Environment, build, user_layout
from truehit.adapters.vllm.known.play import drop_modes, scenario_of
from truehit.spec.geometry import Geometry, Group, Kind, Lookahead
from truehit.spec.laws.judge import check_trace
from truehit.spec.scenario import Request, Scenario
from truehit.spec.tokens import Segment
from truehit.spec.trace import Lookup, Publish, Schedule

pytestmark = [pytest.mark.releases, pytest.mark.timeout(1800)]


def is_here(release: str) -> bool:
    """Somebody has brought it before."""
    return user_layout().release(release).is_dir()


@pytest.fixture(scope="module")
def oldest() -> Iterator[Driver]:
    with Driver(build("0.26.0", print)) as driver:
        yield driver


@pytest.fixture(scope="module")
def environment() -> Environment:
    return build("0.33.0", print)


@pytest.fixture(scope="module")
def newest(environment: Environment) -> Iterator[Driver]:
    with Driver(environment) as driver:
        yield driver


def carve(driven: Driven, request: str) -> list[tuple[int, int]]:
    """The prefill of a request."""
    return [
        (event.start, event.end)
        for event in driven.trace
        if isinstance(event, Schedule)
        and event.request == request
        and event.start < min(event.end, event.prefill_end)
    ]


def hits(driven: Driven) -> list[int]:
    return [event.hit_tokens for event in driven.trace if isinstance(event, Lookup)]


def test_the_oldest_cuts_the_fifth_prompt_off_and_files_it_wrongly(oldest: Driver) -> None:
    driven = oldest.run(scenario_of("S4"))
    assert carve(driven, "r4") == [(0, 364), (364, 1957)]
    found = {(v.request, v.block) for v in check_trace(driven.trace).of_law("provenance")}
    # Two prompts of ten are cut off; the blocks are those of the published report.
    assert found == {("r4", 26), ("r8", 51)}


def test_the_newest_puts_the_fifth_prompt_off(newest: Driver) -> None:
    driven = newest.run(scenario_of("S4"))
    assert carve(driven, "r4") == [(0, 1957)]
    assert check_trace(driven.trace).of_law("provenance") == ()


def test_sends_of_one_prompt(oldest: Driver, newest: Driver) -> None:
    assert hits(oldest.run(scenario_of("S2"))) == [0, 0, 3200, 3200]
    assert hits(newest.run(scenario_of("S2"))) == [0, 4800, 4800, 4800]


def test_keys_that_look_ahead_are_one_block_longer(newest: Driver) -> None:
    dropped, ahead = drop_modes(scenario_of("S3"))
    assert hits(newest.run(dropped)) == [0, 4800, 4800, 4800]
    driven = newest.run(ahead)
    assert driven.scenario.geometry.drop == Lookahead(1)
    assert hits(driven)[1:] == [6400, 6400, 6400]


def test_retention_of_the_oldest_is_a_variable(oldest: Driver) -> None:
    facts = oldest.facts()
    assert (facts["retention_is_option"], facts["knows_lookahead"]) == (False, False)
    kept = {
        tokens
        for event in oldest.run(scenario_of("S3")).trace
        if isinstance(event, Publish) and event.group == "state" and event.request == "send"
        for tokens, _ in event.keys
    }
    # The reachable boundary of 7292 tokens is 6400, which no chunk of (0, 4800)(4800, 7292) saves.
    assert kept == set()


def test_what_a_release_refuses_is_an_error_at_its_first_step(oldest: Driver) -> None:
    driven = oldest.run(scenario_of("S1-grid"))
    (fault,) = driven.faults
    assert fault.step == 0
    assert "must be divisible by hash_block_size" in fault.message


# Release -> the block that a start-up configures with a ring of 8 beside state blocks of 32, and
# the block by which the default worker finds a resumed state.
BLOCKS = {"0.29.0": (8, 8), "0.31.0": (32, 32), "0.33.0": (32, 32)}
# The same with pages of 16 beside state blocks of 32.
PAGES = {"0.29.0": (16, 16), "0.31.0": (16, 16), "0.32.0": (16, 32), "0.33.0": (16, 32)}


@pytest.mark.parametrize("release", [v for v in PAGES if v == "0.33.0" or is_here(v)])
def test_the_smallest_block_is_configured_and_older_workers_divide_by_it(release: str) -> None:
    ring = Group("ring", Kind.CIRCULAR_BUFFER, 8)
    with Driver(build(release, print)) as driver:
        if release in BLOCKS:
            assert blocks(driver, 32, ring) == BLOCKS[release]
        assert blocks(driver, 16) == PAGES[release]


def blocks(driver: Driver, page_tokens: int, *more: Group) -> tuple[int, int]:
    """The configured block and the worker's, with state blocks of 32."""
    pages = Group("attention", Kind.FULL_ATTENTION, page_tokens)
    state = Group("state", Kind.RECURRENT_STATE, 32)
    equal = page_tokens == 32
    geometry = Geometry((pages, state, *more), hash_unit_tokens=page_tokens, fine_hits=not equal)
    request = Request("r", (Segment("doc", 8),))
    facts = driver.run(Scenario("blocks", geometry, (request,))).facts
    return facts["configured_block_tokens"], facts["seed_block_tokens"]


def test_a_tried_release_says_so(newest: Driver) -> None:
    assert newest.facts()["bridge"] == "0.33.0"


def test_a_version_that_nobody_tried_is_driven_as_the_newest(
    environment: Environment, tmp_path: Path
) -> None:
    package = tmp_path / "vllm"
    package.mkdir()
    for part in environment.package.iterdir():
        if part.name not in ("_version.py", "__pycache__"):
            (package / part.name).symlink_to(part)
    text = '__version__ = version = "0.99.0"\n__version_tuple__ = version_tuple = (0, 99, 0)\n'
    (package / "_version.py").write_text(text, encoding="utf-8")
    later = replace(environment, package=package, path=(tmp_path, *environment.path))
    with Driver(later) as driver:
        driven = driver.run(scenario_of("S2"))
    assert (driven.facts["version"], driven.facts["bridge"]) == ("0.99.0", "newest")
    assert hits(driven) == [0, 4800, 4800, 4800]

"""With its repair a known defect is gone from the release that has it, and nothing else changes:
what is clean stays as it was."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from truehit.adapters.vllm.driver import Driven, Driver
from truehit.adapters.vllm.environment import build
from truehit.adapters.vllm.inside.driver import historic
from truehit.adapters.vllm.inside.driver.repairs import STATE_GRID, STOP_AT_BLOCKS
from truehit.adapters.vllm.known.play import scenario_of
from truehit.spec.geometry import NoDrop
from truehit.spec.laws.judge import check_trace
from truehit.spec.scenario import Scenario
from truehit.spec.trace import Lookup, Schedule

pytestmark = [pytest.mark.releases, pytest.mark.timeout(1800)]


@pytest.fixture(scope="module")
def oldest() -> Iterator[Driver]:
    with Driver(build("0.26.0", print)) as driver:
        yield driver


@pytest.fixture(scope="module")
def newest() -> Iterator[Driver]:
    with Driver(build("0.33.0", print)) as driver:
        yield driver


def run(driver: Driver, scenario: Scenario, *repairs: str) -> Driven:
    driven = driver.run(scenario, {"repairs": list(repairs)})
    assert driven.faults == ()
    return driven


def hits(driven: Driven) -> list[int]:
    return [event.hit_tokens for event in driven.trace if isinstance(event, Lookup)]


def corrupt(driven: Driven) -> set[str]:
    """The laws that are broken so that wrong bytes can be served."""
    violations = check_trace(driven.trace).violations
    return {v.law for v in violations if v.violation_class.value == "corrupt"}


def without_drop() -> Scenario:
    scenario = scenario_of("S2")
    return replace(scenario, geometry=replace(scenario.geometry, drop=NoDrop()))


def test_chunks_that_end_on_blocks_are_filed_rightly(oldest: Driver) -> None:
    assert corrupt(run(oldest, scenario_of("S4"))) == {"grid", "provenance", "commit"}
    mended = run(oldest, scenario_of("S4"), historic.ALIGN_ENDS)
    assert corrupt(mended) == set()
    ends = [e.end for e in mended.trace if isinstance(e, Schedule) and e.request == "r4"]
    assert 364 not in ends and ends[1] == 1957


def test_a_match_above_the_cap_finds_the_aligned_prompt(oldest: Driver) -> None:
    assert hits(run(oldest, scenario_of("S2")))[1] == 0
    assert hits(run(oldest, scenario_of("S2"), historic.MATCH_ABOVE_CAP))[1] == 4800


def test_a_stop_below_the_end_is_found_by_the_aligned_prompt(oldest: Driver) -> None:
    assert hits(run(oldest, without_drop()))[1] == 0
    assert hits(run(oldest, without_drop(), historic.STOP_BELOW_END))[1] == 4800


def test_a_state_kept_below_the_drop_is_found(oldest: Driver) -> None:
    assert hits(run(oldest, scenario_of("S3")))[1] == 0
    assert hits(run(oldest, scenario_of("S3"), historic.KEEP_BELOW_DROP))[1] == 4800


def test_the_grid_of_the_state_group(newest: Driver) -> None:
    assert "provenance" in corrupt(run(newest, scenario_of("S1-grid")))
    assert corrupt(run(newest, scenario_of("S1-grid"), STATE_GRID)) == set()


def test_a_stop_at_every_block_is_found_by_a_sibling(newest: Driver) -> None:
    assert hits(run(newest, scenario_of("S1-stop")))[1] == 0
    assert hits(run(newest, scenario_of("S1-stop"), STOP_AT_BLOCKS))[1] == 4944


@pytest.mark.parametrize("name", ["S0", "S2", "S3", "S4"])
@pytest.mark.parametrize("repair", sorted(historic.HISTORIC))
def test_what_the_newest_does_not_have_cannot_be_mended(
    newest: Driver, name: str, repair: str
) -> None:
    plain, mended = run(newest, scenario_of(name)), run(newest, scenario_of(name), repair)
    assert mended.trace == plain.trace

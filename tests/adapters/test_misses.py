"""The reasons of misses are found again from a trace that says none.

Our oracle gives its reasons itself, from what it knows inside: with them taken away, the derivation
has to give every one of them back. Then the traces of schedulers that hit less than they could, and
of two real releases.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from random import Random

import pytest

from truehit.adapters.vllm.audit.draw import draw
from truehit.adapters.vllm.driver import Driver
from truehit.adapters.vllm.environment import build
from truehit.adapters.vllm.misses import explained
from truehit.proofs.differ.sources import Listed, case_runs
from truehit.reference.ruleset import RULE_SETS
from truehit.reference.run import run
from truehit.spec.geometry import BlockDrop, Drop, DropCap, Geometry, Group, Kind, NoDrop, ReachOnly
from truehit.spec.geometry_file import geometry_to_json
from truehit.spec.scenario import After, AtStep, Request, Scenario
from truehit.spec.tokens import Segment
from truehit.spec.trace import (
    Event,
    GroupReach,
    Header,
    Lookup,
    Miss,
    Publish,
    Submit,
    Table,
    TableOp,
)

DRAWN = 150
HIT_TOO_LITTLE = ("drop-every-retry", "pruned-lookup")
"""Rules under which a lookup hits less than its keys allow: the oracle's reason, which is made for
rules that do not, then speaks of another group."""
BLOCK = 1600


def without_reasons(trace: Iterable[Event]) -> tuple[Event, ...]:
    """As a real scheduler leaves them."""
    return tuple(
        replace(e, reason=None, vetoed_by=None, reaches=(), junction_tokens=None)
        if isinstance(e, Lookup)
        else e
        for e in trace
    )


def reasons(trace: Iterable[Event]) -> list[tuple[str, str | None, str | None]]:
    return [(e.request, e.reason, e.vetoed_by) for e in trace if isinstance(e, Lookup)]


def reaches(trace: Iterable[Event]) -> list[tuple[GroupReach, ...]]:
    return [e.reaches for e in trace if isinstance(e, Lookup)]


def test_every_reason_of_the_oracle_is_found_again() -> None:
    runs = [one for one in case_runs() if one.rules not in HIT_TOO_LITTLE]
    runs += [Listed(f"drawn {seed}", draw(Random(seed)), "default") for seed in range(DRAWN)]
    seen: set[str | None] = set()
    for one in runs:
        trace = run(one.scenario, RULE_SETS[one.rules]).events
        again = explained(without_reasons(trace))
        assert reasons(again) == reasons(trace), one.name
        assert reaches(again) == reaches(trace), one.name
        seen |= {reason for _, reason, _ in reasons(trace)}
    assert seen == {None, *Miss}


# --- a scheduler that hits less than it could -----------------------------------------------------


def resent(drop: Drop, sends: int = 2) -> Scenario:
    """6400 tokens, sent again when they are done."""
    groups = (
        Group("attention", Kind.FULL_ATTENTION, BLOCK, drafted=isinstance(drop, BlockDrop)),
        Group("state", Kind.RECURRENT_STATE, BLOCK),
    )
    drafts = 3 if isinstance(drop, BlockDrop) else 0
    geometry = Geometry(
        groups, BLOCK, drafts=drafts, drop=drop, retention=ReachOnly(), pool_blocks=64
    )
    requests = tuple(
        Request(
            f"send-{number}",
            (Segment("prompt", 4 * BLOCK),),
            arrival=After(f"send-{number - 1}") if number else AtStep(0),
        )
        for number in range(sends)
    )
    return Scenario("resent", geometry, requests)


def lowered(trace: Iterable[Event], hit: int, junction: int | None = None) -> tuple[Event, ...]:
    """Up to the lookup of the second send, which hits only so much."""
    events: list[Event] = []
    for event in without_reasons(trace):
        if isinstance(event, Lookup) and event.request == "send-1":
            low = replace(event, local_tokens=hit, hit_tokens=hit, junction_tokens=junction)
            return (*events, low)
        events.append(event)
    raise AssertionError("nobody looked")


MARGIN = BlockDrop(DropCap.MARGIN)


@pytest.mark.parametrize(
    ("drop", "hit", "junction", "reason"),
    [
        (MARGIN, 4800, None, ("send-1", Miss.CAPPED, None)),
        (MARGIN, 3200, None, ("send-1", Miss.DROPPED, None)),
        (MARGIN, 0, 3200, ("send-1", Miss.NO_STATE, None)),
        (NoDrop(), 3200, None, ("send-1", Miss.VETOED_BY, "attention")),
    ],
)
def test_a_hit_below_what_the_keys_allow(
    drop: Drop, hit: int, junction: int | None, reason: tuple[str, str, str | None]
) -> None:
    trace = run(resent(drop), RULE_SETS["default"]).events
    assert reasons(explained(lowered(trace, hit, junction)))[-1] == reason


def test_a_key_of_the_same_step_is_not_there_yet() -> None:
    """Both arrive at once, under rules that publish when a chunk is scheduled."""
    scenario = resent(NoDrop())
    both = tuple(replace(request, arrival=AtStep(0)) for request in scenario.requests)
    trace = run(replace(scenario, requests=both), RULE_SETS["schedule-time-keys"]).events
    low = lowered(trace, 0)
    assert any(isinstance(event, Publish) and event.step == low[-1].step for event in low)
    assert reasons(explained(low))[-1] == ("send-1", Miss.UNCOMMITTED, None)


def test_after_a_contradiction_nothing_is_explained() -> None:
    trace = without_reasons(run(resent(NoDrop()), RULE_SETS["default"]).events)
    nobody = Table(0, "nobody", "state", TableOp.PLACE, blocks=(1,))
    broken = (trace[0], nobody, *trace[1:])
    assert explained(broken) == broken


def test_a_window_with_a_hole_is_walked_down() -> None:
    """Pages 1, 2 and 4 are there: 64 and 48 look at page 3, 32 does not."""
    groups = (Group("window", Kind.SLIDING_WINDOW, 16, window_tokens=33),)
    geometry = Geometry(groups, 16, pool_blocks=16)
    prompt = (Segment("prompt", 65),)
    trace: list[Event] = [
        Header("hand", "its own", geometry_to_json(geometry), ()),
        Submit(0, "first", prompt, "own", 1),
        Publish(0, "first", "window", ((16, 1), (32, 2), (64, 4))),
        Submit(1, "second", prompt, "other", 1),
        Lookup(1, "second", 64, (), 32, 0, 32),
    ]
    assert reaches(explained(trace)) == [(GroupReach("window", 64, 0, 32),)]


# --- real releases --------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=["0.26.0", "0.33.0"])
def release(request: pytest.FixtureRequest) -> Iterator[tuple[str, Driver]]:
    with Driver(build(request.param, print)) as driver:
        yield request.param, driver


@pytest.mark.releases
@pytest.mark.timeout(1800)
def test_a_real_scheduler_is_explained(release: tuple[str, Driver]) -> None:
    """S2: the old release clamps its match and gives a block of that back; no chunk ended there."""
    version, driver = release
    found = reasons(explained(driver.run(resent(MARGIN, sends=4)).trace))
    expected = {
        "0.26.0": [Miss.NOT_SHARED, Miss.NO_STATE, Miss.DROPPED, Miss.DROPPED],
        "0.33.0": [Miss.NOT_SHARED, Miss.CAPPED, Miss.CAPPED, Miss.CAPPED],
    }
    assert [reason for _, reason, _ in found] == expected[version]

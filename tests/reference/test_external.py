"""Tokens computed outside: loaded once, behind the local hit, filed like any other."""

from dataclasses import replace

import pytest

from truehit.spec.geometry import Dense, Group, Kind, ReachOnly
from truehit.spec.scenario import Preempt, Request
from truehit.spec.trace import Copy, Lookup, Read, Schedule, Table, TableOp, Transfer, Write

from .room import (
    chunks,
    events,
    fine,
    hits,
    hybrid,
    in_turn,
    keys,
    lawful,
    request,
    scenario,
    tables,
)


def outside(asked: Request, tokens: int) -> Request:
    return replace(asked, external_tokens=tokens)


@pytest.mark.parametrize("loaded", [1, 15, 16, 17, 31, 32, 39])
def test_the_first_chunk_starts_where_the_loaded_content_ends(loaded: int) -> None:
    """Also in the middle of a block: the state that arrives is the one after exactly so many."""
    result = lawful(scenario(hybrid(16), [outside(request("r", "doc:40"), loaded)]))
    (found,) = events(result, Lookup)
    assert (found.local_tokens, found.external_tokens, found.hit_tokens) == (0, loaded, loaded)
    assert chunks(result, "r")[0][1] == loaded
    arrived = {e.group: (e.start, e.tokens, e.column) for e in events(result, Transfer)}
    assert arrived == {"attention": (0, loaded, 0), "state": (0, loaded, (loaded - 1) // 16)}
    read = next(e for e in events(result, Read) if e.group == "state")
    assert (read.tokens, read.column) == (loaded, (loaded - 1) // 16)


def test_the_last_token_is_computed_whatever_was_loaded() -> None:
    result = lawful(scenario(hybrid(16), [outside(request("r", "doc:40"), 39)]))
    assert chunks(result, "r") == [(0, 39, 40)]
    family = in_turn(request("p", "doc:40"), outside(request("s", "doc:40"), 39))
    behind_a_hit = events(lawful(scenario(hybrid(16), family)), Lookup, "s")[0]
    assert (behind_a_hit.local_tokens, behind_a_hit.external_tokens) == (32, 7)


def test_loaded_tokens_come_behind_the_local_hit() -> None:
    """32 of 60 tokens hit locally, 10 more are loaded: pages from 32 on, the whole state anew."""
    family = in_turn(request("p", "doc:40"), outside(request("s", "doc:40", "x:20"), 10))
    result = lawful(scenario(hybrid(16, 4), family))
    found = events(result, Lookup, "s")[0]
    assert (found.local_tokens, found.external_tokens) == (32, 10)
    arrived = {e.group: (e.start, e.tokens) for e in events(result, Transfer)}
    assert arrived == {"attention": (32, 42), "state": (0, 42)}
    assert tables(result, "s", TableOp.ADOPT, "state") == []


def test_loaded_tokens_behind_a_fine_hit_do_not_touch_the_donors_page() -> None:
    """R25: after an external load the page of the partial hit is still copied first."""
    family = in_turn(request("p", "doc:20"), outside(request("s", "doc:20", "x:20"), 3))
    result = lawful(scenario(fine(hybrid(16), 4), family))
    (adopted,) = tables(result, "s", TableOp.ADOPT, "attention")
    copied = next(e for e in events(result, Copy, "s") if e.group == "attention")
    arrived = next(e for e in events(result, Transfer) if e.group == "attention")
    assert copied.source == adopted.blocks[1]
    assert copied.order < arrived.order
    assert arrived.blocks == (copied.target,)


def test_a_loaded_state_gets_a_key_where_it_is_kept() -> None:
    """R46: four columns, three of them holes; the loaded one is filed, the holes are not."""
    result = lawful(scenario(hybrid(16), [outside(request("r", "doc:70"), 64)]))
    assert [tokens for _, tokens in keys(result, "r")] == [64]
    again = in_turn(outside(request("r", "doc:70"), 64), request("s", "doc:70"))
    assert hits(lawful(scenario(hybrid(16), again))) == [64, 64]


def test_a_state_loaded_inside_a_block_gets_its_key_when_the_block_is_full() -> None:
    result = lawful(scenario(hybrid(16), [outside(request("r", "doc:40"), 20)]))
    assert [tokens for _, tokens in keys(result, "r")] == [32]
    assert [tokens for _, tokens in keys(result, "r", "attention")] == [16, 32]


def test_a_resumed_request_is_not_loaded_a_second_time() -> None:
    asked = outside(request("r", "doc:40", output=5), 39)
    result = lawful(scenario(hybrid(16), [asked], Preempt(2, "r")))
    assert {e.step for e in events(result, Transfer)} == {0}
    resumed = events(result, Lookup, "r")[-1]
    assert (resumed.local_tokens, resumed.external_tokens) == (0, 0)


@pytest.mark.parametrize("steps_in_flight", [1, 3])
@pytest.mark.parametrize("unit", [0, 2])
def test_the_estimate_counts_the_loaded_column_and_the_running_one(
    unit: int, steps_in_flight: int
) -> None:
    """The law of admission holds for every amount loaded, behind every hit, with every drafts."""
    for loaded in range(1, 26):
        for drafts in (0, 2):
            geometry = replace(
                hybrid(8, 4), drafts=drafts, steps_in_flight=steps_in_flight, budget_tokens=16
            )
            geometry = fine(geometry, unit) if unit else geometry
            family = in_turn(
                request("p", "doc:13"), outside(request("s", "doc:13", "x:13", output=6), loaded)
            )
            result = lawful(scenario(geometry, family))
            estimates = [e.count for e in events(result, Table, "s") if e.op == TableOp.ESTIMATE]
            assert len(estimates) == len(
                [e for e in events(result, Schedule, "s") if e.end > e.start]
            )


def test_two_blocks_are_taken_at_admission_and_none_in_later_steps_of_the_block() -> None:
    """External 32 tokens, 8 new ones, one state group: the loaded column and the running one."""
    geometry = replace(hybrid(16), retention=ReachOnly())
    result = lawful(scenario(geometry, [outside(request("r", "doc:40", output=5), 32)]))
    placed = [(e.step, len(e.blocks)) for e in tables(result, "r", TableOp.PLACE)]
    assert placed == [(0, 1), (0, 1)]


def test_windows_and_rings_beside_loaded_states() -> None:
    one = hybrid(8)
    groups = (
        *one.groups,
        Group("window", Kind.SLIDING_WINDOW, 8, window_tokens=9),
        Group("ring", Kind.CIRCULAR_BUFFER, 2),
    )
    geometry = replace(one, groups=groups, retention=Dense())
    result = lawful(scenario(geometry, [outside(request("r", "doc:40", output=9), 29)]))
    arrived = {e.group for e in events(result, Transfer)}
    assert arrived == {"attention", "state", "window"}
    assert min(e.start for e in events(result, Write)) == 29

"""Filing: a key becomes findable when its step is known complete, under the position it is for.

Names like R59 are public reports of what happened where it was not so."""

from dataclasses import replace

import pytest

from truehit.spec.geometry import Group, Kind, Lookahead, ReachOnly
from truehit.spec.scenario import After, Moment
from truehit.spec.trace import Copy, CopyWhy, Lookup, Publish, Table, TableOp

from .room import (
    CLAMPED,
    chunks,
    events,
    fine,
    hits,
    hybrid,
    in_turn,
    judged,
    keys,
    lawful,
    request,
    run,
    scenario,
    sends,
    served,
    tables,
)


@pytest.mark.parametrize("steps_in_flight", [1, 2, 3])
def test_a_key_is_visible_at_the_end_of_the_step_in_which_its_write_is_known(
    steps_in_flight: int,
) -> None:
    geometry = replace(hybrid(16), steps_in_flight=steps_in_flight)
    result = lawful(scenario(geometry, [request("r", "doc:40")]))
    ran = {end: step for step, _, end in chunks(result, "r")}
    assert keys(result, "r") == [(ran[p] + steps_in_flight - 1, p) for p in (16, 32)]


@pytest.mark.parametrize("steps_in_flight", [1, 2, 3])
def test_a_reader_in_a_step_before_that_counts_a_miss(steps_in_flight: int) -> None:
    """R59: 16 of 24 tokens are shared; the same step gives 0, the first complete one 16."""
    geometry = replace(hybrid(16), steps_in_flight=steps_in_flight)
    for late in range(4):
        one = request("one", "doc:16", "a:8")
        two = request("two", "doc:16", "b:8", arrival=After("one", Moment.SUBMITTED, late))
        result = lawful(scenario(geometry, (one, two)))
        arrives = events(result, Lookup, "two")[0].step
        assert served(result)["two"].hit == (16 if arrives >= steps_in_flight else 0)


def test_requests_of_the_same_step_share_nothing() -> None:
    """R59: the second one is told that what it shares is not yet committed."""
    family = (request("one", "doc:16", "a:8"), request("two", "doc:16", "b:8"))
    result = lawful(scenario(hybrid(8), family))
    assert hits(result) == [0, 0]
    assert served(result)["two"].reason == "uncommitted"


def test_keys_at_schedule_time_are_found_in_the_same_step_and_false() -> None:
    """R59: the second request is credited a state that does not exist until the first one ran."""
    family = (request("one", "doc:16", "a:8"), request("two", "doc:16", "b:8"))
    asked = scenario(hybrid(8), family)
    assert hits(run(asked, "schedule-time-keys")) == [0, 8]
    assert "commit" in {v.law for v in judged(asked, "schedule-time-keys").violations}


def test_deferral_makes_the_reader_of_a_schedule_time_key_wait_one_step() -> None:
    family = (request("one", "doc:16", "a:8"), request("two", "doc:16", "b:8"))
    result = run(scenario(hybrid(8), family), "v-hard")
    assert hits(result) == [0, 16]
    assert chunks(result, "two")[0][0] == 2


def test_only_columns_that_a_chunk_ended_at_get_keys() -> None:
    """R13: with one kept position the chunk passes 16 and 32; nothing is published there."""
    geometry = replace(hybrid(16), retention=ReachOnly())
    assert [t for _, t in keys(lawful(scenario(geometry, sends(60, 1))), "send-1")] == [48]


def test_a_block_that_a_chunk_left_inside_gets_its_key_when_it_is_full() -> None:
    """R13: 1866 of 2048 tokens are not a block."""
    result = lawful(scenario(hybrid(2048), [request("r", "doc:3026")], budgets=(1866, 1160)))
    assert chunks(result, "r") == [(0, 0, 1866), (1, 1866, 2048), (2, 2048, 3026)]
    assert keys(result, "r") == [(1, 2048)]


def test_every_full_page_of_attention_gets_a_key_and_no_other() -> None:
    result = lawful(scenario(hybrid(16, 4), [request("r", "doc:22", output=4)]))
    assert [t for _, t in keys(result, "r", "attention")] == [4, 8, 12, 16, 20, 24]


def test_a_partial_page_gets_a_key_where_a_kept_position_and_the_drop_end() -> None:
    """Kept 40 and 44 of 48 tokens, drop 4: pages end in 44 (partial) and 48 (full)."""
    geometry = fine(replace(hybrid(16, drop=CLAMPED), retention=ReachOnly()), 4)
    result = lawful(scenario(geometry, [request("r", "doc:48")]))
    assert sorted(t for _, t in keys(result, "r", "attention")) == [16, 32, 44, 48]
    assert [t for _, t in keys(result, "r")] == [40, 44]


def test_a_state_with_a_key_inside_a_block_is_never_overwritten() -> None:
    """R26: the block keyed at 20 keeps that key alone; the run goes on in a copy."""
    geometry = replace(fine(hybrid(16), 4), retention=ReachOnly())
    result = lawful(scenario(geometry, [request("r", "doc:20", output=20)]))
    (copied,) = [e for e in events(result, Copy) if e.why is CopyWhy.COPY_ON_WRITE]
    keyed = {b: t for e in events(result, Publish) if e.group == "state" for t, b in e.keys}
    assert keyed[copied.source] == 20
    assert copied.target not in keyed


def test_a_page_that_is_full_keeps_its_partial_key_true() -> None:
    """R26: keys of one page are 6 and 8; entries are only added, so a reader of 6 is right."""
    geometry = replace(fine(hybrid(8), 2), retention=ReachOnly())
    first = request("first", "doc:6", output=10)
    again = request("again", "doc:6", "x:5", arrival=After("first"))
    result = lawful(scenario(geometry, (first, again)))
    assert hits(result) == [0, 6]
    pages = {
        t: b for e in events(result, Publish, "first") if e.group == "attention" for t, b in e.keys
    }
    assert pages[6] == pages[8]


def test_a_key_with_lookahead_waits_for_the_tokens_it_covers() -> None:
    """The page ends at 16, its key covers 19 tokens: three more have to be known."""
    geometry = hybrid(16, drop=Lookahead(3))
    result = lawful(scenario(geometry, [request("r", "doc:15", output=8)]))
    known = {step: 15 + n for n, (step, *_) in enumerate(chunks(result, "r"), start=1)}
    assert [(known[step], t) for step, t in keys(result, "r", "attention")] == [(19, 16)]


def test_holes_are_never_published() -> None:
    """R46: columns 0 to 2 are holes, the real one behind them gets its key when it is full."""
    geometry = replace(hybrid(16), retention=ReachOnly())
    outside = replace(request("r", "doc:65"), external_tokens=50)
    result = lawful(scenario(geometry, [outside]))
    assert [t for _, t in keys(result, "r")] == [64]


def test_keys_stay_when_the_request_is_gone() -> None:
    first, second = sends(40, 2)
    late = replace(second, arrival=After("send-1", delay_steps=5))
    assert hits(lawful(scenario(hybrid(16), (first, late)))) == [0, 32]


def test_a_retired_state_is_given_back_and_still_found() -> None:
    """R40: freed is not unhashed. The request has passed 32 when the sibling arrives."""
    geometry = replace(hybrid(16), retention=ReachOnly())
    first = request("first", "doc:40", output=30)
    sibling = request("sibling", "doc:40", arrival=After("first", Moment.PREFILLED, 8))
    result = lawful(scenario(geometry, (first, sibling)))
    retired = [e.step for e in tables(result, "first", TableOp.NULL)]
    assert min(retired) < chunks(result, "sibling")[0][0] < chunks(result, "first")[-1][0]
    assert served(result)["sibling"].hit == 32


def test_a_running_request_holds_two_states_and_its_scratch() -> None:
    """R39: at every edge the replaced state goes in the same pass; 2 + k blocks are held."""
    geometry = replace(hybrid(8), drafts=7, retention=ReachOnly())
    result = lawful(scenario(geometry, [request("r", "doc:160", output=20)], budgets=(8,) * 30))
    held: set[int] = set()
    most = 0
    for event in [e for e in events(result, Table, "r") if e.group == "state"]:
        placed = set(range(event.column, event.column + len(event.blocks)))
        gone = set(range(event.column, event.column + event.count))
        held = (held - set(event.sources) - gone) | placed
        most = max(most, len(held))
    assert most == 2 + 7


def test_a_second_state_group_gets_the_same_keys() -> None:
    one = hybrid(16)
    geometry = replace(one, groups=(*one.groups, Group("state-2", Kind.RECURRENT_STATE, 16)))
    result = lawful(scenario(geometry, in_turn(*sends(40, 2))))
    assert keys(result, "send-1", "state") == keys(result, "send-1", "state-2")
    assert served(result)["send-1"].stored == (16, 32)

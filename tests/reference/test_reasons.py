"""Why a lookup hit less than it shares: each of the nine reasons by the smallest such scenario."""

from dataclasses import replace

import pytest

from truehit.spec.geometry import Geometry, Group, Kind, Lookahead, ReachOnly
from truehit.spec.scenario import (
    Abort,
    After,
    EncoderItem,
    Moment,
    Preempt,
    Pressure,
    Request,
    ResetCache,
)
from truehit.spec.trace import Lookup, Miss

from .room import (
    CLAMPED,
    events,
    fine,
    hybrid,
    in_turn,
    lawful,
    request,
    run,
    scenario,
    sends,
    served,
)


def first_lookup(
    geometry: Geometry, requests: tuple[Request, ...], *actions: Abort | Pressure | ResetCache
) -> Lookup:
    """The first lookup of the last request."""
    result = lawful(scenario(geometry, requests, *actions))
    return events(result, Lookup, requests[-1].name)[0]


def pair(shared: int, tail: int = 40, first: int = 60) -> tuple[Request, ...]:
    """A parent of `first` tokens and a sibling that shares some of them."""
    return in_turn(request("p", f"doc:{first}"), request("s", f"doc:{shared}", f"x:{tail}"))


def test_capped_the_last_token_is_always_computed() -> None:
    found = first_lookup(hybrid(16), sends(32, 2))
    assert (found.hit_tokens, found.reason) == (16, Miss.CAPPED)


def test_capped_although_nothing_can_hit_at_all() -> None:
    found = first_lookup(hybrid(16), sends(16, 2))
    assert (found.hit_tokens, found.reason) == (0, Miss.CAPPED)


def test_not_shared_nobody_had_these_tokens() -> None:
    found = first_lookup(hybrid(16), in_turn(request("p", "doc:60"), request("s", "other:60")))
    assert (found.hit_tokens, found.reason) == (0, Miss.NOT_SHARED)


def test_not_shared_behind_another_salt() -> None:
    first, second = sends(60, 2)
    found = first_lookup(hybrid(16), (first, replace(second, salt="b")))
    assert found.reason == Miss.NOT_SHARED


def test_below_floor_less_than_one_block_is_shared() -> None:
    """R10: 15 tokens of a block of 16."""
    found = first_lookup(hybrid(16), pair(15))
    assert (found.hit_tokens, found.reason) == (0, Miss.BELOW_FLOOR)


def test_no_state_was_made_where_attention_matches() -> None:
    """R01: the only state is at 48, the share ends at 40."""
    found = first_lookup(replace(hybrid(16), retention=ReachOnly()), pair(40))
    assert (found.hit_tokens, found.junction_tokens, found.reason) == (0, 32, Miss.NO_STATE)


def test_masked_a_state_was_there_and_not_kept() -> None:
    """Budgets of 16 end chunks at 16 and 32; retention 0 keeps 48 only."""
    geometry = replace(hybrid(16), retention=ReachOnly(), budget_tokens=16)
    found = first_lookup(geometry, pair(40))
    assert (found.hit_tokens, found.reason) == (0, Miss.MASKED)


def test_no_state_below_a_checkpoint_chunks_end() -> None:
    """[0, 71) exports 48 into column 3, whose position 64 was never a state of its own."""
    geometry = replace(
        hybrid(16, drop=CLAMPED), retention=ReachOnly(), checkpoint_alignment_tokens=16
    )
    parent = request("p", "doc:71", output=20)
    later = request("s", "doc:71", "output:p:15", "x:9", arrival=After("p"))
    found = first_lookup(geometry, (parent, later))
    assert (found.hit_tokens, found.junction_tokens, found.reason) == (48, 64, Miss.NO_STATE)


def test_dropped_attention_gives_a_block_back() -> None:
    found = first_lookup(hybrid(16, drop=CLAMPED), pair(40))
    assert (found.hit_tokens, found.reason) == (16, Miss.DROPPED)


def test_evicted_attention_pages_went() -> None:
    """The pool gives its last keyed blocks away before the resend."""
    geometry = replace(hybrid(16), pool_blocks=20)
    first, second = sends(60, 2)
    late = replace(second, arrival=After("send-1", delay_steps=3))
    found = first_lookup(geometry, (first, late), Pressure(5, 19))
    assert (found.hit_tokens, found.reason) == (0, Miss.EVICTED)


def test_evicted_the_state_went_first() -> None:
    geometry = replace(hybrid(16), pool_blocks=20)
    first, second = sends(60, 2)
    late = replace(second, arrival=After("send-1", delay_steps=3))
    found = first_lookup(geometry, (first, late), Pressure(5, 16))
    assert {r.group: r.reach_tokens for r in found.reaches} == {"attention": 48, "state": 0}
    assert (found.hit_tokens, found.reason) == (0, Miss.EVICTED)


def test_evicted_by_a_reset() -> None:
    first, second = sends(60, 2)
    late = replace(second, arrival=After("send-1", delay_steps=3))
    found = first_lookup(hybrid(16), (first, late), ResetCache(5))
    assert (found.hit_tokens, found.reason) == (0, Miss.EVICTED)


def test_not_evicted_while_an_equal_block_is_left() -> None:
    """Twins published each key twice; the resend still finds the second one of each."""
    twins = (request("one", "doc:40"), request("two", "doc:40"))
    third = request("third", "doc:40", arrival=After("two", delay_steps=3))
    found = first_lookup(replace(hybrid(16), pool_blocks=40), (*twins, third), Pressure(6, 31))
    assert (found.hit_tokens, found.reason) == (32, Miss.CAPPED)


def test_evicted_a_page_in_the_middle_of_the_window() -> None:
    """Position 16 needs both pages of its window of 17; the older one went first."""
    one = hybrid(8)
    window = Group("window", Kind.SLIDING_WINDOW, 8, window_tokens=17)
    geometry = replace(one, groups=(one.groups[0], window, one.groups[1]), pool_blocks=40)
    late = request("s", "doc:20", "x:20", arrival=After("p", delay_steps=4))
    found = first_lookup(geometry, (request("p", "doc:33"), late), Pressure(7, 29))
    reached = {r.group: (r.match_tokens, r.reach_tokens) for r in found.reaches}
    assert reached == {"attention": (16, 16), "window": (16, 0), "state": (16, 16)}
    assert (found.hit_tokens, found.reason) == (0, Miss.EVICTED)


def test_vetoed_by_the_attention_group_with_the_wider_pages() -> None:
    """7 tokens are shared: 6 of them are pages of 2, none is a page of 8."""
    groups = (
        Group("attention", Kind.FULL_ATTENTION, 2),
        Group("drafter", Kind.FULL_ATTENTION, 8),
        Group("state", Kind.RECURRENT_STATE, 8),
    )
    found = first_lookup(Geometry(groups, 1, fine_hits=True), pair(7))
    reached = {r.group: r.reach_tokens for r in found.reaches}
    assert (reached["attention"], reached["drafter"], found.hit_tokens) == (6, 0, 0)
    assert (found.reason, found.vetoed_by) == (Miss.VETOED_BY, "drafter")


def test_a_veto_names_its_group_in_what_is_told_of_the_request() -> None:
    groups = (
        Group("attention", Kind.FULL_ATTENTION, 2),
        Group("drafter", Kind.FULL_ATTENTION, 8),
        Group("state", Kind.RECURRENT_STATE, 8),
    )
    result = lawful(scenario(Geometry(groups, 1, fine_hits=True), pair(7)))
    assert served(result)["s"].reason == "vetoed_by(drafter)"


def test_uncommitted_the_same_step_computes_it() -> None:
    """R59."""
    both = (request("one", "doc:40"), request("two", "doc:40"))
    found = first_lookup(hybrid(16), both)
    assert (found.hit_tokens, found.reason) == (0, Miss.UNCOMMITTED)


def test_uncommitted_more_is_in_flight_than_was_hit() -> None:
    geometry = replace(hybrid(16), steps_in_flight=2, budget_tokens=32)
    one = request("one", "doc:60")
    two = request("two", "doc:60", arrival=After("one", Moment.SCHEDULED, 1))
    found = first_lookup(geometry, (one, two))
    assert (found.hit_tokens, found.reason) == (16, Miss.UNCOMMITTED)


def test_uncommitted_only_a_part_of_what_is_shared_is_scheduled_yet() -> None:
    """8 of 40 shared tokens are on their way: the rest will come, it is not a matter of blocks."""
    both = (request("one", "doc:40"), request("two", "doc:40"))
    found = first_lookup(replace(hybrid(16), long_prefill_threshold_tokens=8), both)
    assert (found.hit_tokens, found.reason) == (0, Miss.UNCOMMITTED)


def test_no_reason_when_everything_findable_was_used() -> None:
    found = first_lookup(hybrid(16), pair(40))
    assert (found.hit_tokens, found.reason) == (32, None)


def test_lookahead_tokens_are_not_counted_as_shared() -> None:
    """33 tokens are shared, keys cover 3 more than they end at: 16 is all there is."""
    found = first_lookup(hybrid(16, drop=Lookahead(3)), pair(33))
    assert (found.hit_tokens, found.reason) == (16, None)


def test_fine_hits_end_below_the_floor_of_what_is_shared() -> None:
    """22 tokens are shared, pages are keyed at 16 and at kept positions only."""
    found = first_lookup(fine(hybrid(16), 4), pair(22))
    assert (found.hit_tokens, found.reason) == (16, Miss.BELOW_FLOOR)


def test_what_a_waiting_request_shares_is_not_in_flight() -> None:
    """`two` waits for the encoder; `three` overtakes it and is told that nobody has its tokens."""
    image = (EncoderItem(0, 4),)
    family = (
        replace(request("one", "other:40"), encoder_items=image),
        replace(request("two", "doc:40"), encoder_items=image),
        request("three", "doc:40"),
    )
    result = lawful(replace(scenario(hybrid(16), family), encoder_budget_tokens=4))
    assert [e.step for e in events(result, Lookup, "two")] == [0, 1]
    assert served(result)["three"].reason == Miss.NOT_SHARED


def test_a_resumed_request_shares_with_its_own_past() -> None:
    """It is evicted, not unknown."""
    geometry = replace(hybrid(16), pool_blocks=20)
    asked = scenario(
        geometry, [request("r", "doc:40", output=9)], Preempt(4, "r"), Pressure(4, 19, 1)
    )
    assert events(lawful(asked), Lookup)[-1].reason == Miss.EVICTED


@pytest.mark.parametrize("name", ["default", "v-post", "schedule-time-keys"])
def test_reasons_come_from_the_closed_list(name: str) -> None:
    result = run(scenario(hybrid(16, drop=CLAMPED), pair(40)), name)
    assert {e.reason for e in events(result, Lookup)} <= {None, *Miss}

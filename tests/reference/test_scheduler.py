"""Scheduling: who gets tokens, who waits, who has to go, and that nobody waits for ever.

Names like R37 are public reports of what happened where it was not so."""

import re
from dataclasses import replace

import pytest

from truehit.reference.rules.admit import AdmitQuery, fits_now, fits_to_the_end
from truehit.spec.geometry import Geometry, Group, Kind, ReachOnly
from truehit.spec.scenario import AtStep, EncoderItem, Fail, Policy, Request, Scenario
from truehit.spec.trace import Cut, End, Lookup, Publish, Schedule, Write

from .room import (
    chunks,
    ends,
    events,
    hits,
    hybrid,
    judged,
    keys,
    lawful,
    request,
    run,
    scenario,
    served,
)


def small_pool(blocks: int, budget: int, reserve: bool = False) -> Geometry:
    """Blocks of 4; without reservation a running request may have to go."""
    return replace(
        hybrid(4), pool_blocks=blocks, budget_tokens=budget, reserve_full_sequence=reserve
    )


def by_priority(asked: Scenario) -> Scenario:
    return replace(asked, policy=Policy.PRIORITY)


def three_of(output: int) -> tuple[Request, ...]:
    """The least urgent one comes first, then the most urgent one, then one in between."""
    low = replace(request("low", "low:4", output=output), priority=5)
    high = replace(request("high", "high:3", output=output, arrival=AtStep(2)), priority=0)
    middle = replace(request("middle", "mid:3", output=output, arrival=AtStep(3)), priority=1)
    return low, high, middle


def scheduled(asked: Scenario, step: int) -> list[str]:
    """Who got tokens in a step, in order."""
    found = events(lawful(asked), Schedule)
    return [e.request for e in found if e.step == step and e.end > e.start]


@pytest.mark.parametrize(("needed", "fits"), [(4, True), (5, True), (6, False)])
def test_what_is_needed_now_may_take_the_last_free_block(needed: int, fits: bool) -> None:
    assert fits_now(AdmitQuery(free=5, owed=9, needed=needed, whole=9)) == fits


@pytest.mark.parametrize(
    ("needed", "whole", "owed", "fits"), [(2, 5, 0, True), (2, 3, 3, False), (6, 3, 0, False)]
)
def test_a_reservation_leaves_what_is_owed_to_others(
    needed: int, whole: int, owed: int, fits: bool
) -> None:
    assert fits_to_the_end(AdmitQuery(free=5, owed=owed, needed=needed, whole=whole)) == fits


def test_first_come_first_served() -> None:
    family = [request(name, f"{name}:20", output=3) for name in "abc"]
    asked = scenario(replace(hybrid(16), budget_tokens=45), family)
    assert scheduled(asked, 0) == ["a", "b", "c"]
    first = {name: chunks(lawful(asked), name)[0] for name in "abc"}
    assert first == {"a": (0, 0, 16), "b": (0, 0, 16), "c": (0, 0, 13)}


def test_the_most_urgent_is_admitted_first_and_equals_by_arrival() -> None:
    family = [
        replace(request(name, f"{name}:8"), priority=priority)
        for name, priority in (("a", 2), ("b", 0), ("c", 1), ("d", 0))
    ]
    assert scheduled(by_priority(scenario(hybrid(4), family)), 0) == ["b", "d", "c", "a"]


def test_nobody_overtakes_the_head_of_the_line_that_does_not_fit() -> None:
    """`big` needs more than `first` leaves, `small` would fit."""
    family = (
        request("first", "first:16", output=8),
        request("big", "big:40", arrival=AtStep(1)),
        request("small", "small:4", arrival=AtStep(1)),
    )
    result = lawful(scenario(small_pool(16, 64, reserve=True), family))
    waiting = [e for e in events(result, Schedule, "big") if e.start == e.end]
    assert waiting
    assert {e.reason for e in waiting} == {"does not fit yet"}
    assert chunks(result, "small")[0][0] >= chunks(result, "big")[0][0]


def test_no_more_than_the_allowed_number_runs_at_a_time() -> None:
    family = [request(name, f"{name}:8", output=4) for name in "abc"]
    result = lawful(scenario(replace(hybrid(4), max_running=2), family))
    assert chunks(result, "c")[0][0] > chunks(result, "b")[-1][0]


def test_the_latest_request_goes_when_no_block_is_left_and_comes_back() -> None:
    family = [request(name, f"{name}:7", output=10) for name in ("old", "new")]
    result = lawful(scenario(small_pool(12, 64), family))
    assert ends(result, "old") == ["finish"]
    assert ends(result, "new") == ["preempt", "finish"]


def test_a_resumed_request_finds_what_it_had_published() -> None:
    """It had computed one block and more; both groups still have the block's keys."""
    family = [request(name, f"{name}:7", output=10) for name in ("old", "new")]
    result = lawful(scenario(small_pool(12, 64), family))
    assert [e.hit_tokens for e in events(result, Lookup, "new")][-1] > 0
    assert served(result)["new"].hit == 0


def test_the_least_urgent_request_goes_even_if_it_came_first() -> None:
    result = lawful(by_priority(scenario(small_pool(9, 2), three_of(output=9))))
    assert ends(result, "high") == ["finish"]
    assert "preempt" in ends(result, "low")


def contested() -> Scenario:
    """Step 4 has a budget of 2: `low` takes one token, `high` needs its block, `middle` waits."""
    return by_priority(scenario(small_pool(9, 2), three_of(output=9), budgets=(64,) * 4))


def test_what_a_preempted_request_was_given_in_the_same_step_is_given_to_others() -> None:
    result = lawful(contested())
    assert events(result, End)[0].step == 4
    assert scheduled(contested(), 4) == ["low", "high", "middle"]


def test_a_request_preempted_in_its_own_step_writes_and_publishes_nothing() -> None:
    result = lawful(contested())
    assert [e.step for e in events(result, Schedule, "low") if e.step == 4]
    assert not [e for e in events(result, Write, "low") if e.step == 4]
    assert not [e for e in events(result, Publish, "low") if e.step == 4]


def test_keys_published_at_schedule_time_outlive_the_write_that_did_not_run() -> None:
    """The control of the test above: such a key names a block that nobody wrote."""
    laws = {v.law for v in judged(contested(), "schedule-time-keys").violations}
    assert laws == {"commit", "provenance"}


def test_urgent_requests_run_on_in_the_step_in_which_a_less_urgent_one_goes() -> None:
    """`low` stands first in line and finds no block itself; `high` still gets its token."""
    low = replace(request("low", "low:4", output=9), priority=5)
    high = replace(request("high", "high:5", output=9, arrival=AtStep(1)), priority=0)
    asked = by_priority(scenario(small_pool(8, 64), (low, high)))
    gone = events(lawful(asked), End, "low")[0]
    assert gone.why == "preempt"
    assert scheduled(asked, gone.step) == ["high"]


def test_requests_that_fail_together_come_back_in_their_order() -> None:
    family = [request(name, f"{name}:8", output=3) for name in ("a", "b", "c")]
    actions = [Fail(1, name) for name in ("a", "b", "c")]
    asked = scenario(replace(hybrid(4), budget_tokens=64), family, *actions)
    assert scheduled(asked, 2) == ["a", "b", "c"]


def test_with_reservation_nobody_is_ever_preempted() -> None:
    """Pools from the smallest that takes the longest request to one that takes all of them."""
    family = [request(name, f"{name}:{6 + 3 * n}", output=10) for n, name in enumerate("abcd")]
    for blocks in range(12, 40):
        with_reservation = lawful(scenario(small_pool(blocks, 64, reserve=True), family))
        assert {why for name in "abcd" for why in ends(with_reservation, name)} == {"finish"}
    without = lawful(scenario(small_pool(12, 64), family))
    assert "preempt" in {why for name in "abcd" for why in ends(without, name)}


@pytest.mark.parametrize("state_groups", [1, 2])
@pytest.mark.parametrize("prompt", [17, 25])
def test_a_shared_state_counts_towards_nobodys_reservation(prompt: int, state_groups: int) -> None:
    """`b` adopts the state that `a` is about to give back: that frees nothing, and `a` takes
    another. The promise made to `c` in the same step has to leave room for it."""
    one = hybrid(8)
    more = tuple(Group(f"state-{n}", Kind.RECURRENT_STATE, 8) for n in range(1, state_groups))
    for blocks in range(14, 26):
        geometry = replace(
            one, groups=(*one.groups, *more), pool_blocks=blocks, long_prefill_threshold_tokens=8
        )
        family = (
            request("a", f"doc:{prompt}", output=10),
            request("b", "doc:8", "x:10", arrival=AtStep(1), output=3),
            request("c", "y:10", arrival=AtStep(1), output=3),
        )
        result = lawful(scenario(geometry, family))
        assert {why for name in "abc" for why in ends(result, name)} == {"finish"}


@pytest.mark.parametrize(
    ("geometry", "encoder_budget", "field"),
    [
        (replace(hybrid(4), pool_blocks=8), None, "pool_blocks"),
        (replace(hybrid(4), max_model_tokens=20), None, "max_model_tokens"),
        (hybrid(4), 5, "encoder_budget_tokens"),
    ],
)
def test_what_can_never_fit_is_refused_with_a_number_that_works(
    geometry: Geometry, encoder_budget: int | None, field: str
) -> None:
    long = replace(request("long", "doc:21", output=2), encoder_items=(EncoderItem(3, 6),))
    other = request("other", "other:4")
    asked = replace(scenario(geometry, (long, other)), encoder_budget_tokens=encoder_budget)
    result = lawful(asked)
    assert (ends(result, "long"), ends(result, "other")) == (["refused"], ["finish"])
    works = int(re.findall(r"\d+", events(result, End, "long")[0].message)[-1])
    if field == "encoder_budget_tokens":
        enough = replace(asked, encoder_budget_tokens=works)
    elif field == "pool_blocks":
        enough = replace(asked, geometry=replace(geometry, pool_blocks=works))
    else:
        enough = replace(asked, geometry=replace(geometry, max_model_tokens=works))
    assert ends(lawful(enough), "long") == ["finish"]


@pytest.mark.parametrize(
    ("geometry", "cut", "end"),
    [
        (replace(hybrid(16), budget_tokens=20), Cut.SPLIT, 16),
        (replace(hybrid(16), budget_tokens=10), Cut.BUDGET, 10),
        (replace(hybrid(16), long_prefill_threshold_tokens=12), Cut.THRESHOLD, 12),
        (replace(hybrid(16), retention=ReachOnly()), Cut.SPLIT, 32),
        (replace(hybrid(64), budget_tokens=64), Cut.NONE, 40),
    ],
)
def test_a_chunk_says_which_cap_cut_it(geometry: Geometry, cut: Cut, end: int) -> None:
    first = events(lawful(scenario(geometry, [request("r", "doc:40")])), Schedule)[0]
    assert (first.cut, first.end) == (cut, end)


def test_a_share_smaller_than_one_block_still_finishes_and_a_floor_starves() -> None:
    """R37: two prompts of 32,768 tokens, 1,024 each a step, state block 1600: two steps a block."""
    shares = (1024,) * 60
    family = [replace(request(name, f"{name}:32768"), shares=shares) for name in "ab"]
    geometry = replace(hybrid(1600), budget_tokens=2048)
    asked = replace(scenario(geometry, family), max_steps=100)
    result = lawful(asked)
    assert result.steps == 41
    assert served(result)["a"].carve[:4] == (1024, 1600, 2624, 3200)
    assert {s.carve for s in run(asked, "v-post").served} == {()}


def test_a_prompt_stops_before_an_input_whose_encoder_run_does_not_fit() -> None:
    """Two inputs of 4 tokens, 6 a step: the second one waits for the next step."""
    items = (EncoderItem(2, 4), EncoderItem(9, 4))
    asked = scenario(hybrid(64), [replace(request("r", "doc:20"), encoder_items=items)])
    result = lawful(replace(asked, encoder_budget_tokens=6))
    assert [(e.end, e.cut) for e in events(result, Schedule)] == [(9, Cut.ENCODER), (20, Cut.NONE)]


def test_a_preempted_request_has_its_inputs_encoded_again() -> None:
    """Its encoder output went with it: when it comes back the budget is needed once more."""
    item = (EncoderItem(0, 4),)
    image = replace(request("image", "doc:8", output=6), encoder_items=item)
    other = replace(request("other", "x:8", arrival=AtStep(2)), encoder_items=item)
    asked = replace(scenario(hybrid(16), (image, other), Fail(1, "image")), encoder_budget_tokens=4)
    result = lawful(asked)
    assert ends(result, "image") == ["preempt", "finish"]
    second = events(result, Schedule, "other")[0]
    assert (second.step, second.end, second.cut) == (2, 0, Cut.ENCODER)


def test_hits_are_counted_at_the_first_admission_only() -> None:
    family = [request(name, f"{name}:7", output=10) for name in ("old", "new")]
    assert hits(lawful(scenario(small_pool(9, 64), family))) == [0, 0]


def test_decoded_blocks_get_keys_under_dense_retention() -> None:
    result = lawful(scenario(hybrid(4), [request("r", "doc:6", output=8)]))
    assert [tokens for _, tokens in keys(result, "r")] == [4, 8, 12]

"""The lookup: an intersection over groups, never above the offer, of the request's own prefix.

Names like R08 are public reports of what happened where it was not."""

from dataclasses import replace

import pytest

from truehit.reference.rules.lookup import (
    ResumeQuery,
    lookup_cap,
    match_limit,
    pruned_candidate,
    raised_candidate,
    resume_limit,
    resume_limit_again,
)
from truehit.spec.geometry import Geometry, Group, Kind, Lookahead, ReachOnly
from truehit.spec.scenario import After, Moment, Pressure, ResetCache
from truehit.spec.trace import Hold, Lookup, Table, TableOp, Unpublish

from .room import (
    CLAMPED,
    events,
    fine,
    hits,
    hybrid,
    in_turn,
    judged,
    lawful,
    request,
    run,
    scenario,
    sends,
    tables,
)


def three_attention_groups() -> Geometry:
    """R08: blocks 16, 32 and 48 (alignment 96), two of them drafted."""
    groups = (
        Group("a", Kind.FULL_ATTENTION, 16, drafted=True),
        Group("b", Kind.FULL_ATTENTION, 32, drafted=True),
        Group("c", Kind.FULL_ATTENTION, 48),
        Group("state", Kind.RECURRENT_STATE, 16),
    )
    return Geometry(groups, 16, drop=CLAMPED)


def test_a_group_drops_once_however_often_the_candidate_is_lowered() -> None:
    """R08: 400 shared tokens match 384; one drop of 32 leaves 352, aligned 288."""
    family = in_turn(request("p", "doc:480"), request("s", "doc:400", "x:200"))
    asked = scenario(three_attention_groups(), family)
    assert hits(lawful(asked)) == [0, 288]
    assert hits(run(asked, "drop-every-retry")) == [0, 0]


def test_a_state_group_never_raises_the_joint_hit() -> None:
    """R09: attention offers 48 after its drop, a state exists at 64."""
    family = in_turn(request("p", "doc:80"), request("s", "doc:64", "x:20"))
    asked = scenario(hybrid(16, drop=CLAMPED), family)
    assert hits(lawful(asked)) == [0, 48]
    assert hits(run(asked, "raised-candidate")) == [0, 64]
    assert {v.law for v in judged(asked, "raised-candidate").violations} == {"joint"}


def test_attention_without_a_state_is_no_hit() -> None:
    """R60: 64 shared tokens of attention, no state at or below them."""
    geometry = replace(hybrid(96, 16), retention=ReachOnly())
    family = in_turn(request("p", "doc:200"), request("s", "doc:64", "x:40"))
    second = events(lawful(scenario(geometry, family)), Lookup, "s")[0]
    assert [(r.group, r.match_tokens) for r in second.reaches] == [("attention", 64), ("state", 0)]
    assert second.hit_tokens == 0


def test_two_state_groups_hit_only_where_both_have_a_key() -> None:
    """Pressure evicts the first group's keys, oldest first, and leaves the second one's at 32."""
    one = hybrid(16)
    groups = (*one.groups, Group("state-2", Kind.RECURRENT_STATE, 16))
    geometry = replace(one, groups=groups, pool_blocks=20)
    first, second = sends(40, 2)
    late = replace(second, arrival=After("send-1", delay_steps=4))
    result = lawful(scenario(geometry, (first, late), Pressure(4, 16)))
    found = events(result, Lookup, "send-2")[0]
    alone = {r.group: r.reach_tokens for r in found.reaches}
    assert alone == {"attention": 32, "state": 0, "state-2": 32}
    assert found.hit_tokens == 0


@pytest.mark.parametrize(("tokens", "hit"), [(528, 0), (529, 528), (1056, 528), (1057, 1056)])
def test_the_last_token_is_always_computed(tokens: int, hit: int) -> None:
    """R10: a prompt of one block never hits, one token more does."""
    assert hits(lawful(scenario(hybrid(528), sends(tokens, 2)))) == [0, hit]


@pytest.mark.parametrize(("tokens", "hit"), [(1056, 0), (1057, 528)])
def test_under_a_drop_the_shortest_prompt_that_hits_is_two_blocks_and_a_token(
    tokens: int, hit: int
) -> None:
    """R10: below that the verdict is geometry, not a defect."""
    assert hits(lawful(scenario(hybrid(528, drop=CLAMPED), sends(tokens, 2)))) == [0, hit]


def test_another_salt_shares_nothing() -> None:
    first, second = sends(40, 2)
    salted = replace(second, salt="other")
    assert hits(lawful(scenario(hybrid(16), (first, salted)))) == [0, 0]


def test_a_key_with_lookahead_covers_tokens_beyond_its_end() -> None:
    """35 shared tokens agree on the block of 32 and 3 more, 34 do not."""
    geometry = hybrid(16, drop=Lookahead(3))
    family = (request(f"r{n}", f"doc:{n}", f"tail-{n}:20") for n in (60, 35, 34))
    assert hits(lawful(scenario(geometry, in_turn(*family)))) == [0, 32, 16]


def test_a_later_turn_hits_what_the_earlier_one_generated() -> None:
    """20 tokens of prompt and 14 generated ones: the state at 32 was made by decode steps."""
    first = request("first", "doc:20", output=20)
    later = request("later", "doc:20", "output:first:14", "question:5", arrival=After("first"))
    assert hits(lawful(scenario(hybrid(16), (first, later)))) == [0, 32]


def test_a_fine_hit_inside_a_page_copies_page_and_state_before_it_writes() -> None:
    """R25: the donor decodes on in the block that the sibling has found at 20 tokens."""
    geometry = fine(hybrid(16), 4)
    donor = request("donor", "doc:20", output=30)
    sibling = request("sibling", "doc:20", "x:9", arrival=After("donor", Moment.PREFILLED))
    result = lawful(scenario(geometry, (donor, sibling)))
    assert hits(result) == [0, 20]
    for group in ("attention", "state"):
        (adopted,) = tables(result, "sibling", TableOp.ADOPT, group)
        own = tables(result, "sibling", TableOp.COPY_ON_WRITE, group)[0]
        assert adopted.blocks[-1] not in own.blocks
        assert own.column == 1
    copied = {block for e in events(result, Hold) if e.held for block in e.blocks}
    (donors,) = tables(result, "donor", TableOp.PLACE, "attention")[1].blocks
    assert donors in copied


def test_fine_hits_with_unequal_blocks_reach_what_the_coarse_lcm_forbids() -> None:
    """816 beside 1648: the lcm is 84,048 tokens; hash units of 16 still hit 8,224 of 8,240."""
    coarse = hybrid(1648, 816)
    assert hits(lawful(scenario(coarse, sends(8240, 2)))) == [0, 0]
    assert hits(lawful(scenario(fine(coarse, 16), sends(8240, 2)))) == [0, 8224]


def test_the_first_published_of_two_equal_blocks_is_adopted() -> None:
    """Both twins compute the same prefix in the same steps; the third adopts the first one's."""
    twins = (request("one", "doc:32"), request("two", "doc:32"))
    third = request("third", "doc:32", "x:3", arrival=After("two"))
    result = lawful(scenario(hybrid(16), (*twins, third)))
    placed = [e.blocks for e in events(result, Table, "one") if e.op == TableOp.PLACE]
    (adopted,) = tables(result, "third", TableOp.ADOPT, "attention")
    assert set(adopted.blocks) <= {block for blocks in placed for block in blocks}


def test_adopted_blocks_are_not_evicted_by_the_blocks_the_same_request_takes() -> None:
    """Ten blocks: the step that adopts the two oldest pages takes two keyed blocks from behind."""
    geometry = replace(hybrid(16), pool_blocks=10)
    family = in_turn(
        request("p", "doc:32"), request("filler", "other:48"), request("longer", "doc:32", "x:40")
    )
    result = lawful(scenario(geometry, family))
    (adopted,) = tables(result, "longer", TableOp.ADOPT, "attention")
    evicted = [e for e in events(result, Unpublish) if e.step == adopted.step]
    assert hits(result) == [0, 0, 32]
    assert len(evicted) == 2
    assert not set(adopted.blocks) & {block for e in evicted for block in e.blocks}


def test_after_a_reset_nothing_is_found() -> None:
    first, second = sends(40, 2)
    late = replace(second, arrival=After("send-1", delay_steps=2))
    result = lawful(scenario(hybrid(16), (first, late), ResetCache(4)))
    assert hits(result) == [0, 0]


def test_the_rules_of_a_lookup_in_numbers() -> None:
    assert [lookup_cap(total) for total in (0, 1, 2, 6400)] == [0, 0, 1, 6399]
    assert match_limit(6399, 1600, margin=False, hashed=6400) == 6399
    assert match_limit(6399, 1600, margin=True, hashed=6400) == 6400
    matched = ResumeQuery(match=6400, limit=6399, drop=1600, alignment=1600)
    assert resume_limit(matched) == 4800
    assert resume_limit(replace(matched, limit=4799)) == 3200
    assert resume_limit(replace(matched, match=800)) == 0
    assert resume_limit_again(matched, 4800) == 3200
    assert raised_candidate(4800, 1600) == 6400
    assert (pruned_candidate(4800, 1600), pruned_candidate(800, 1600)) == (3200, 0)

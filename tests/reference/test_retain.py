"""Retention: what is kept is what a later lookup can land on, and it is there on the second send.

Names like R01 are public reports of what happened where it was not."""

from dataclasses import replace

import pytest

from truehit.reference.rules.retain import (
    KeepQuery,
    extend_reachable,
    is_published,
    margin_alignment,
    margin_own_bit,
    margin_state_block,
    no_margin,
    replay_boundary,
    replay_reachable,
)
from truehit.spec.formulas import extend, legal
from truehit.spec.geometry import Dense, Drop, DropCap, Interval, Lookahead, NoDrop, ReachOnly
from truehit.spec.trace import Lookup

from .room import (
    CLAMPED,
    MARGIN,
    events,
    fine,
    hits,
    hybrid,
    in_turn,
    lawful,
    request,
    run,
    scenario,
    sends,
    served,
)


@pytest.mark.parametrize(("prompt", "hit"), [(31, 16), (32, 16), (33, 32), (48, 32)])
def test_an_unchanged_prompt_hits_below_its_last_token_on_send_2(prompt: int, hit: int) -> None:
    """R02: also when its length is a whole number of blocks."""
    geometry = replace(hybrid(16), retention=ReachOnly())
    assert hits(lawful(scenario(geometry, sends(prompt, 2)))) == [0, hit]


@pytest.mark.parametrize(
    ("block", "prompt", "drop", "hit"),
    [
        (1600, 11910, CLAMPED, 9600),
        (1648, 8702, CLAMPED, 6592),
        (1648, 9155, CLAMPED, 6592),
        (1648, 6592, CLAMPED, 3296),
        (1648, 6592, MARGIN, 4944),
    ],
)
def test_under_a_drop_the_position_below_the_boundary_is_kept(
    block: int, prompt: int, drop: Drop, hit: int
) -> None:
    """R03, R06: the drop lands one block lower, and that state is there on send 2, not send 3."""
    geometry = replace(hybrid(block, drop=drop), retention=ReachOnly(), drafts=3)
    assert hits(lawful(scenario(geometry, sends(prompt, 2)))) == [0, hit]


def test_keeping_the_boundary_only_misses_on_send_2_and_says_masked() -> None:
    """R03: the state at 9600 was written, and then masked."""
    geometry = replace(hybrid(1600, drop=CLAMPED), retention=ReachOnly(), drafts=3)
    broken = run(scenario(geometry, sends(11910, 3)), "v-post")
    assert hits(broken) == [0, 0, 9600]
    assert served(broken)["send-2"].reason == "masked"


@pytest.mark.parametrize(("shared", "expected"), [(1600, [0, 1584, 1584]), (1500, [0, 0, 1056])])
def test_a_junction_is_kept_by_the_second_sibling_and_hit_by_the_third(
    shared: int, expected: list[int]
) -> None:
    """R01: sharing 100 tokens less costs one more sighting, not every hit."""
    geometry = replace(hybrid(528), retention=ReachOnly())
    family = (request(f"r{n}", f"doc:{shared}", f"tail-{n}:{2100 - shared}") for n in range(3))
    assert hits(lawful(scenario(geometry, in_turn(*family)))) == expected


def test_a_junction_without_a_state_is_reported_with_what_attention_reached() -> None:
    """R01: "no shared prefix" would be the wrong verdict."""
    geometry = replace(hybrid(528), retention=ReachOnly())
    family = (request(f"r{n}", "doc:1500", f"tail-{n}:600") for n in range(2))
    second = events(lawful(scenario(geometry, in_turn(*family))), Lookup, "r1")[0]
    assert (second.hit_tokens, second.junction_tokens, second.reason) == (0, 1056, "no_state")
    assert [(r.group, r.reach_tokens) for r in second.reaches] == [
        ("attention", 1056),
        ("state", 0),
    ]


def test_dense_retention_needs_no_second_sighting() -> None:
    """R01: with a state at every block the second sibling hits what it shares."""
    family = (request(f"r{n}", "doc:1500", f"tail-{n}:600") for n in range(2))
    result = lawful(scenario(hybrid(528), in_turn(*family)))
    assert hits(result) == [0, 1056]
    assert served(result)["r0"].stored == (528, 1056, 1584)


def test_fine_hits_keep_the_position_one_unit_below_what_is_shared() -> None:
    """R05: a sibling of 48 tokens drops 4 of them, not a block of 16."""
    geometry = fine(replace(hybrid(16, drop=CLAMPED), retention=ReachOnly()), 4)
    result = lawful(
        scenario(geometry, in_turn(request("p", "doc:48"), request("s", "doc:48", "x:9")))
    )
    assert hits(result) == [0, 44]
    assert served(result)["p"].stored == (40, 44)


@pytest.mark.parametrize(
    ("retention", "stored"),
    [(Dense(), (16, 32, 48, 64)), (Interval(48), (48, 64)), (ReachOnly(), (64,))],
)
def test_an_interval_keeps_its_multiples_on_top_of_what_is_reachable(
    retention: Dense | Interval | ReachOnly, stored: tuple[int, ...]
) -> None:
    geometry = replace(hybrid(16), retention=retention)
    assert served(lawful(scenario(geometry, sends(70, 1))))["send-1"].stored == stored


@pytest.mark.parametrize("retention", [Dense(), ReachOnly()])
@pytest.mark.parametrize("drop", [NoDrop(), CLAMPED, MARGIN, Lookahead(1), Lookahead(5)])
@pytest.mark.parametrize(("pages", "unit"), [(4, 0), (4, 2), (3, 0), (6, 3), (12, 1)])
def test_send_2_hits_legal_and_a_longer_prompt_hits_extend_for_every_length(
    pages: int, unit: int, drop: Drop, retention: Dense | ReachOnly
) -> None:
    """Blocks of 4, 3, 6 and 12 beside a state block of 12, coarse (unit 0) and fine."""
    geometry = replace(hybrid(12, pages, drop), retention=retention)
    geometry = fine(geometry, unit) if unit else geometry
    for prompt in (1, 7, 11, 12, 13, 15, 16, 17, 23, 24, 25, 28, 29, 36, 37):
        again, longer = request("again", f"doc:{prompt}"), request("longer", f"doc:{prompt}", "x:9")
        first = request("first", f"doc:{prompt}")
        assert hits(lawful(scenario(geometry, in_turn(first, again, longer))))[1:] == [
            legal(geometry, prompt),
            extend(geometry, prompt),
        ], prompt


def query(prompt: int, own_bit: bool = False, drop: DropCap | None = DropCap.CLAMPED) -> KeepQuery:
    geometry = hybrid(1648, 824, CLAMPED if drop else NoDrop())
    return KeepQuery(
        prompt=prompt,
        alignment=1648,
        state_block=1648,
        legal=legal(geometry, prompt),
        extension=extend(geometry, prompt),
        drop=824 if drop else 0,
        own_bit=own_bit,
    )


def test_the_default_keeps_exactly_the_two_offers() -> None:
    for prompt in range(1, 9000, 7):
        asked = query(prompt)
        assert replay_reachable(asked) == asked.legal
        assert extend_reachable(asked) == asked.extension


def test_historic_margins_keep_something_else() -> None:
    """Pages of 824: the drop of one page usually stays on the boundary, the margins do not."""
    asked = query(8000)
    assert (asked.legal, asked.extension) == (6592, 6592)
    assert (replay_boundary(asked), no_margin(asked)) == (6592, 0)
    assert (margin_alignment(asked), margin_state_block(asked)) == (4944, 4944)
    assert margin_own_bit(asked) == 0
    assert margin_own_bit(query(8000, own_bit=True)) == 4944
    assert margin_alignment(query(8000, drop=None)) == 0
    # State blocks of 8 under an alignment of 24: the defect's position is no position of a hit.
    apart = replace(asked, prompt=60, alignment=24, state_block=8)
    assert (margin_alignment(apart), margin_state_block(apart)) == (24, 40)


@pytest.mark.parametrize(
    ("position", "published"),
    [(0, False), (8, True), (12, True), (20, True), (24, True), (9, False)],
)
def test_a_position_is_published_if_it_is_named_or_periodic(position: int, published: bool) -> None:
    assert is_published(position, replay=8, extend=12, junction=20, period=24) == published


def test_the_zero_position_is_never_published_even_when_nothing_is_named() -> None:
    assert not is_published(0, replay=0, extend=0, junction=0, period=0)

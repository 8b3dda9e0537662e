"""Sliding windows: only the pages a query sees are needed, kept in the table, and asked for."""

from dataclasses import replace

import pytest

from truehit.reference.find import Finder
from truehit.reference.live import Live
from truehit.reference.pool import Pool
from truehit.reference.ruleset import DEFAULT
from truehit.spec.formulas import legal
from truehit.spec.geometry import Dense, Geometry, Group, Kind, ReachOnly
from truehit.spec.scenario import After, Pressure
from truehit.spec.tokens import TokenTree
from truehit.spec.trace import Lookup, Publish, Table, TableOp, Unpublish

from .room import (
    CLAMPED,
    events,
    hits,
    hybrid,
    in_turn,
    lawful,
    request,
    scenario,
    sends,
    tables,
)


def windowed(window: int, block: int = 4, state: int = 8) -> Geometry:
    """Attention, a window of the same block, and a state block."""
    one = hybrid(state, block)
    group = Group("window", Kind.SLIDING_WINDOW, block, window_tokens=window)
    return replace(one, groups=(one.groups[0], group, one.groups[1]))


@pytest.mark.parametrize(("window", "first"), [(1, 4), (2, 3), (4, 3), (5, 3), (6, 2), (9, 2)])
def test_a_hit_adopts_only_the_pages_its_next_token_sees(window: int, first: int) -> None:
    """Resuming at 16: the query at 16 sees entries from 17 - window on, in pages of 4."""
    family = in_turn(request("p", "doc:16"), request("s", "doc:16", "x:9"))
    result = lawful(scenario(windowed(window), family))
    assert hits(result) == [0, 16]
    adopted = tables(result, "s", TableOp.ADOPT, "window")
    assert [e.column for e in adopted] == ([first] if first < 4 else [])
    assert [len(e.blocks) for e in adopted] == ([4 - first] if first < 4 else [])


def test_pages_below_the_window_are_given_back_while_the_request_runs() -> None:
    """A window of 5 at 20 tokens sees entries from 16 on: four pages are nulled."""
    result = lawful(scenario(windowed(5), [request("r", "doc:16", output=5)]))
    nulled = {
        column
        for e in tables(result, "r", TableOp.NULL, "window")
        for column in range(e.column, e.column + e.count)
    }
    assert nulled == {0, 1, 2, 3}


def test_pages_below_the_window_may_be_gone() -> None:
    """Pressure evicts the retired pages of the window first; the last one is all it takes."""
    geometry = replace(windowed(8, block=8), pool_blocks=40)
    first, second = sends(33, 2)
    late = replace(second, arrival=After("send-1", delay_steps=4))
    result = lawful(scenario(geometry, (first, late), Pressure(6, 30)))
    published = {
        b: t for e in events(result, Publish, "send-1") if e.group == "window" for t, b in e.keys
    }
    gone = {block for e in events(result, Unpublish) if e.step == 6 for block in e.blocks}
    assert sorted(published[block] for block in gone & set(published)) == [8, 16]
    assert hits(result) == [0, 32]


def test_a_missing_page_inside_the_window_lowers_the_hit() -> None:
    """The window of 17 needs three pages; the pressure leaves the last two."""
    geometry = replace(windowed(17, block=8), pool_blocks=40)
    first, second = sends(33, 2)
    late = replace(second, arrival=After("send-1", delay_steps=4))
    seen = set()
    for blocks in range(20, 39):
        result = lawful(scenario(geometry, (first, late), Pressure(7, blocks)))
        found = events(result, Lookup, "send-2")[0]
        seen.add((found.hit_tokens, found.reason))
    assert (32, "capped") in seen
    assert (0, "evicted") in seen


def hit_with(published: set[int], drop: bool = False) -> int:
    """The hit of 41 tokens whose window group (pages of 4, window 9) has these page ends only."""
    one = hybrid(8, 4, CLAMPED if drop else None)
    window = Group("window", Kind.SLIDING_WINDOW, 4, drop, window_tokens=9)
    geometry = replace(one, groups=(replace(one.groups[0], drafted=False), window, one.groups[1]))
    asked = request("r", "doc:41")
    live = Live(asked, 0, TokenTree().path(asked.segments), known=41)
    pool = Pool(100)
    finder = Finder(geometry, DEFAULT, pool)
    ends = {"attention": range(4, 41, 4), "window": published, "state": range(8, 41, 8)}
    for group, positions in ends.items():
        for tokens in positions:
            key = finder.key(live, group, tokens)
            (block,), _ = pool.take(1)
            assert key is not None
            pool.publish(key, block)
    return finder.find(live).hit


@pytest.mark.parametrize(
    ("published", "hit"),
    [
        ({32, 36, 40}, 40),
        ({36, 40}, 40),
        ({40}, 0),
        ({28, 32, 40}, 32),
        ({20, 24, 32, 40}, 24),
        ({4, 8}, 8),
        (set(), 0),
    ],
)
def test_a_hole_inside_the_window_moves_the_hit_below_it(published: set[int], hit: int) -> None:
    """Position 40 needs the pages that end at 36 and 40, position 8 needs both of its pages."""
    assert hit_with(published) == hit


@pytest.mark.parametrize(
    ("published", "hit"), [({20, 24, 28, 32, 36, 40}, 32), ({20, 24, 28, 32, 40}, 24)]
)
def test_a_hole_in_the_dropped_page_moves_the_hit_too(published: set[int], hit: int) -> None:
    """Resuming at 32 with a drop of 4 needs the page that ends at 36."""
    assert hit_with(published, drop=True) == hit


@pytest.mark.parametrize("prompt", [16, 17, 23, 24, 25])
def test_a_drafted_window_needs_the_dropped_page_too(prompt: int) -> None:
    one = hybrid(8, 4, CLAMPED)
    group = Group("window", Kind.SLIDING_WINDOW, 4, drafted=True, window_tokens=6)
    geometry = replace(one, groups=(one.groups[0], group, one.groups[1]))
    for retention in (ReachOnly(), Dense()):
        kept = replace(geometry, retention=retention)
        assert hits(lawful(scenario(kept, sends(prompt, 2)))) == [0, legal(kept, prompt)]


def test_a_window_holds_no_more_pages_than_it_sees_while_decoding() -> None:
    """9 tokens of window touch at most 3 pages of 4, the one being filled included."""
    result = lawful(scenario(windowed(9), [request("r", "doc:4", output=40)]))
    held: set[int] = set()
    at_end: dict[int, int] = {}
    for change in [e for e in events(result, Table, "r") if e.group == "window"]:
        held |= set(range(change.column, change.column + len(change.blocks)))
        held -= set(range(change.column, change.column + change.count))
        at_end[change.step] = len(held)
    assert max(at_end.values()) == 3


def test_a_long_request_fits_a_pool_that_holds_its_window() -> None:
    """400 tokens through a window of 8: the reservation counts the window and one chunk."""
    window = Group("window", Kind.SLIDING_WINDOW, 4, window_tokens=8)
    state = Group("state", Kind.RECURRENT_STATE, 4)
    geometry = Geometry((window, state), 4, budget_tokens=8, pool_blocks=10)
    result = lawful(scenario(geometry, [request("r", "doc:400")]))
    assert [served.ended for served in result.served] == ["finish"]
    assert geometry.request_blocks(401) == geometry.request_blocks(4_000) <= 9
    too_small = replace(geometry, pool_blocks=geometry.request_blocks(401))
    refused = lawful(scenario(too_small, [request("r", "doc:400")]))
    assert [served.ended for served in refused.served] == ["refused"]


def test_loaded_pages_before_the_window_are_not_held() -> None:
    """300 tokens come from outside; the next token reads 8 of them."""
    window = Group("window", Kind.SLIDING_WINDOW, 4, window_tokens=8)
    state = Group("state", Kind.RECURRENT_STATE, 4)
    geometry = Geometry((window, state), 4, budget_tokens=8, pool_blocks=10)
    loaded = replace(request("r", "doc:320"), external_tokens=300)
    result = lawful(scenario(geometry, [loaded]))
    assert [served.ended for served in result.served] == ["finish"]
    assert [served.hit for served in result.served] == [300]

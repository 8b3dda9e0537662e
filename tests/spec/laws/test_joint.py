"""joint: the largest position that every group can resume at, from the keys alone."""

import pytest

from truehit.spec.geometry import BlockDrop, Drop, DropCap, Geometry, Group, Kind, Lookahead, NoDrop

from .script import FULL, STATE, Script, geometry
from .test_clean import first_request, two_requests

WINDOW = Group("window", Kind.SLIDING_WINDOW, 4, window_tokens=5)


def filed(
    shape: Geometry, pages: tuple[int, ...], states: tuple[int, ...], window: tuple[int, ...] = ()
) -> Script:
    """A request of 24 tokens has filed the given positions; `b` (the same 24) comes."""
    script = Script(shape).submit("a", ("doc", 24))
    script.publish("a", "full", *((tokens, tokens) for tokens in pages))
    script.publish("a", "state", *((tokens, 30 + tokens) for tokens in states))
    if window:
        script.publish("a", "window", *((tokens, 60 + tokens) for tokens in window))
    return script.complete().submit("b", ("doc", 24))


def wrong(shape: Geometry, hit: int, *filed_at: tuple[int, ...]) -> list[str]:
    return filed(shape, *filed_at).lookup("b", 23, hit).sentences("joint")


BIG = geometry(pool_blocks=128)


def test_a_clean_trace_passes() -> None:
    assert two_requests().sentences("joint") == []


@pytest.mark.parametrize(
    ("pages", "states", "hit"),
    [
        ((4, 8, 12), (4, 8, 12), 12),
        ((4, 8, 12), (4,), 4),
        ((4, 12), (4, 12), 4),
        ((4, 8), (12,), 0),
        ((4, 8, 12, 16, 20, 24), (20, 24), 20),
    ],
)
def test_full_attention_and_state_intersect(
    pages: tuple[int, ...], states: tuple[int, ...], hit: int
) -> None:
    assert wrong(BIG, hit, pages, states) == []


def test_a_raised_hit_is_named() -> None:
    assert wrong(BIG, 8, (4,), (8,)) == [
        "request b: hits 8, but all groups together can resume at 0 (step 1)"
    ]


def test_a_lowered_hit_is_named() -> None:
    assert wrong(BIG, 4, (4, 8), (4, 8)) == [
        "request b: hits 4, but every group can resume at 8 (step 1)"
    ]


def test_a_hit_above_the_cap_is_named() -> None:
    script = filed(BIG, (4, 8), (4, 8)).lookup("b", 7, 8)
    assert script.sentences("joint") == ["request b: hits 8, above its cap 7 (step 1)"]


def test_an_evicted_page_lowers_the_hit() -> None:
    script = first_request().unpublish("full", 2)
    script.submit("b", ("doc", 8), ("tail-a", 2)).lookup("b", 9, 4)
    assert script.sentences("joint") == []


@pytest.mark.parametrize(
    ("drop", "hit"),
    [
        (NoDrop(), 20),
        (BlockDrop(DropCap.CLAMPED), 16),
        (BlockDrop(DropCap.MARGIN), 20),
        (Lookahead(4), 20),
        (Lookahead(5), 16),
    ],
)
def test_drop_margin_and_lookahead(drop: Drop, hit: int) -> None:
    drafted = Group("full", Kind.FULL_ATTENTION, 4, drafted=True)
    shape = geometry(groups=(drafted, STATE), pool_blocks=128, drop=drop)
    every = (4, 8, 12, 16, 20, 24)
    pages = every[:-1] if isinstance(drop, Lookahead) else every
    assert wrong(shape, hit, pages, pages) == []
    assert wrong(shape, hit - 4, pages, pages) == [
        f"request b: hits {hit - 4}, but every group can resume at {hit} (step 1)"
    ]


def test_a_window_needs_only_its_last_pages() -> None:
    shape = geometry(groups=(FULL, WINDOW, STATE), pool_blocks=128)
    assert wrong(shape, 12, (4, 8, 12), (4, 8, 12), (12,)) == []
    assert wrong(shape, 8, (4, 8, 12), (4, 8, 12), (4, 8)) == []
    assert wrong(shape, 12, (4, 8, 12), (4, 8, 12), (4, 8)) == [
        "request b: hits 12, but all groups together can resume at 8 (step 1)"
    ]


def test_a_drafted_window_of_one_token_needs_its_dropped_page() -> None:
    """The next token sees itself only, yet what the drafter gives back must be there."""
    window = Group("window", Kind.SLIDING_WINDOW, 4, drafted=True, window_tokens=1)
    shape = geometry(
        groups=(FULL, window, STATE), drop=BlockDrop(DropCap.CLAMPED), drafts=1, pool_blocks=128
    )
    assert wrong(shape, 8, (4, 8, 12), (4, 8, 12), (4, 12)) == []
    assert wrong(shape, 0, (4, 8, 12), (4, 8, 12), (4,)) == []
    assert wrong(shape, 12, (4, 8, 12), (4, 8, 12), (4, 12)) == [
        "request b: hits 12, but all groups together can resume at 8 (step 1)"
    ]


def test_a_partial_page_counts_with_fine_hits() -> None:
    shape = geometry(groups=(FULL, STATE), hash_unit_tokens=2, fine_hits=True, pool_blocks=128)
    assert wrong(shape, 6, (4, 6), (4, 6)) == []
    assert wrong(shape, 4, (4, 6), (4,)) == []
    assert wrong(shape, 6, (4,), (6,)) == [
        "request b: hits 6, but all groups together can resume at 0 (step 1)"
    ]


def test_what_an_earlier_lookup_found_may_be_gone() -> None:
    script = filed(BIG, (4, 8), (4, 8)).lookup("b", 23, 8).unpublish("full", 8)
    script.lookup("b", 23, 4).publish("a", "full", (8, 9)).lookup("b", 23, 8)
    assert script.sentences("joint") == []

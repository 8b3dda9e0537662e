"""Pages as spans of entries: overlays, and what a reader may see."""

import pytest

from truehit.spec.ledger_pages import Page, agrees, holds_entries, is_written, overlay
from truehit.spec.tokens import Segment, TokenTree

TREE = TokenTree()
A = TREE.path((Segment("doc", 8), Segment("a", 8)))
B = TREE.path((Segment("doc", 8), Segment("b", 4)))
DOC = TREE.path((Segment("doc", 6),))


@pytest.mark.parametrize(
    ("page", "low", "high", "expected"),
    [
        ((), 0, 4, ((0, 4, A),)),
        (((0, 4, A),), 4, 6, ((0, 6, A),)),
        (((0, 4, B),), 4, 6, ((0, 4, B), (4, 6, A))),
        (((0, 4, B),), 2, 4, ((0, 2, B), (2, 4, A))),
        (((0, 4, B),), 0, 4, ((0, 4, A),)),
        (((0, 6, B),), 2, 4, ((0, 2, B), (2, 4, A), (4, 6, B))),
        (((2, 4, B),), 0, 1, ((0, 1, A), (2, 4, B))),
        (((0, 4, A), (4, 6, None)), 4, 5, ((0, 5, A), (5, 6, None))),
        (((0, 4, A), (4, 6, None)), 4, 7, ((0, 7, A),)),
        (((0, 4, A), (5, 6, B)), 4, 5, ((0, 5, A), (5, 6, B))),
    ],
)
def test_an_overlay_replaces_exactly_its_entries(
    page: Page, low: int, high: int, expected: Page
) -> None:
    assert overlay(page, low, high, A) == expected


def test_paths_agree_up_to_where_they_part() -> None:
    assert agrees(A, A, 99)
    assert agrees(A, B, 8)
    assert not agrees(A, B, 9)
    assert agrees(DOC, A, 6)
    assert not agrees(DOC, A, 7)
    assert not agrees(A, DOC, 7)
    assert not agrees(None, A, 1)


@pytest.mark.parametrize(
    ("page", "low", "high", "holds", "written"),
    [
        (((0, 8, A),), 0, 8, True, True),
        (((0, 8, B),), 0, 8, True, True),
        (((0, 9, B),), 0, 9, False, True),
        (((0, 9, B),), 0, 8, True, True),
        (((0, 4, A), (4, 8, B)), 0, 8, True, True),
        (((0, 4, A), (5, 8, B)), 0, 8, False, False),
        (((1, 8, A),), 0, 8, False, False),
        (((0, 7, A),), 0, 8, False, False),
        (((0, 4, A), (4, 8, None)), 0, 8, False, True),
        (((0, 4, A), (4, 8, None)), 0, 4, True, True),
        (((0, 4, None), (4, 8, A)), 4, 8, True, True),
        ((), 0, 1, False, False),
        ((), 3, 3, True, True),
    ],
)
def test_what_a_page_holds(page: Page, low: int, high: int, holds: bool, written: bool) -> None:
    assert holds_entries(page, A, low, high) is holds
    assert is_written(page, low, high) is written

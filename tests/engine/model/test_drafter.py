"""The drafter copies what followed the last time the text ended like this."""

import pytest

from truehit.engine.model.drafter import PromptLookup


@pytest.mark.parametrize(
    ("text", "count", "drafts"),
    [
        ([1, 2, 3, 9, 1, 2, 3], 2, [9, 1]),
        # The longest ending wins over a later, shorter one.
        ([1, 2, 3, 4, 8, 3, 7, 1, 2, 3], 1, [4]),
        # Of equal endings the latest wins.
        ([5, 1, 5, 2, 5], 1, [2]),
        # What follows runs into the end: the last token is repeated.
        ([6, 7, 6], 4, [7, 6, 6, 6]),
        ([4, 4, 4, 4], 2, [4, 4]),
        ([1, 2, 3], 3, [3, 3, 3]),
        ([1], 2, [1, 1]),
        ([1, 2, 1], 0, []),
    ],
)
def test_drafts(text: list[int], count: int, drafts: list[int]) -> None:
    before = list(text)
    assert PromptLookup().propose(text, count) == drafts
    assert text == before

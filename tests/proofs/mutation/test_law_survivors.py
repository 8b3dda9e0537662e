"""What faults of a law survived, because no trace asked it."""

from dataclasses import replace

import pytest

from truehit.spec.geometry import Geometry, Group, Kind
from truehit.spec.laws.judge import Judge
from truehit.spec.tokens import Segment
from truehit.spec.trace import (
    Complete,
    End,
    EndWhy,
    Event,
    Header,
    Lookup,
    Plane,
    Publish,
    Schedule,
    Submit,
    Table,
    TableOp,
    Unpublish,
    UnpublishWhy,
    Write,
)

GEOMETRY = Geometry(
    (Group("full", Kind.FULL_ATTENTION, 4), Group("state", Kind.RECURRENT_STATE, 4)),
    4,
    pool_blocks=6,
    budget_tokens=64,
)
ONE_PROMPT = (Segment("doc", 8),)


def said(law: str, *events: Event, geometry: Geometry = GEOMETRY) -> list[str]:
    """What one law says of some events."""
    judge = Judge(geometry, Header("script", "by hand", {}, tuple(Plane)))
    for event in events:
        judge.feed(event)
    return [violation.sentence for violation in judge.finish().of_law(law)]


@pytest.mark.parametrize(
    ("prompt_tokens", "message", "words"),
    [
        (20, "a pool of 7 would do", ""),
        (20, "needs 6 blocks, the pool has 5", "pool_blocks 7"),
        (20, "does not fit", "pool_blocks 7"),
        (8, "this engine takes at most 7 tokens", ""),
        (8, "not today", "without a number that would work"),
    ],
)
def test_a_refusal_names_a_number_that_would_work(
    prompt_tokens: int, message: str, words: str
) -> None:
    found = said(
        "admission",
        Submit(0, "big", (Segment("doc", prompt_tokens),), "out", 1),
        End(0, "big", EndWhy.REFUSED, message),
        Complete(0, 0),
    )
    assert len(found) == (1 if words else 0)
    assert all(words in sentence for sentence in found)


@pytest.mark.parametrize(("tokens", "column"), [(8, 1), (4, 0)])
def test_a_state_is_adopted_under_the_key_of_its_own_length(tokens: int, column: int) -> None:
    found = said(
        "commit",
        Submit(0, "a", ONE_PROMPT, "out", 1),
        Table(0, "a", "state", TableOp.PLACE, 1, (3,)),
        Write(0, 1, "a", "state", 1, (3,), 0, 8),
        Publish(0, "a", "state", ((8, 3),)),
        Complete(0, 0),
        Submit(1, "b", ONE_PROMPT, "out", 1),
        Table(1, "b", "state", TableOp.ADOPT, column, (3,), tokens=tokens),
        Complete(1, 1),
    )
    assert len(found) == (0 if tokens == 8 else 1)
    assert all("without a findable key of its own prefix" in sentence for sentence in found)


@pytest.mark.parametrize(("state_keys", "hit"), [(((12, 5),), 0), (((8, 6), (12, 5)), 8)])
def test_a_hit_is_lowered_until_all_groups_agree(
    state_keys: tuple[tuple[int, int], ...], hit: int
) -> None:
    """States lower it from 16 to 12, the window without its third page to 8, states again."""
    window = Group("window", Kind.SLIDING_WINDOW, 4, window_tokens=6)
    geometry = replace(GEOMETRY, groups=(window, GEOMETRY.groups[1]), pool_blocks=9)
    prompt = (Segment("doc", 17),)
    said_of = [
        said(
            "joint",
            Submit(0, "a", prompt, "out", 1),
            Publish(0, "a", "window", ((4, 1), (8, 2), (16, 4))),
            Publish(0, "a", "state", state_keys),
            Complete(0, 0),
            Submit(1, "b", prompt, "out", 1),
            Lookup(1, "b", 16, (), tokens, 0, tokens),
            geometry=geometry,
        )
        for tokens in (0, 8, 12)
    ]
    assert [sentences == [] for sentences in said_of] == [tokens == hit for tokens in (0, 8, 12)]


@pytest.mark.parametrize("is_taken_again", [False, True])
def test_only_the_readers_of_the_poison_itself_are_named(is_taken_again: bool) -> None:
    other = (Segment("other", 8),)
    again = (
        End(1, "a", EndWhy.FINISH),
        Unpublish(1, "state", (3,), UnpublishWhy.EVICTED),
        Submit(1, "c", other, "out", 1),
        Table(1, "c", "state", TableOp.PLACE, 0, (3,)),
        Write(1, 1, "c", "state", 0, (3,), 0, 4),
        Publish(1, "c", "state", ((4, 3),)),
    )
    (sentence,) = said(
        "provenance",
        Submit(0, "a", ONE_PROMPT, "out", 1),
        Table(0, "a", "state", TableOp.PLACE, 0, (3,)),
        Write(0, 1, "a", "state", 0, (3,), 0, 3),
        Publish(0, "a", "state", ((4, 3),)),
        Complete(0, 0),
        *(again if is_taken_again else ()),
        Complete(1, 1),
        Submit(2, "b", other if is_taken_again else ONE_PROMPT, "out", 1),
        Table(2, "b", "state", TableOp.ADOPT, 0, (3,), tokens=4),
        Complete(2, 2),
    )
    assert ("read by request b" in sentence) == (not is_taken_again)


@pytest.mark.parametrize("comes_back", [False, True])
def test_a_key_that_came_back_is_no_excuse(comes_back: bool) -> None:
    back = (
        Publish(1, "a", "state", ((4, 4),)),
        Unpublish(1, "state", (4,), UnpublishWhy.PROMOTED),
    )
    found = said(
        "reach",
        Submit(0, "a", ONE_PROMPT, "out", 1),
        Publish(0, "a", "state", ((4, 3),)),
        Complete(0, 0),
        Unpublish(1, "state", (3,), UnpublishWhy.EVICTED),
        *(back if comes_back else ()),
        Complete(1, 1),
        Submit(2, "b", ONE_PROMPT, "out", 1),
        Lookup(2, "b", 7, (), 0, 0, 0),
        Schedule(2, "b", 0, 4, 4, 8),
        Complete(2, 2),
    )
    assert len(found) == (1 if comes_back else 0)
    assert all("passed the kept position 4" in sentence for sentence in found)


@pytest.mark.parametrize("prompt_tokens", [4, 8])
def test_what_a_request_generated_need_not_be_kept(prompt_tokens: int) -> None:
    """After a preemption a prefill covers generated tokens too."""
    found = said(
        "reach",
        Submit(0, "a", (Segment("doc", prompt_tokens),), "out", 9 - prompt_tokens),
        Lookup(0, "a", 7, (), 0, 0, 0),
        Schedule(0, "a", 0, 8, 8, 8),
        Publish(0, "a", "state", ((4, 3),)),
        Complete(0, 0),
    )
    assert len(found) == (1 if prompt_tokens == 8 else 0)

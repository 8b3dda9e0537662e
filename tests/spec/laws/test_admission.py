"""admission: estimates, reservations and refusals."""

import pytest

from truehit.spec.geometry import Group, Kind
from truehit.spec.laws.admission import fewest_blocks

from .script import FULL, STATE, Script, geometry


def admitted(estimate: int, *, scheduled: bool = True) -> Script:
    """A first chunk of 4 tokens takes one page and one state."""
    script = Script().submit("a", ("doc", 4), output=1)
    script.schedule("a", 0, 4 if scheduled else 0, 4).estimate("a", estimate)
    return script.place("a", "full", 0, 1).place("a", "state", 0, 2)


def test_an_estimate_that_is_taken_passes() -> None:
    assert admitted(2).complete().sentences("admission") == []


@pytest.mark.parametrize("estimate", [1, 3])
def test_an_estimate_that_differs_is_named(estimate: int) -> None:
    assert admitted(estimate).complete().sentences("admission") == [
        f"request a: the estimate is {estimate} blocks but 2 are taken (step 0)"
    ]


def test_a_preempted_request_is_compared_too() -> None:
    assert admitted(1).end("a", "preempt").complete().sentences("admission") == [
        "request a: the estimate is 1 blocks but 2 are taken (step 0)"
    ]


def test_an_estimate_that_does_not_fit_takes_nothing() -> None:
    script = Script().submit("a", ("doc", 4), output=1).schedule("a", 0, 0, 4, cut="pool")
    assert script.estimate("a", 9).complete().sentences("admission") == []


def test_free_adopted_blocks_and_copies_count() -> None:
    script = Script().submit("a", ("doc", 8), output=1)
    script.prefill("a", 8, (1, 2), (3, 4)).end("a").complete()
    script.submit("b", ("doc", 8), ("b", 1), output=1).schedule("b", 8, 9, 9).estimate("b", 3)
    script.adopt("b", "full", 0, 1, 2, tokens=8).copy_on_write("b", "full", 1, 7).complete()
    assert script.sentences("admission") == []


def test_held_adopted_blocks_do_not_count() -> None:
    script = Script().submit("a", ("doc", 8), output=1).prefill("a", 8, (1, 2), (3, 4))
    script.submit("b", ("doc", 8), ("b", 1), output=1).schedule("b", 8, 9, 9).estimate("b", 2)
    script.adopt("b", "full", 0, 1, 2, tokens=8).complete()
    assert script.sentences("admission") == [
        "request b: the estimate is 2 blocks but 0 are taken (step 2)"
    ]


def test_reservations_that_do_not_fit_are_named() -> None:
    script = Script(geometry(pool_blocks=12)).submit("a", ("doc", 16)).submit("b", ("doc", 16))
    script.schedule("a", 0, 4, 16).complete()
    assert script.sentences("admission") == []
    script.schedule("b", 0, 4, 16).complete()
    assert script.sentences("admission") == [
        "request b: reservations of 2 running requests may still take 14 blocks but 11 are free "
        "(step 1); pool_blocks 15 would do"
    ]


def test_reservations_that_just_fit_pass() -> None:
    script = Script(geometry(pool_blocks=15)).submit("a", ("doc", 16)).submit("b", ("doc", 16))
    script.schedule("a", 0, 4, 16).schedule("b", 0, 4, 16).complete()
    assert script.sentences("admission") == []


def test_without_reservation_they_need_not_fit() -> None:
    script = Script(geometry(pool_blocks=12, reserve_full_sequence=False))
    script.submit("a", ("doc", 16)).submit("b", ("doc", 16))
    script.schedule("a", 0, 4, 16).schedule("b", 0, 4, 16).complete()
    assert script.sentences("admission") == []


def giant() -> Script:
    """200 tokens need 50 pages and a state; the pool has 31 blocks."""
    return Script().submit("a", ("doc", 197))


def test_what_can_never_fit_is_refused_with_the_number() -> None:
    script = giant().end("a", "refused", "needs 51 blocks; a pool of 52 would do").complete()
    assert script.sentences("admission") == []


def test_a_refusal_without_the_number_is_named() -> None:
    assert giant().end("a", "refused", "too long for 31 blocks").sentences("admission") == [
        "request a: is refused without the number that would fit: pool_blocks 52 (step 0)"
    ]


def test_what_can_never_fit_and_is_not_refused_is_named() -> None:
    assert giant().complete().complete().sentences("admission") == [
        "request a: needs 51 blocks, the pool has 31, and it is not refused; "
        "pool_blocks 52 would do"
    ]


@pytest.mark.parametrize(("prompt", "fits"), [(117, True), (118, False)])
def test_the_largest_request_that_fits(prompt: int, fits: bool) -> None:
    script = Script().submit("a", ("doc", prompt)).complete()
    assert (script.sentences("admission") == []) is fits


def test_the_fewest_blocks_of_every_kind() -> None:
    window = Group("window", Kind.SLIDING_WINDOW, 4, window_tokens=9)
    ring = Group("ring", Kind.CIRCULAR_BUFFER, 4)
    assert fewest_blocks(geometry(groups=(FULL,)), 42) == 11
    assert fewest_blocks(geometry(groups=(STATE,), drafts=2), 42) == 3
    assert fewest_blocks(geometry(groups=(window,)), 42) == 3
    assert fewest_blocks(geometry(groups=(window,)), 3) == 1
    assert fewest_blocks(geometry(groups=(FULL, ring)), 42) == 12

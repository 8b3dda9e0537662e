"""reach: kept positions are filed as due and hit by who shares them."""

import pytest

from truehit.spec.geometry import BlockDrop, DropCap, Group, Kind, Lookahead, ReachOnly

from .script import STATE, Script, geometry
from .test_clean import first_request, two_requests


def looked_up(hit: int, *segments: tuple[str, int], salt: str = "") -> Script:
    """After `a` (doc:8, tail-a:2) has ended, `b` looks its prompt up."""
    script = first_request().submit("b", *segments, salt=salt)
    return script.lookup("b", sum(tokens for _, tokens in segments) - 1, hit).complete()


def test_a_clean_trace_passes() -> None:
    assert two_requests().sentences("reach") == []


def test_send_two_hits_legal() -> None:
    assert looked_up(8, ("doc", 8), ("tail-a", 2)).sentences("reach") == []
    assert looked_up(4, ("doc", 8), ("tail-a", 2)).sentences("reach") == [
        "request b: hits 4, but shares 10 tokens with a committed prefill that kept 8 (step 4)"
    ]


@pytest.mark.parametrize(("shared", "kept"), [(8, 8), (7, 4), (5, 4)])
def test_a_sibling_hits_the_deepest_position_its_match_offers(shared: int, kept: int) -> None:
    assert looked_up(kept, ("doc", shared), ("b", 9)).sentences("reach") == []
    assert looked_up(0, ("doc", shared), ("b", 9)).sentences("reach") == [
        f"request b: hits 0, but shares {shared} tokens with a committed prefill "
        f"that kept {kept} (step 4)"
    ]


def test_another_salt_shares_nothing() -> None:
    assert looked_up(0, ("doc", 8), ("tail-a", 2), salt="x").sentences("reach") == []


@pytest.mark.parametrize(("group", "block"), [("state", 5), ("full", 2), ("full", 1)])
def test_an_evicted_key_is_an_excuse(group: str, block: int) -> None:
    script = first_request().unpublish(group, block)
    hit = 0 if block == 1 else 4
    script.submit("b", ("doc", 8), ("tail-a", 2)).lookup("b", 9, hit).complete()
    assert script.sentences("reach") == []


def test_an_evicted_page_of_a_window_is_an_excuse() -> None:
    window = Group("window", Kind.SLIDING_WINDOW, 4, window_tokens=3)
    script = Script(geometry(groups=(STATE, window))).submit("a", ("doc", 10), output=1)
    script.lookup("a", 9, 0).schedule("a", 0, 8, 10)
    script.publish("a", "state", (4, 4), (8, 5)).publish("a", "window", (4, 1), (8, 2))
    script.complete().unpublish("window", 1).submit("b", ("doc", 10)).lookup("b", 9, 8)
    script.submit("c", ("doc", 7)).lookup("c", 6, 0).complete()
    assert script.sentences("reach") == []
    script.submit("d", ("doc", 10)).lookup("d", 9, 0).complete()
    assert script.sentences("reach") == [
        "request d: hits 0, but shares 8 tokens with a committed prefill that kept 8 (step 2)"
    ]


def test_a_key_that_covers_other_tokens_is_not_shared() -> None:
    shape = geometry(drop=Lookahead(2), retention=ReachOnly())
    script = Script(shape).submit("a", ("doc", 5), ("tail-a", 1), output=1).lookup("a", 5, 0)
    script.schedule("a", 0, 4, 6).publish("a", "state", (4, 1)).complete()
    script.schedule("a", 4, 6, 6).end("a").complete()
    script.submit("b", ("doc", 6), ("tail-b", 9), output=1).lookup("b", 14, 0)
    script.schedule("b", 0, 6, 15).complete()
    script.submit("c", ("doc", 6)).lookup("c", 5, 0)
    assert script.sentences("reach") == []
    script.submit("d", ("doc", 5), ("tail-a", 1)).lookup("d", 5, 0)
    assert script.sentences("reach") == [
        "request d: hits 0, but shares 6 tokens with a committed prefill that kept 4 (step 3)"
    ]


def test_a_promoted_key_is_no_excuse() -> None:
    script = first_request().unpublish("state", 5, why="promoted")
    script.submit("b", ("doc", 8), ("tail-a", 2)).lookup("b", 9, 4).complete()
    assert script.sentences("reach") == [
        "request b: hits 4, but shares 10 tokens with a committed prefill that kept 8 (step 4)"
    ]


def test_a_reset_is_an_excuse() -> None:
    script = first_request().reset().submit("b", ("doc", 8), ("tail-a", 2))
    assert script.lookup("b", 9, 0).complete().sentences("reach") == []


def unfiled(why: str | None, steps_in_flight: int = 1) -> Script:
    """The chunk [0, 4) runs and its state is never filed; `why` its request ends, if it does."""
    script = Script(geometry(steps_in_flight=steps_in_flight)).submit("a", ("doc", 8))
    script.lookup("a", 7, 0).schedule("a", 0, 4, 8).place("a", "state", 0, 4)
    script.write("a", "state", 0, 4, start=0, end=4)
    if why is not None:
        script.end("a", why)
    return script.complete()


def test_a_passed_kept_position_without_a_key_is_named() -> None:
    assert unfiled(None).sentences("reach") == [
        "request a: passed the kept position 4 in step 0 but group state has no key there (step 0)"
    ]


def test_every_passed_position_is_named_once() -> None:
    script = unfiled(None).schedule("a", 4, 8, 8).complete()
    assert script.sentences("reach") == [
        "request a: passed the kept position 4 in step 0 but group state has no key there (step 0)",
        "request a: passed the kept position 8 in step 1 but group state has no key there (step 1)",
    ]


def test_a_request_that_ends_well_owes_its_keys_until_the_step_is_complete() -> None:
    script = unfiled("finish", steps_in_flight=2)
    assert script.sentences("reach") == []
    assert script.complete().sentences("reach") == [
        "request a: passed the kept position 4 in step 0 but group state has no key there (step 1)"
    ]


@pytest.mark.parametrize("why", ["abort", "preempt"])
def test_an_end_before_the_step_is_complete_excuses(why: str) -> None:
    assert unfiled(why).sentences("reach") == []


def test_a_failed_step_excuses() -> None:
    script = Script().submit("a", ("doc", 8)).lookup("a", 7, 0).schedule("a", 0, 4, 8)
    assert script.complete(failed=("a",)).sentences("reach") == []


def test_with_steps_in_flight_the_key_is_due_later() -> None:
    script = unfiled(None, steps_in_flight=2)
    assert script.sentences("reach") == []
    assert script.complete().sentences("reach") == [
        "request a: passed the kept position 4 in step 0 but group state has no key there (step 1)"
    ]


def test_a_position_where_no_lookup_can_land_is_named() -> None:
    groups = (Group("full", Kind.FULL_ATTENTION, 6), STATE)
    script = Script(geometry(groups=groups, hash_unit_tokens=2)).submit("a", ("doc", 9))
    script.publish("a", "state", (4, 1)).complete()
    assert script.sentences("reach") == [
        "request a: publishes the state at 4 tokens, where no lookup can land: "
        "hits are multiples of 12 (step 0)"
    ]


@pytest.mark.parametrize(
    ("drop", "kept"), [(BlockDrop(DropCap.CLAMPED), 8), (Lookahead(1), 12)], ids=["drop", "ahead"]
)
def test_the_drop_and_the_lookahead_move_what_send_two_hits(
    drop: BlockDrop | Lookahead, kept: int
) -> None:
    groups = (Group("full", Kind.FULL_ATTENTION, 4, drafted=True), STATE)
    script = Script(geometry(groups=groups, drop=drop, retention=ReachOnly()))
    script.submit("a", ("doc", 15), output=1).lookup("a", 14, 0)
    script.prefill("a", 15, (1, 2, 3, 4), (5, 6, 7, 8)).end("a").complete()
    script.submit("b", ("doc", 15)).lookup("b", 14, 0).complete()
    assert script.sentences("reach") == [
        "request b: hits 0, but shares 15 tokens with a committed prefill "
        f"that kept {kept} (step 5)"
    ]

"""conservation: the engine's counts add up, and are those of tables, holds and keys."""

import pytest

from truehit.spec.laws.base import ViolationClass

from .script import Script
from .test_clean import two_requests


def occupied() -> Script:
    """Two referenced blocks (one is held twice) and one free block with a key, of 31."""
    script = Script().submit("a", ("doc", 4)).submit("b", ("doc", 8))
    script.place("a", "state", 0, 1).write("a", "state", 0, 1, start=0, end=4)
    script.publish("a", "state", (4, 1)).end("a")
    return script.place("b", "state", 0, 2).place("b", "full", 0, 3).hold("full", 3)


def counted(referenced: int, keyed: int, empty: int) -> list[str]:
    return occupied().complete(counts=(referenced, keyed, empty)).sentences("conservation")


def test_a_clean_trace_passes() -> None:
    assert two_requests().sentences("conservation") == []


def test_the_right_counts_pass() -> None:
    assert counted(2, 1, 28) == []


def test_counts_that_do_not_add_up_are_named() -> None:
    assert counted(2, 1, 27) == [
        "step 0: 1 null + 2 referenced + 1 keyed-free + 27 empty-free = 31 blocks, "
        "but the pool has 32"
    ]


@pytest.mark.parametrize(
    ("referenced", "empty", "violation_class"),
    [(3, 27, ViolationClass.WASTE), (1, 29, ViolationClass.CORRUPT)],
    ids=["a leak", "a block in use that counts as free"],
)
def test_references_that_differ_are_named(
    referenced: int, empty: int, violation_class: ViolationClass
) -> None:
    script = occupied().complete(counts=(referenced, 1, empty))
    (violation,) = script.judge().of_law("conservation")
    assert violation.violation_class is violation_class
    assert violation.sentence == (
        f"step 0: the engine counts {referenced} referenced blocks, tables and holds name 2"
    )


def test_a_lost_key_is_named() -> None:
    assert counted(2, 0, 29) == [
        "step 0: the engine counts 0 free blocks with keys, the keys name 1"
    ]


def test_a_released_hold_is_no_reference() -> None:
    script = Script().hold("", 5).complete(counts=(1, 0, 30))
    script.hold("", 5, held=False).complete(counts=(0, 0, 31))
    assert script.sentences("conservation") == []

"""uniqueness: one residency, one block a key; others may duplicate it with equal content."""

from .script import Script
from .test_clean import two_requests


def two_blocks(second_end: int, name: str) -> Script:
    """`a` files block 4 at 4 tokens, then `name` files block 5 there, written up to
    `second_end`."""
    script = Script().submit("a", ("doc", 8), output=1).submit("b", ("doc", 8), output=1)
    script.place("a", "state", 0, 4).write("a", "state", 0, 4, start=0, end=4)
    script.publish("a", "state", (4, 4)).complete()
    script.place(name, "state", 1, 5).write(name, "state", 1, 5, start=0, end=second_end)
    return script.publish(name, "state", (4, 5)).complete()


def test_distinct_keys_pass() -> None:
    assert two_requests().sentences("uniqueness") == []


def test_two_blocks_of_one_residency_are_named() -> None:
    assert two_blocks(4, "a").sentences("uniqueness") == [
        "request a: the key of 4 tokens of group state names block 4 and block 5 "
        "within one residency (step 1)"
    ]


def test_an_equal_duplicate_of_another_request_passes() -> None:
    assert two_blocks(4, "b").sentences("uniqueness") == []


def test_a_duplicate_that_differs_is_named() -> None:
    assert two_blocks(3, "b").sentences("uniqueness") == [
        "request b: the key of 4 tokens of group state names blocks 4 and 5, which differ (step 1)"
    ]


def test_a_preempted_request_may_file_its_prefix_again() -> None:
    script = Script().submit("a", ("doc", 8), output=1)
    script.prefill("a", 8, (1, 2), (3, 4)).end("a", "preempt").complete()
    script.prefill("a", 8, (5, 6), (7, 8))
    assert script.sentences("uniqueness") == []

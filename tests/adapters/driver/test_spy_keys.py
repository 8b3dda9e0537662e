"""Keys are told as tokens of the prefix that their hash stands for, whatever a block is believed to
hold; what left and what came is told in the order in which it happened."""

from types import SimpleNamespace
from typing import Any

import pytest

from truehit.adapters.vllm.inside.driver.out import Recorder
from truehit.adapters.vllm.inside.driver.spy_keys import KeyWatch

UNIT = 16
GROUPS = ["pages", "state"]


def digest(number: int) -> bytes:
    return number.to_bytes(32, "big")


def key(number: int, group: int) -> bytes:
    """The key of the first `number` units in a group."""
    return digest(number) + group.to_bytes(4, "big")


@pytest.fixture
def watch() -> KeyWatch:
    found = KeyWatch(Recorder(), GROUPS, UNIT)
    found.learn(SimpleNamespace(block_hashes=[digest(n) for n in range(1, 6)]))
    found.request = "r"
    return found


def told(watch: KeyWatch) -> list[tuple[Any, ...]]:
    events = watch._recorder.events
    watch.tell()
    said = [
        (e["kind"], e["group"], e["keys"])
        if e["kind"] == "publish"
        else (e["kind"], e["group"], e["blocks"], e["why"])
        for e in events
    ]
    events.clear()
    return said


def test_a_key_stands_for_the_tokens_of_its_hash(watch: KeyWatch) -> None:
    watch.inserted(key(3, 1), 7)
    watch.inserted(key(4, 1), 8)
    watch.inserted(key(3, 0), 9)
    assert told(watch) == [
        ("publish", "state", [[48, 7], [64, 8]]),
        ("publish", "pages", [[48, 9]]),
    ]


def test_a_larger_block_is_named_by_the_hashes_of_its_units(watch: KeyWatch) -> None:
    watch.inserted(digest(1) + digest(2) + (1).to_bytes(4, "big"), 7)
    assert told(watch) == [("publish", "state", [[32, 7]])]


def test_evictions_are_told_ahead_of_what_was_published_meanwhile(watch: KeyWatch) -> None:
    watch.inserted(key(1, 1), 7)
    told(watch)
    watch.inserted(key(2, 1), 8)
    watch.why = "evicted"
    watch.removed(key(1, 1), 7)
    watch.tell_evictions()
    assert told(watch) == [
        ("unpublish", "state", [7], "evicted"),
        ("publish", "state", [[32, 8]]),
    ]


def test_a_key_that_stays_on_its_block_is_said_again(watch: KeyWatch) -> None:
    watch.inserted(key(1, 1), 7)
    watch.inserted(key(2, 1), 7)
    told(watch)
    watch.removed(key(1, 1), 7)
    assert told(watch) == [
        ("unpublish", "state", [7], "taken_back"),
        ("publish", "state", [[32, 7]]),
    ]
    assert watch.keyed(7)


def test_a_key_that_was_never_seen_is_not_told(watch: KeyWatch) -> None:
    watch.removed(key(1, 1), 7)
    assert told(watch) == []
    assert not watch.keyed(7)

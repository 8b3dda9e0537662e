"""provenance: what a key claims is compared with what writes and copies left in the block."""

from .script import Script
from .test_clean import two_requests


def skipping_column() -> Script:
    """A chunk [0, 10) runs past two boundaries; its running column 2 is published as if it held
    12."""
    script = Script().submit("a", ("doc", 14), output=1).lookup("a", 13, 0)
    script.schedule("a", 0, 10, 14).place("a", "full", 0, 1, 2, 3).place("a", "state", 2, 4)
    script.write("a", "full", 0, 1, 2, 3, start=0, end=10)
    return script.write("a", "state", 2, 4, start=0, end=10)


def test_true_keys_pass() -> None:
    assert two_requests().sentences("provenance") == []


def test_a_state_published_at_another_position_is_named() -> None:
    script = skipping_column().publish("a", "state", (12, 4)).complete()
    assert script.sentences("provenance") == [
        "request a: column 2 is published as state@12 but holds state@10 (step 0)"
    ]


def test_the_first_reader_is_added() -> None:
    script = skipping_column().publish("a", "full", (4, 1), (8, 2)).publish("a", "state", (12, 4))
    script.complete().submit("b", ("doc", 14), output=1).lookup("b", 13, 12)
    script.adopt("b", "state", 2, 4, tokens=12).complete()
    assert script.sentences("provenance") == [
        "request a: column 2 is published as state@12 but holds state@10 "
        "(step 0; read by request b at step 1)"
    ]


def test_a_gap_in_the_tokens_is_poison_even_if_the_count_is_right() -> None:
    script = Script().submit("a", ("doc", 8), output=1).place("a", "state", 0, 4, 5)
    script.write("a", "state", 0, 4, start=0, end=3).complete()
    script.write("a", "state", 1, 5, start=4, end=8, source=4)
    script.publish("a", "state", (8, 5)).complete()
    assert script.sentences("provenance") == [
        "request a: column 1 is published as state@8 but holds tokens [0, 3) + [4, 8) (step 1)"
    ]


def test_the_state_of_rejected_drafts_is_nobodys() -> None:
    script = Script().submit("a", ("doc", 8), output=1).place("a", "state", 0, 4)
    script.write("a", "state", 0, 4, start=0, end=4, rejected=1).publish("a", "state", (4, 4))
    assert script.complete().sentences("provenance") == [
        "request a: column 0 is published as state@4 but holds rejected drafts (step 0)"
    ]


def test_another_salt_is_another_prefix() -> None:
    script = Script().submit("a", ("doc", 4), output=1, salt="x").place("a", "state", 0, 4)
    script.write("a", "state", 0, 4, start=0, end=4)
    script.submit("b", ("doc", 4), output=1).publish("b", "state", (4, 4)).complete()
    assert script.sentences("provenance") == [
        "request b: column 0 is published as state@4 but holds state@4 of other tokens (step 0)"
    ]


def test_a_page_with_missing_entries_is_named() -> None:
    script = Script().submit("a", ("doc", 4), output=1).place("a", "full", 0, 4)
    script.write("a", "full", 0, 4, start=0, end=3, rejected=1).publish("a", "full", (4, 4))
    assert script.complete().sentences("provenance") == [
        "request a: column 0 is published as entries [0, 4) but holds "
        "entries [0, 3) + rejected drafts [3, 4) (step 0)"
    ]


def test_a_true_key_whose_block_is_overwritten_later_is_named() -> None:
    script = Script().submit("a", ("doc", 8), output=1).place("a", "state", 0, 4)
    script.write("a", "state", 0, 4, start=0, end=4).publish("a", "state", (4, 4)).complete()
    script.write("a", "state", 0, 4, start=4, end=6, source=4).complete()
    assert script.sentences("provenance") == [
        "request a: column 0 is published as state@4 but holds state@6 (step 1)"
    ]


def test_a_key_published_before_its_write_in_the_same_step_is_true_at_its_end() -> None:
    script = Script().submit("a", ("doc", 4), output=1).place("a", "state", 0, 4)
    script.publish("a", "state", (4, 4)).write("a", "state", 0, 4, start=0, end=4).complete()
    assert script.sentences("provenance") == []


def test_drafts_start_from_the_state_before_the_chunk_in_any_order() -> None:
    script = Script().submit("a", ("doc", 4), output=5).place("a", "state", 0, 4, 5)
    script.write("a", "state", 0, 4, start=0, end=3).complete()
    script.write("a", "state", 0, 4, start=3, end=4, source=4)
    script.write("a", "state", 1, 5, start=3, end=5, source=4)
    script.publish("a", "state", (4, 4), (5, 5)).complete()
    assert script.sentences("provenance") == []

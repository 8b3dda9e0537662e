"""ownership: who may write what, and what nobody may read."""

from truehit.spec.geometry import Group, Kind

from .script import FULL, STATE, Script, geometry
from .test_clean import first_request, two_requests


def one(group: str = "state") -> Script:
    """`a` (8 tokens) owns block 4 in column 0 and has written it up to 4 tokens."""
    script = Script().submit("a", ("doc", 8)).submit("b", ("doc", 8)).place("a", group, 0, 4)
    return script.write("a", group, 0, 4, start=0, end=4)


def test_a_clean_trace_passes() -> None:
    assert two_requests().sentences("ownership") == []


def test_a_true_key_is_not_overwritten() -> None:
    script = one().publish("a", "state", (4, 4)).complete()
    script.write("a", "state", 0, 4, start=4, end=6, source=4).complete()
    assert script.sentences("ownership") == [
        "request a: block 4 of group state is published at 4 tokens and is written again (step 1)"
    ]


def test_keyed_entries_are_not_overwritten() -> None:
    script = one("full").publish("a", "full", (4, 4)).complete()
    script.write("a", "full", 0, 4, start=2, end=4).complete()
    assert script.sentences("ownership") == [
        "request a: block 4 of group full is published at 4 tokens and is written from 2 (step 1)"
    ]


def test_entries_behind_a_partial_key_may_be_written() -> None:
    script = Script().submit("a", ("doc", 8)).place("a", "full", 0, 4)
    script.write("a", "full", 0, 4, start=0, end=2).publish("a", "full", (2, 4)).complete()
    script.write("a", "full", 0, 4, start=2, end=4).complete()
    assert script.sentences("ownership") == []


def test_the_write_that_makes_the_key_true_is_allowed() -> None:
    script = Script().submit("a", ("doc", 8)).place("a", "state", 0, 4)
    script.publish("a", "state", (4, 4)).complete(failed=("a",))
    script.write("a", "state", 0, 4, start=0, end=4).complete()
    assert script.sentences("ownership") == []


def test_a_state_with_another_reader_is_copied_first() -> None:
    script = one().publish("a", "state", (4, 4)).complete()
    script.adopt("b", "state", 0, 4, tokens=4).unpublish("state", 4)
    script.write("b", "state", 0, 4, start=4, end=6, source=4).complete()
    assert script.sentences("ownership") == [
        "request b: writes block 4 of group state, which is held by 1 other tables (step 1)"
    ]


def test_a_page_with_another_reader_may_only_grow() -> None:
    script = Script().submit("a", ("doc", 8)).submit("b", ("doc", 2), ("b", 6))
    script.place("a", "full", 0, 4).write("a", "full", 0, 4, start=0, end=2)
    script.publish("a", "full", (2, 4)).adopt("b", "full", 0, 4, tokens=2).complete()
    script.write("a", "full", 0, 4, start=2, end=4).complete()
    assert script.sentences("ownership") == []
    script.write("b", "full", 0, 4, start=2, end=4).complete()
    assert script.sentences("ownership") == [
        "request b: writes block 4 of group full, which is held by 1 other tables (step 2)"
    ]


def test_a_copy_on_write_makes_the_block_its_own() -> None:
    script = one().publish("a", "state", (4, 4)).complete()
    script.adopt("b", "state", 0, 4, tokens=4).copy_on_write("b", "state", 0, 5)
    script.copy("b", "state", 4, 5, "copy_on_write")
    script.write("b", "state", 0, 5, start=4, end=6, source=5).complete()
    assert script.sentences("ownership") == []


def test_a_block_of_another_table_is_not_written() -> None:
    script = one().complete().write("b", "state", 0, 4, start=0, end=4).complete()
    assert script.sentences("ownership") == [
        "request b: writes block 4 of group state, which is not in its table (step 1)"
    ]


def test_a_page_that_is_not_in_the_column_is_not_written() -> None:
    script = one("full").write("a", "full", 0, 5, start=0, end=4).complete()
    assert script.sentences("ownership") == [
        "request a: writes block 5 of group full, which is not in its table (step 0)"
    ]


def test_a_page_of_another_table_is_not_written() -> None:
    script = one("full").place("b", "full", 0, 5).write("a", "full", 0, 5, start=0, end=4)
    assert script.complete().sentences("ownership") == [
        "request a: writes block 5 of group full, which is not in its table (step 0)"
    ]


def test_a_page_beyond_the_table_is_not_written() -> None:
    script = one("full").write("a", "full", 3, 4, start=12, end=14).complete()
    assert script.sentences("ownership") == [
        "request a: writes block 4 of group full, which is not in its table (step 0)"
    ]


def test_a_shared_page_without_a_key_is_not_overwritten() -> None:
    script = one("full").publish("a", "full", (4, 4)).adopt("b", "full", 0, 4, tokens=4)
    script.unpublish("full", 4).complete().write("b", "full", 0, 4, start=2, end=4).complete()
    assert script.sentences("ownership") == [
        "request b: writes block 4 of group full, which is held by 1 other tables (step 1)"
    ]


def test_a_block_is_not_taken_twice_at_once() -> None:
    script = Script().submit("a", ("doc", 8)).place("a", "full", 0, 4, 4).complete()
    assert script.sentences("ownership") == [
        "request a: block 4 of group full is taken while 1 others hold it (step 0)"
    ]


def test_a_copied_page_may_be_completed_under_its_key_in_the_same_step() -> None:
    script = one("full").publish("a", "full", (4, 4)).complete()
    script.adopt("b", "full", 0, 4, tokens=2).copy_on_write("b", "full", 0, 5)
    script.publish("b", "full", (4, 5)).copy("b", "full", 4, 5, "copy_on_write")
    script.write("b", "full", 0, 5, start=2, end=4).complete()
    assert script.sentences("ownership") == []


def test_a_held_block_is_not_taken() -> None:
    script = one().place("b", "state", 0, 4).complete()
    assert script.sentences("ownership") == [
        "request b: block 4 of group state is taken while 1 others hold it (step 0)"
    ]


def test_a_keyed_block_is_not_taken_before_it_is_evicted() -> None:
    script = first_request().submit("b", ("other", 4)).place("b", "state", 0, 5).complete()
    assert script.sentences("ownership") == [
        "request b: block 5 of group state is taken while it is published at 8 tokens (step 4)"
    ]
    script = first_request().unpublish("state", 5).submit("b", ("other", 4))
    assert script.place("b", "state", 0, 5).complete().sentences("ownership") == []


def test_a_move_takes_the_block_that_is_there() -> None:
    script = one().move("a", "state", 0, 3, 7).complete()
    assert script.sentences("ownership") == [
        "request a: column 0 of group state is moved as block 7 "
        "but the column holds block 4 (step 0)"
    ]
    assert one().move("a", "state", 0, 3, 4).complete().sentences("ownership") == []


def test_the_null_block_is_not_used() -> None:
    script = one().publish("a", "full", (4, 0)).read("a", "state", 1, 0, 4)
    script.copy("a", "state", 0, 4).write("a", "full", 0, 0, start=0, end=4).complete()
    assert script.sentences("ownership") == [
        "request a: the null block is published at 4 tokens in group full (step 0)",
        "request a: group state resumes at 4 from the null block (step 0)",
        "request a: the null block is the source of a copy in group state (step 0)",
        "request a: the null block is written in group full (step 0)",
    ]


def test_a_previous_tenants_bytes_are_not_read() -> None:
    script = one().end("a").complete().place("b", "state", 0, 4, 5).place("b", "full", 0, 6)
    script.read("b", "state", 0, 4, 4).copy("b", "state", 4, 5).read("b", "full", 0, 0, 3)
    assert script.complete().sentences("ownership") == [
        "request b: group state resumes at 4 from block 4, "
        "which holds a previous tenant's bytes (step 1)",
        "request b: block 4 of group state copies to block 5 but nobody wrote it (step 1)",
        "request b: column 0 of group full reads entries [0, 3) of block 6, "
        "which holds nothing (step 1)",
    ]


def test_an_open_step_is_judged_at_the_end_of_the_trace() -> None:
    assert one().place("b", "state", 0, 4).sentences("ownership") == [
        "request b: block 4 of group state is taken while 1 others hold it (step 0)"
    ]


def test_a_ring_is_written_by_its_owner_only() -> None:
    groups = (FULL, STATE, Group("ring", Kind.CIRCULAR_BUFFER, 4))
    script = Script(geometry(groups=groups)).submit("a", ("doc", 9)).submit("b", ("doc", 9))
    script.place("a", "ring", 0, 7).write("a", "ring", 0, 7, start=0, end=9).complete()
    assert script.judge().of_law("ownership") == ()
    script.write("b", "ring", 0, 7, start=0, end=9).write("a", "ring", 0, 0, start=9, end=10)
    assert script.complete().sentences("ownership") == [
        "request b: writes block 7 of group ring, which is not in its table (step 1)",
        "request a: the null block is written in group ring (step 1)",
    ]


def test_a_transfer_obeys_the_same_rules() -> None:
    script = one().publish("a", "state", (4, 4)).complete()
    script.transfer("b", "state", 0, 4, tokens=4).transfer("a", "state", 0, 0, tokens=4)
    assert script.complete().sentences("ownership") == [
        "request b: writes block 4 of group state, which is not in its table (step 1)",
        "request b: block 4 of group state is published at 4 tokens and is written again (step 1)",
        "request a: the null block receives a transfer in group state (step 1)",
    ]


# --- how released engines keep a state that goes on -----------------------------------------------


def test_a_copy_that_no_table_names_may_be_made_while_it_is_held() -> None:
    """The request keeps its block and goes on; the copy has the keys."""
    held = one().complete().hold("state", 6, held=True).copy("a", "state", 4, 6, "copy_on_write")
    assert held.hold("state", 6, held=False).complete().sentences("ownership") == []
    loose = one().complete().copy("a", "state", 4, 6, "copy_on_write").complete()
    assert loose.sentences("ownership") == [
        "request a: writes block 6 of group state, which is not in its table (step 1)"
    ]


def test_a_key_that_is_new_in_a_step_may_settle_in_it() -> None:
    """What was true before is written again with the same entries; an older key forbids it."""
    new = one("full").complete().publish("a", "full", (4, 4))
    new.write("a", "full", 0, 4, start=2, end=4).complete()
    assert new.sentences("ownership") == []
    old = one("full").complete().publish("a", "full", (4, 4)).complete()
    old.write("a", "full", 0, 4, start=2, end=4).complete()
    assert len(old.sentences("ownership")) == 1


def test_a_copy_out_of_the_null_block_leaves_nothing_true() -> None:
    script = one().publish("a", "state", (4, 4)).complete()
    script.copy("a", "state", 0, 4, "pre").complete()
    assert script.sentences("provenance") == [
        "request a: column 0 is published as state@4 but holds rejected drafts (step 1)"
    ]

"""neutrality: what is read is the reader's own prefix."""

from truehit.spec.geometry import Group, Kind

from .script import STATE, Script, geometry
from .test_clean import first_request, two_requests


def page(*segments: tuple[str, int], end: int = 4, rejected: int = 0) -> Script:
    """`a` has written one page (block 4) of its own prompt up to `end`; the step is closed."""
    script = Script().submit("a", *segments).place("a", "full", 0, 4)
    return script.write("a", "full", 0, 4, start=0, end=end, rejected=rejected).complete()


def test_a_clean_trace_passes() -> None:
    assert two_requests().sentences("neutrality") == []


def test_a_state_of_another_length_is_named() -> None:
    script = Script().submit("a", ("doc", 9)).place("a", "state", 0, 4)
    script.write("a", "state", 0, 4, start=0, end=3).complete()
    script.read("a", "state", 0, 4, 4).complete().read("a", "state", 0, 4, 4).complete()
    assert script.sentences("neutrality") == [
        "request a: group state resumes at 4 from block 4, which holds state@3 (step 1)"
    ]


def test_a_state_of_other_tokens_is_named() -> None:
    script = first_request().submit("b", ("doc", 7), ("b", 9)).adopt("b", "state", 1, 5, tokens=8)
    script.read("b", "state", 1, 5, 8).complete()
    assert script.sentences("neutrality") == [
        "request b: group state resumes at 8 from block 5, which holds "
        "state@8 of other tokens (step 4)"
    ]


def test_a_chunk_that_leaves_another_state_is_named() -> None:
    script = Script().submit("a", ("doc", 9)).place("a", "state", 0, 4)
    script.write("a", "state", 0, 4, start=0, end=2).complete()
    script.write("a", "state", 0, 4, start=3, end=4, source=4).complete()
    assert script.sentences("neutrality") == [
        "request a: group state leaves tokens [0, 2) + [3, 4) in column 0 "
        "after tokens [3, 4) (step 1)"
    ]


def test_a_hole_in_the_read_pages_is_named() -> None:
    script = page(("doc", 9)).place("a", "full", 2, 5).read("a", "full", 1, 0, 7).complete()
    assert script.sentences("neutrality") == [
        "request a: column 1 of group full needs entries [4, 7) but the column is a hole (step 1)"
    ]


def test_rejected_drafts_are_not_read() -> None:
    script = page(("doc", 9), end=2, rejected=1).read("a", "full", 0, 0, 2).complete()
    assert script.sentences("neutrality") == []
    assert script.read("a", "full", 0, 0, 3).complete().sentences("neutrality") == [
        "request a: column 0 of group full reads entries [0, 3) of block 4, which holds "
        "entries [0, 2) + rejected drafts [2, 3) (step 2)"
    ]


def test_rejected_drafts_that_were_overwritten_are_fine() -> None:
    script = page(("doc", 9), end=2, rejected=2).write("a", "full", 0, 4, start=2, end=4)
    assert script.read("a", "full", 0, 0, 4).complete().sentences("neutrality") == []


def test_entries_of_another_prefix_are_named() -> None:
    script = page(("doc", 9)).publish("a", "full", (4, 4)).submit("b", ("doc", 3), ("b", 9))
    script.adopt("b", "full", 0, 4, tokens=3).read("b", "full", 0, 0, 3).complete()
    assert script.sentences("neutrality") == []
    assert script.read("b", "full", 0, 0, 4).complete().sentences("neutrality") == [
        "request b: column 0 of group full reads entries [0, 4) of block 4, which holds "
        "entries [0, 4) of other tokens (step 2)"
    ]


def test_a_page_that_another_overwrites_is_read_again() -> None:
    script = page(("doc", 9)).publish("a", "full", (4, 4)).submit("b", ("doc", 3), ("b", 9))
    script.read("a", "full", 0, 0, 4).adopt("b", "full", 0, 4, tokens=3).complete()
    script.write("b", "full", 0, 4, start=3, end=4).read("a", "full", 0, 0, 4).complete()
    assert script.sentences("neutrality") == [
        "request a: column 0 of group full reads entries [0, 4) of block 4, which holds "
        "entries [0, 3) + entries [3, 4) of other tokens (step 2)"
    ]


def test_a_column_that_changes_is_read_again() -> None:
    script = page(("doc", 9)).read("a", "full", 0, 0, 4).null("a", "full", 0).complete()
    assert script.read("a", "full", 0, 0, 4).complete().sentences("neutrality") == [
        "request a: column 0 of group full needs entries [0, 4) but the column is a hole (step 2)"
    ]


def test_a_window_reads_only_its_last_entries() -> None:
    window = Group("full", Kind.SLIDING_WINDOW, 4, window_tokens=4)
    script = Script(geometry(groups=(window, STATE))).submit("a", ("doc", 12))
    script.place("a", "full", 0, 1, 2, 3).write("a", "full", 0, 1, 2, 3, start=0, end=10).complete()
    script.null("a", "full", 0).read("a", "full", 2, 0, 10).complete()
    assert script.sentences("neutrality") == []
    assert script.null("a", "full", 1).read("a", "full", 2, 0, 10).complete().sentences(
        "neutrality"
    ) == [
        "request a: column 1 of group full needs entries [7, 8) but the column is a hole (step 2)"
    ]


def test_steps_after_the_last_token_are_nobodys() -> None:
    script = Script().submit("a", ("doc", 4), output=1).place("a", "state", 0, 4)
    script.write("a", "state", 0, 4, start=0, end=3).complete().read("a", "state", 0, 4, 4)
    script.write("a", "state", 0, 4, start=4, end=5, source=4)
    assert script.complete().sentences("neutrality") == []


def test_external_content_is_taken_at_its_word() -> None:
    script = Script().submit("a", ("doc", 9)).place("a", "state", 0, 4).place("a", "full", 0, 5)
    script.transfer("a", "state", 0, 4, tokens=4).transfer("a", "full", 0, 5, tokens=4)
    script.read("a", "state", 0, 4, 4).read("a", "full", 0, 0, 4).complete()
    assert script.sentences("neutrality") == []


def test_entries_before_a_transfer_are_not_its_own() -> None:
    script = Script().submit("a", ("doc", 9)).place("a", "full", 0, 5)
    script.transfer("a", "full", 0, 5, tokens=4, start=2).read("a", "full", 0, 0, 4).complete()
    assert script.sentences("neutrality") == [
        "request a: column 0 of group full reads entries [0, 4) of block 5, "
        "which holds entries [2, 4) (step 0)"
    ]


def test_entries_behind_a_transfer_are_not_its_own() -> None:
    script = Script().submit("a", ("doc", 9)).place("a", "full", 0, 5)
    script.transfer("a", "full", 0, 5, tokens=3).read("a", "full", 0, 0, 3).complete()
    assert script.sentences("neutrality") == []
    assert script.read("a", "full", 0, 0, 4).complete().sentences("neutrality") == [
        "request a: column 0 of group full reads entries [0, 4) of block 5, "
        "which holds entries [0, 3) (step 1)"
    ]

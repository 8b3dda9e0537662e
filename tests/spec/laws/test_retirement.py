"""retirement: few state columns, and none that is still needed is freed."""

from .script import Script, geometry
from .test_clean import two_requests


def holding(columns: int, steps_in_flight: int = 1, checkpoint: int | None = None) -> Script:
    """`a` holds so many state columns when its chunk [0, 4) writes the first."""
    shape = geometry(steps_in_flight=steps_in_flight, checkpoint_alignment_tokens=1)
    script = Script(shape).submit("a", ("doc", 40)).schedule("a", 0, 4, 40, checkpoint=checkpoint)
    script.place("a", "state", 0, *range(1, columns + 1))
    return script.write("a", "state", 0, 1, start=0, end=4).complete()


def test_a_clean_trace_passes() -> None:
    assert two_requests().sentences("retirement") == []


def test_two_columns_are_allowed_and_three_are_named() -> None:
    assert holding(2).sentences("retirement") == []
    assert holding(3).sentences("retirement") == [
        "request a: group state holds 3 state columns, 2 are allowed (step 0)"
    ]


def test_a_checkpoint_of_this_step_counts() -> None:
    assert holding(3, checkpoint=2).sentences("retirement") == []


def test_drafts_count() -> None:
    script = Script(geometry(drafts=2)).submit("a", ("doc", 8)).place("a", "state", 0, 1, 2, 3, 4)
    assert script.write("a", "state", 0, 1, start=0, end=4).sentences("retirement") == []


def test_steps_in_flight_count() -> None:
    script = holding(2, steps_in_flight=2).place("a", "state", 2, 3)
    script.write("a", "state", 0, 1, start=4, end=5, source=1).complete()
    assert script.sentences("retirement") == []
    script.place("a", "state", 3, 4).write("a", "state", 0, 1, start=5, end=6, source=1)
    assert script.complete().sentences("retirement") == [
        "request a: group state holds 4 state columns, 3 are allowed (step 2)"
    ]


def test_a_copy_of_this_step_counts() -> None:
    script = Script().submit("a", ("doc", 8)).place("a", "state", 0, 1, 2, 3)
    script.copy_on_write("a", "state", 0, 9).write("a", "state", 0, 9, start=0, end=4).complete()
    assert script.sentences("retirement") == []


def test_a_state_that_was_freed_and_is_read_is_named() -> None:
    script = Script().submit("a", ("doc", 8)).place("a", "state", 0, 1)
    script.write("a", "state", 0, 1, start=0, end=4).null("a", "state", 0).complete()
    script.place("a", "state", 1, 2).read("a", "state", 0, 1, 4).copy("a", "state", 1, 2)
    assert script.complete().sentences("retirement") == [
        "request a: block 1 of group state with the state at 4 tokens was freed "
        "while it is still needed (step 1)",
        "request a: block 1 of group state with the running state was freed "
        "while it is still needed (step 1)",
    ]

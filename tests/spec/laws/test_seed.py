"""seed: a resume reads the column of the state grid; initial iff restored."""

from .script import Script
from .test_clean import two_requests


def resumed(column: int, block: int, tokens: int = 8) -> Script:
    """`b` has adopted state@8 (block 5, column 1) and reads what the arguments say."""
    script = two_requests().submit("c", ("doc", 8), ("tail-c", 4), output=1)
    script.schedule("c", 8, 12, 12).adopt("c", "state", 1, 5, tokens=8)
    return script.place("c", "state", 2, 9).read("c", "state", column, block, tokens)


def test_the_right_column_passes() -> None:
    assert two_requests().sentences("seed") == []
    assert resumed(1, 5).complete().sentences("seed") == []


def test_a_column_of_another_grid_is_named() -> None:
    assert resumed(3, 0).complete().sentences("seed") == [
        "request c: group state resumes at 8 from column 3, not 1 (step 5)"
    ]


def test_the_running_column_after_the_copy_passes() -> None:
    script = two_requests().submit("c", ("doc", 8), ("tail-c", 4), output=1)
    script.schedule("c", 8, 12, 12).adopt("c", "state", 1, 5, tokens=8).place("c", "state", 2, 9)
    script.copy("c", "state", 5, 9).read("c", "state", 2, 9, 8).complete()
    assert script.sentences("seed") == []


def test_a_block_that_the_column_does_not_hold_is_named() -> None:
    assert resumed(1, 4).complete().sentences("seed") == [
        "request c: group state reads block 4 but column 1 holds block 5 (step 5)"
    ]


def test_a_position_that_is_not_the_start_is_named() -> None:
    assert resumed(0, 5, 4).complete().sentences("seed")[0] == (
        "request c: group state claims state@4 but its chunk starts at 8 (step 5)"
    )


def test_a_resume_from_the_zero_state_is_named() -> None:
    script = resumed(1, 5).write("c", "state", 2, 9, start=8, end=12).complete()
    assert script.sentences("seed") == [
        "request c: group state starts at 8 tokens from the zero state: "
        "nothing was restored (step 5)"
    ]


def test_an_initial_state_that_nobody_restored_is_named() -> None:
    script = Script().submit("a", ("doc", 4)).schedule("a", 0, 4, 4).place("a", "state", 0, 1)
    script.write("a", "state", 0, 1, start=0, end=4, source=1).complete()
    assert script.sentences("seed") == [
        "request a: group state starts at 0 tokens from the state in block 1, "
        "which nobody restored (step 0)"
    ]

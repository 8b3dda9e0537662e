"""The mirror copies, reads and writes what a worker would, worked out by hand from the rules: the
column of the state is that of the chunk's last token, the state before lies as far behind it as
tokens were accepted, and a boundary that acceptance crossed is copied to its own column.

Blocks are named 10, 11, 12, … by their column; a state block holds 16 tokens."""

import pytest

from .worker import PAGES, STATE, Worker, arrives, short

ROW = [10, 11, 12, 13, 14, 15]
"""Columns 0 to 5 of a request's state group."""


def decoding(worker: Worker, computed: int, row: list[int] | None = None) -> None:
    """A request `r` whose prefill has just ended at `computed` tokens."""
    worker.step({"r": computed}, new=(arrives("r", 0, row or ROW),))


def test_a_first_chunk_starts_from_the_zero_state() -> None:
    assert short(Worker().step({"r": 20}, new=(arrives("r", 0, [10, 11]),))) == [
        ("write", 1, 11, 0, 20, None, 0)
    ]


def test_the_state_moves_to_the_column_of_the_chunks_end() -> None:
    worker = Worker()
    worker.step({"r": 16}, new=(arrives("r", 0, [10]),))
    assert short(worker.step({"r": 24}, cached={"r": (16, [[0, 12]])})) == [
        ("read", 0, 10, 16),
        ("copy", 10, 12, "pre"),
        ("write", 2, 12, 16, 40, 12, 0),
    ]


def test_nothing_is_copied_within_a_column() -> None:
    worker = Worker()
    decoding(worker, 20)
    assert short(worker.step({"r": 1}, cached={"r": (20, None)})) == [
        ("read", 1, 11, 20),
        ("write", 1, 11, 20, 21, 11, 0),
    ]


def test_a_verification_leaves_a_state_a_token_and_says_what_was_rejected() -> None:
    worker = Worker()
    decoding(worker, 20)
    # Two drafts, one of them right: tokens 20 and 21 stay, the state behind both saw the other.
    assert short(worker.step({"r": 3}, cached={"r": (20, None)}, accepted={"r": (1, 2)})) == [
        ("read", 1, 11, 20),
        ("write", 3, 13, 20, 22, 11, 1),
        ("write", 2, 12, 20, 22, 11, 0),
        ("write", 1, 11, 20, 21, 11, 0),
    ]


def test_the_next_step_starts_behind_the_accepted_drafts() -> None:
    worker = Worker()
    decoding(worker, 20)
    worker.step({"r": 3}, cached={"r": (20, None)}, accepted={"r": (1, 2)})
    assert short(worker.step({"r": 1}, cached={"r": (22, None)})) == [
        ("read", 2, 12, 22),
        ("write", 1, 11, 22, 23, 12, 0),
    ]


def test_a_new_column_is_filled_from_behind_the_accepted_drafts() -> None:
    worker = Worker()
    decoding(worker, 27)
    # 27 + 3 = 30 all stay; 30 + 3 = 33 is in column 2.
    worker.step({"r": 3}, cached={"r": (27, None)}, accepted={"r": (2, 2)})
    moved = worker.step({"r": 3}, cached={"r": (30, None)}, accepted={"r": (0, 2)})
    assert short(moved) == [
        ("read", 3, 13, 30),
        ("copy", 13, 12, "pre"),
        ("write", 4, 14, 30, 31, 12, 2),
        ("write", 3, 13, 30, 31, 12, 1),
        ("write", 2, 12, 30, 31, 12, 0),
    ]
    # Only one token stayed: the state is in the column itself.
    assert short(worker.step({"r": 1}, cached={"r": (31, None)}))[0] == ("read", 2, 12, 31)


def test_a_boundary_that_acceptance_crossed_goes_to_its_own_column() -> None:
    worker = Worker()
    decoding(worker, 30)
    # 30 + 3 = 33: column 2 holds state@31, column 3 state@32, which belongs into column 1.
    lines = worker.step({"r": 3}, cached={"r": (30, None)}, accepted={"r": (2, 2)})
    assert short(lines)[-1] == ("copy", 13, 11, "boundary")
    # The running state stays two tokens behind its column.
    assert short(worker.step({"r": 1}, cached={"r": (33, None)}))[0] == ("read", 4, 14, 33)


def test_a_boundary_in_the_running_column_becomes_the_running_state() -> None:
    worker = Worker()
    decoding(worker, 13)
    # 13 + 3 = 16 ends column 0: state@16 lies in column 2.
    lines = worker.step({"r": 3}, cached={"r": (13, None)}, accepted={"r": (2, 2)})
    assert short(lines)[-1] == ("copy", 12, 10, "boundary")
    assert short(worker.step({"r": 1}, cached={"r": (16, None)})) == [
        ("read", 0, 10, 16),
        ("copy", 10, 11, "pre"),
        ("write", 1, 11, 16, 17, 11, 0),
    ]


@pytest.mark.parametrize("right", [0, 1])
def test_no_boundary_is_copied_that_acceptance_did_not_reach(right: int) -> None:
    worker = Worker()
    decoding(worker, 13)
    lines = worker.step({"r": 3}, cached={"r": (13, None)}, accepted={"r": (right, 2)})
    assert [one for one in short(lines) if one[0] == "copy"] == []


def test_a_chunk_that_ends_on_a_boundary_needs_no_copy() -> None:
    lines = Worker().step({"r": 32}, new=(arrives("r", 0, [0, 11]),))
    assert short(lines) == [("write", 1, 11, 0, 32, None, 0)]


def test_a_checkpoint_is_exported_before_the_chunks_end() -> None:
    worker = Worker(checkpoints={(16, 60): (32, 1)})
    worker.step({"r": 16}, new=(arrives("r", 0, [10]),))
    assert short(worker.step({"r": 44}, cached={"r": (16, [[11, 12, 13]])}))[1:] == [
        ("copy", 10, 13, "pre"),
        ("write", 1, 11, 16, 32, 13, 0),
        ("write", 3, 13, 16, 60, 13, 0),
    ]


def test_a_checkpoint_without_a_block_is_not_exported() -> None:
    worker = Worker(checkpoints={(16, 60): (32, 1)})
    worker.step({"r": 16}, new=(arrives("r", 0, [10]),))
    lines = worker.step({"r": 44}, cached={"r": (16, [[0, 0, 13]])})
    assert [one for one in short(lines) if one[0] == "write"] == [("write", 3, 13, 16, 60, 13, 0)]


def test_a_verification_exports_no_checkpoint() -> None:
    worker = Worker(checkpoints={(20, 23): (21, 0)})
    decoding(worker, 20)
    lines = worker.step({"r": 3}, cached={"r": (20, None)}, accepted={"r": (2, 2)})
    assert [one[1] for one in short(lines) if one[0] == "write"] == [3, 2, 1]


def test_copies_on_write_come_before_everything_else() -> None:
    worker = Worker()
    decoding(worker, 20)
    lines = worker.step({"r": 1}, cached={"r": (20, None)}, copies=((11, 40),))
    assert short(lines)[:2] == [("copy", 11, 40, "copy_on_write"), ("read", 1, 11, 20)]
    assert [line["order"] for line in lines] == [0, 1, 2]


def test_a_resume_reads_the_column_of_its_last_token() -> None:
    lines = Worker().step({"r": 10}, new=(arrives("r", 32, [0, 11, 12]),))
    assert short(lines) == [
        ("read", 1, 11, 32),
        ("copy", 11, 12, "pre"),
        ("write", 2, 12, 32, 42, 12, 0),
    ]


def test_a_worker_that_divides_by_a_smaller_block_looks_too_far_right() -> None:
    # (32 - 1) // 8 = 3, where the row has nothing.
    lines = Worker(seed=8).step({"r": 10}, new=(arrives("r", 32, [0, 11, 12]),))
    assert short(lines)[:2] == [("read", 3, 0, 32), ("copy", 0, 12, "pre")]


def test_a_read_through_a_hole_is_told_as_one() -> None:
    lines = Worker().step({"r": 10}, new=(arrives("r", 32, [0, 0, 12]),))
    assert short(lines)[:2] == [("read", 1, 0, 32), ("copy", 0, 12, "pre")]


def test_rows_only_grow() -> None:
    worker = Worker()
    decoding(worker, 16, [10])
    worker.step({"r": 16}, cached={"r": (16, [[11]])})
    worker.step({"r": 16}, cached={"r": (32, [[12]])})
    assert worker.mirror.rows.of["r"].columns == [[10, 11, 12]]


def test_a_resumed_row_is_replaced_and_its_state_is_looked_for_anew() -> None:
    worker = Worker()
    decoding(worker, 40)
    lines = worker.step({"r": 8}, cached={"r": (16, [[50, 51]])}, resumed=("r",))
    assert worker.mirror.rows.of["r"].columns == [[50, 51]]
    assert short(lines)[:2] == [("read", 0, 50, 16), ("copy", 50, 51, "pre")]


def test_a_finished_request_leaves() -> None:
    worker = Worker()
    decoding(worker, 20)
    worker.step({}, finished=("r",))
    assert worker.mirror.rows.of == {}


def test_pages_are_read_up_to_the_chunk_and_written_with_its_drafts() -> None:
    worker = Worker(groups=(PAGES, STATE))
    worker.step({"r": 30}, new=(arrives("r", 0, [20, 21, 22], ROW),))
    lines = worker.step({"r": 3}, cached={"r": (30, None)}, accepted={"r": (1, 2)})
    pages = [line for line in lines if line["group"] == PAGES.name]
    assert [(p["kind"], p["column"]) for p in pages] == [("read", 1), ("write", 1)]
    assert pages[0]["tokens"] == 30
    assert pages[1]["blocks"] == [21, 22]
    assert (pages[1]["start"], pages[1]["end"], pages[1]["rejected_tokens"]) == (30, 32, 1)


def test_pages_are_read_through_the_column_of_the_last_known_token() -> None:
    worker = Worker(groups=(PAGES, STATE))
    worker.step({"r": 32}, new=(arrives("r", 0, [20, 21], ROW),))
    lines = worker.step({"r": 1}, cached={"r": (32, [[22], []])})
    pages = [line for line in lines if line["group"] == PAGES.name]
    assert [(p["kind"], p["column"]) for p in pages] == [("read", 1), ("write", 2)]


def test_positions_are_what_the_scheduler_says() -> None:
    worker = Worker()
    decoding(worker, 20)
    worker.step({"r": 3}, cached={"r": (20, None)}, accepted={"r": (2, 2)})
    # The scheduler took one of the three tokens back.
    assert short(worker.step({"r": 1}, cached={"r": (22, None)}))[-1][3:5] == (22, 23)


def test_every_state_group_does_the_same() -> None:
    worker = Worker(groups=(STATE, STATE))
    worker.step({"r": 16}, new=(arrives("r", 0, [10], [30]),))
    lines = worker.step({"r": 16}, cached={"r": (16, [[11], [31]])})
    assert [one for one in short(lines) if one[0] == "copy"] == [
        ("copy", 10, 11, "pre"),
        ("copy", 30, 31, "pre"),
    ]

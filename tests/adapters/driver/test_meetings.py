"""Operations that run side by side and meet in a block are said; those that wait are not."""

from .worker import PAGES, STATE, Worker, arrives, meetings


def test_requests_apart_do_not_meet() -> None:
    worker = Worker()
    both = (arrives("a", 0, [10, 11]), arrives("b", 0, [20, 21]))
    assert meetings(worker.step({"a": 16, "b": 16}, new=both)) == []
    later = {"a": (16, None), "b": (16, None)}
    assert meetings(worker.step({"a": 16, "b": 16}, cached=later)) == []


def test_two_requests_that_write_a_state_into_one_block_meet() -> None:
    both = (arrives("a", 0, [10]), arrives("b", 0, [10]))
    assert meetings(Worker().step({"a": 16, "b": 16}, new=both)) == [(10, "forward", ("a", "b"))]


def test_a_block_is_told_once_a_phase() -> None:
    three = tuple(arrives(name, 0, [10]) for name in "abc")
    lines = Worker().step({"a": 16, "b": 16, "c": 16}, new=three)
    assert meetings(lines) == [(10, "forward", ("a", "b"))]


def test_entries_of_two_steps_do_not_meet() -> None:
    worker = Worker(groups=(PAGES, STATE))
    worker.step({"a": 9}, new=(arrives("a", 0, [20], [10]),))
    assert meetings(worker.step({"b": 4}, new=(arrives("b", 8, [20], [11]),))) == []


def test_a_checkpoint_in_the_running_block_meets_the_chunks_own_end() -> None:
    worker = Worker(checkpoints={(0, 40): (16, 1)})
    lines = worker.step({"a": 40}, new=(arrives("a", 0, [0, 10, 10]),))
    assert meetings(lines) == [(10, "forward", ("a", "a"))]


def test_the_kernel_of_one_request_reads_its_state_before_it_writes() -> None:
    worker = Worker()
    worker.step({"a": 8}, new=(arrives("a", 0, [10, 11, 12]),))
    lines = worker.step({"a": 3}, cached={"a": (8, None)}, accepted={"a": (1, 2)})
    assert meetings(lines) == []


def test_a_copy_from_a_block_that_another_copy_fills_meets_it() -> None:
    worker = Worker()
    worker.step({"a": 8}, new=(arrives("a", 0, [10, 11, 12]),))
    chain = ((10, 11), (11, 12))
    lines = worker.step({"a": 1}, cached={"a": (8, None)}, copies=chain)
    assert meetings(lines) == [(11, "copy_on_write", ("a", "a"))]


def test_a_copy_into_a_block_that_another_copy_reads_meets_it() -> None:
    both = (arrives("a", 16, [10, 11]), arrives("b", 16, [20, 10]))
    lines = Worker().step({"a": 8, "b": 8}, new=both)
    assert (10, "pre", ("a", "b")) in meetings(lines)


def test_a_copy_waits_for_the_copies_on_write() -> None:
    both = (arrives("a", 16, [10, 11]), arrives("b", 16, [20, 21]))
    lines = Worker().step({"a": 8, "b": 8}, new=both, copies=((40, 10),))
    assert meetings(lines) == []


def test_the_null_block_is_met_by_everybody_and_told_of_by_the_laws() -> None:
    both = (arrives("a", 0, [0]), arrives("b", 0, [0]))
    assert meetings(Worker().step({"a": 16, "b": 16}, new=both)) == []


def test_entries_of_a_page_meet_where_they_overlap() -> None:
    worker = Worker(groups=(PAGES, STATE))
    both = (arrives("a", 0, [20], [10]), arrives("b", 8, [20], [11]))
    assert meetings(worker.step({"a": 9, "b": 4}, new=both)) == [(20, "forward", ("a", "b"))]


def test_entries_of_a_page_side_by_side_do_not_meet() -> None:
    worker = Worker(groups=(PAGES, STATE))
    both = (arrives("a", 0, [20], [10]), arrives("b", 8, [20], [11]))
    assert meetings(worker.step({"a": 8, "b": 4}, new=both)) == []

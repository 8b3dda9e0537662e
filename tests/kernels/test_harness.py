"""The harness tells passing, failing, dying, ending and hanging cases apart, and goes on after
each; the process that tests does not interpret."""

import os

import pytest

from .harness import Isolated, case_names

FATES = {
    "case_passes": "",
    "case_fails": "AssertionError: found 4",
    "case_dies": "died with signal 11",
    "case_reads_behind_a_tensor": "died with signal 11",
    "case_ends_the_process": "ended the process with 3",
    "case_reads_up_to_the_end": "",
    "case_zones_tell": "",
    "case_outputs_are_zoned": "",
    "case_programs_run_backwards": "",
    "case_nan_is_never_near": "",
}


def test_each_case_meets_its_own_fate(isolated: Isolated) -> None:
    said = {case: isolated.run("canary", case).said for case in FATES}
    for case, expected in FATES.items():
        assert expected in said[case], said[case]
        assert bool(expected) == bool(said[case]), said[case]


def test_the_dead_say_where_they_died(isolated: Isolated) -> None:
    assert "in case_dies" in isolated.run("canary", "case_dies").said


def test_a_late_case_is_ended_and_the_next_one_runs() -> None:
    with Isolated(limit_seconds=2) as hurried:
        assert hurried.run("canary", "case_hangs").said.startswith("took longer than 2 s")
        assert hurried.run("canary", "case_passes").said == ""


def test_a_module_that_is_missing_is_a_failure(isolated: Isolated) -> None:
    assert "ModuleNotFoundError" in isolated.run("no_such_module", "case_passes").said


def test_expecting_a_failure_fails_with_its_reason(isolated: Isolated) -> None:
    with pytest.raises(AssertionError, match=r"canary\.case_fails: (.|\n)*found 4"):
        isolated.expect("canary", "case_fails")


def test_cases_are_named_in_their_order_without_being_run() -> None:
    assert case_names("canary")[:3] == ["case_passes", "case_fails", "case_dies"]


def test_each_case_has_a_fate() -> None:
    assert {*FATES, "case_hangs"} == {*case_names("canary")}


def test_a_module_without_cases_is_an_error() -> None:
    with pytest.raises(ValueError, match="0 functions named case_"):
        case_names("__init__")


def test_this_process_does_not_interpret() -> None:
    assert "TRITON_INTERPRET" not in os.environ

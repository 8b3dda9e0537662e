"""Every golden entry passes or is noted, and fails if any one of its expected values is wrong."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from truehit.proofs.golden import GoldenResult, run_entry, run_golden
from truehit.proofs.golden.entries import Entry, derivable_entries, load_entries
from truehit.proofs.golden.results import all_cases
from truehit.proofs.golden.verdict import judge, plain

ENTRIES = {entry.name: entry for entry in derivable_entries()}
NOTES = Path(__file__).parents[2] / "docs" / "golden-notes.md"


def wrong(value: Any) -> Iterator[Any]:
    """The value with exactly one leaf changed, once for every leaf."""
    match value:
        case dict() if value:
            for key, item in value.items():
                yield from ({**value, key: changed} for changed in wrong(item))
        case list() if value:
            for index, item in enumerate(value):
                for changed in wrong(item):
                    yield [*value[:index], changed, *value[index + 1 :]]
        case bool():
            yield not value
        case int():
            yield value + 1
        case str():
            yield value + "?"
        case _:
            yield 0


@pytest.mark.parametrize("entry_id", ENTRIES)
def test_entry_holds_and_every_expected_value_matters(entry_id: str) -> None:
    entry, case = ENTRIES[entry_id], all_cases()[entry_id]
    values = case.actual()
    computed = replace(case, actual=lambda: values, stated={})
    expected: Mapping[Any, Any] = plain({**entry.expected, **case.stated})
    result = judge(replace(entry, expected=dict(expected)), computed)
    assert result.status != "failed", result.detail
    assert (result.status == "noted") == bool(case.noted)
    for key in expected.keys() - case.noted.keys():
        for changed in wrong(expected[key]):
            mistaken = replace(entry, expected={**expected, key: changed})
            assert judge(mistaken, computed).status == "failed", (key, changed)


def test_all_results_come_in_file_order_with_three_notes() -> None:
    results = run_golden()
    assert [result.id for result in results] == list(ENTRIES)
    noted = {result.id for result in results if result.status == "noted"}
    assert noted == {"G001-05", "G001-16", "G004-04"}
    assert [result.detail for result in results if result.status == "failed"] == []
    assert run_entry("G001-05") == next(each for each in results if each.id == "G001-05")


def test_69_of_71_entries_are_derivable_and_each_has_one_case() -> None:
    assert len(load_entries()) == 71
    assert len(ENTRIES) == 69
    assert all_cases().keys() == ENTRIES.keys()


def test_notes_speak_of_every_noted_and_every_underivable_entry() -> None:
    text = NOTES.read_text(encoding="utf-8")
    noted = {name for name, case in all_cases().items() if case.noted}
    underivable = {entry.name for entry in load_entries()} - ENTRIES.keys()
    assert {name for name in noted | underivable if f"{name}" not in text} == set()


def judged(expected: dict[str, Any], **fields: Any) -> GoldenResult:
    """The verdict on a made-up entry under the case of G004-07."""
    entry = Entry("G004-07", "made up", "yes", expected)
    return judge(entry, replace(all_cases()["G004-07"], stated={}, **fields))


def test_a_value_that_is_missing_or_not_expected_fails() -> None:
    assert judged({"P_lt_2B": [0], "more": 1}).detail == "more: not computed"
    assert judged({}).detail == "P_lt_2B: computed but not expected"


def test_zero_is_not_false() -> None:
    assert judged({"P_lt_2B": [False]}).status == "failed"


def test_an_entry_without_a_case_fails() -> None:
    assert judge(ENTRIES["G004-07"], None).status == "failed"


def test_a_case_that_breaks_is_one_failed_entry() -> None:
    def broken() -> Mapping[str, Any]:
        raise ValueError("nothing to unpack")

    result = judged({"P_lt_2B": [0]}, actual=broken)
    assert (result.status, result.detail) == ("failed", "raised ValueError: nothing to unpack")


def test_a_note_that_is_no_longer_needed_fails() -> None:
    note = {"before_hit": replace(all_cases()["G001-05"].noted["before_hit"], ours=0)}
    case = replace(all_cases()["G001-05"], noted=note)
    assert "yet the entry says the same" in judge(ENTRIES["G001-05"], case).detail

"""The only place that says whether a golden entry passed, is noted or failed.

passed: every expected value was computed exactly. noted: some values are ours instead, each with a
reason, and each still differs from the entry (a note no longer needed fails). failed: the rest.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from truehit.proofs.golden.entries import Entry
from truehit.proofs.golden.registry import Case

Status = Literal["passed", "noted", "failed"]


@dataclass(frozen=True, slots=True)
class GoldenResult:
    """`detail` is empty when passed; one line a difference or note otherwise."""

    id: str
    what: str
    status: Status
    detail: str


def plain(value: Any) -> Any:
    """Lists for tuples, dicts for mappings, so that only values are compared."""
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


def differences(expected: Mapping[Any, Any], actual: Mapping[Any, Any]) -> list[str]:
    """One line for every key whose values differ; a key on one side only differs."""
    lines = [f"{key}: not computed" for key in expected if key not in actual]
    lines += [f"{key}: computed but not expected" for key in actual if key not in expected]
    for key in expected:
        if key in actual and not same(expected[key], actual[key]):
            lines.append(f"{key}: expected {plain(expected[key])!r}, got {plain(actual[key])!r}")
    return lines


def same(left: Any, right: Any) -> bool:
    """Equal in value and in type: 0 is not False."""
    a, b = plain(left), plain(right)
    return repr(_sorted(a)) == repr(_sorted(b))


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        items = ((key, _sorted(item)) for key, item in value.items())
        return dict(sorted(items, key=lambda item: str(item[0])))
    return [_sorted(item) for item in value] if isinstance(value, list) else value


def judge(entry: Entry, case: Case | None) -> GoldenResult:
    """Run the case of an entry and compare."""
    if case is None:
        return GoldenResult(entry.name, entry.what, "failed", "no case computes this entry")
    expected: dict[Any, Any] = {**entry.expected, **case.stated}
    lines: list[str] = []
    notes: list[str] = []
    for key, note in case.noted.items():
        if key not in expected:
            lines.append(f"{key}: noted but not expected")
        elif same(expected[key], note.ours):
            lines.append(f"{key}: noted, yet the entry says the same")
        notes.append(f"{key}: {plain(note.ours)!r} instead of {expected.get(key)!r}: {note.why}")
        expected[key] = note.ours
    lines += _compute_and_compare(expected, case)
    if lines:
        return GoldenResult(entry.name, entry.what, "failed", "\n".join(lines))
    status: Status = "noted" if notes else "passed"
    return GoldenResult(entry.name, entry.what, status, "\n".join(notes))


def _compute_and_compare(expected: Mapping[Any, Any], case: Case) -> list[str]:
    try:
        return differences(expected, case.actual())
    except Exception as error:  # a case that breaks is one failed entry, not the end of all others
        return [f"raised {type(error).__name__}: {error}"]

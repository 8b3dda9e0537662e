"""Expected values against what a trace shows: one line a difference."""

from collections.abc import Mapping, Sequence
from typing import Any

from truehit.proofs.cases.facets import FACETS
from truehit.spec.trace import Event


def differences(expect: Mapping[str, Any], events: Sequence[Event]) -> list[str]:
    """One line for every value that is not as expected. Keys that `expect` leaves out are not
    asked, unless it is empty; lists are compared whole."""
    lines: list[str] = []
    for facet, wanted in expect.items():
        lines += _compare(facet, wanted, FACETS[facet](events))
    return lines


def _compare(where: str, wanted: Any, seen: Any) -> list[str]:
    if isinstance(wanted, Mapping) and isinstance(seen, Mapping) and wanted:
        lines: list[str] = []
        for key, value in wanted.items():
            if key in seen:
                lines += _compare(f"{where}.{key}", value, seen[key])
            else:
                lines.append(f"{where}.{key}: expected {value!r}, nothing was seen")
        return lines
    if _plain(seen) == wanted:
        return []
    return [f"{where}: expected {wanted!r}, got {_plain(seen)!r}"]


def _plain(value: Any) -> Any:
    """Lists for tuples, plain text for words: the form that a file has."""
    match value:
        case str():
            return str(value)
        case tuple() | list():
            return [_plain(item) for item in value]
        case _:
            return value

"""A golden case computes what an entry of golden.yaml expects; it does not judge itself.

The expected values are those of the entry. Where the entry is prose, `stated` holds its numbers
beside the id; where we believe that it is wrong or cannot be had, `noted` holds our value and why.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

Values = Mapping[Any, Any]


@dataclass(frozen=True, slots=True)
class Note:
    """Our value of an expected key where it is not the entry's; derived in docs/golden-notes.md."""

    ours: Any
    why: str


@dataclass(frozen=True, slots=True)
class Case:
    """One entry: `actual()` has a value for every expected key."""

    entry: str
    actual: Callable[[], Values]
    stated: Values = field(default_factory=dict)
    noted: Mapping[str, Note] = field(default_factory=dict)


def case(
    entry: str, *, stated: Values | None = None, noted: Mapping[str, Note] | None = None
) -> Callable[[Callable[[], Values]], Case]:
    """Make a case of the function below it."""

    def make(actual: Callable[[], Values]) -> Case:
        return Case(entry, actual, stated or {}, noted or {})

    return make


def cases_of(*modules: ModuleType) -> dict[str, Case]:
    """Every case of the modules by entry; ValueError if two claim the same entry."""
    found: dict[str, Case] = {}
    for module in modules:
        for value in vars(module).values():
            if not isinstance(value, Case):
                continue
            if value.entry in found:
                raise ValueError(f"{module.__name__}: {value.entry} has two cases; one works")
            found[value.entry] = value
    return found

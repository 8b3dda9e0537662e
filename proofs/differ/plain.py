"""Plain values: whole numbers, text, and tuples and records of them, as a trace file gives them
back.

An array engine easily lets a number of its own through, which compares equal and is written
differently. Asked of every event, so the types of a record are judged once a combination."""

from collections.abc import Callable
from dataclasses import fields
from functools import cache
from operator import attrgetter
from typing import Any

_NUMBERS = (int, bool, type(None))
_WHOLE = {int}


def is_plain_event(event: Any) -> bool:
    """True iff every field is plain."""
    record: Any = type(event)
    values = _values(record)(event)
    inside = _to_look_into(tuple(map(type, values)))
    if inside is None:
        return False
    for index in inside:
        value = values[index]
        if value and not is_plain(value):
            return False
    return True


def is_plain(value: Any) -> bool:
    """True iff the value and all it holds are plain."""
    kind = type(value)
    if kind is tuple or kind is list:
        return set(map(type, value)) == _WHOLE or all(map(is_plain, value))
    if kind in _NUMBERS or issubclass(kind, str):
        return True
    if kind is dict:
        return all(map(is_plain, value.values()))
    return _is_record(kind) and is_plain_event(value)


@cache
def _values(record: Any) -> Callable[[Any], tuple[Any, ...]]:
    """From a record of this class to the values of its fields."""
    names = [field.name for field in fields(record)]
    get = attrgetter(*names)
    return get if len(names) > 1 else lambda event: (get(event),)


@cache
def _to_look_into(kinds: tuple[type, ...]) -> tuple[int, ...] | None:
    """Where there are values to look into, if everything else is plain; None: something is not."""
    inside = []
    for index, kind in enumerate(kinds):
        if kind in (tuple, list, dict) or _is_record(kind):
            inside.append(index)
        elif kind not in _NUMBERS and not issubclass(kind, str):
            return None
    return tuple(inside)


def _is_record(kind: type) -> bool:
    return hasattr(kind, "__dataclass_fields__")

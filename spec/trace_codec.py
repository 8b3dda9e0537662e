"""How one kind of event looks in JSON, worked out once from its dataclass.

Each line then costs one lookup of the types it carries: a combination of types that was seen and
accepted before is not looked at again. Lists are looked at element by element, every time.
"""

from collections.abc import Callable
from dataclasses import MISSING, fields
from enum import StrEnum
from operator import attrgetter, itemgetter
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

from truehit.spec.scenario_text import format_segment, parse_segment
from truehit.spec.tokens import Segment
from truehit.spec.trace import GroupReach

Convert = Callable[[Any], Any]
_NAMES = {
    int: "a whole number",
    str: "text",
    bool: "true or false",
    list: "a list",
    dict: "an object",
    NoneType: "null",
}
_SHOWN_CHARACTERS = 60


class Codec:
    """Between one event class and its JSON object. Every refusal is a ValueError with a sentence.

    `tag`: what the object says first, e.g. {"kind": "read"}. `words`: fields that take only the
    words of a closed list, though the event holds them as text.
    """

    __slots__ = (
        "_allowed",
        "_class",
        "_defaults",
        "_get",
        "_keys",
        "_known",
        "_readers",
        "_size",
        "_tag",
        "_values",
        "_writers",
    )

    def __init__(
        self, event_class: type[Any], tag: dict[str, str], words: dict[str, type[StrEnum]]
    ) -> None:
        hints = get_type_hints(event_class)
        declared = fields(event_class)
        self._class = event_class
        self._tag = tag
        self._keys = tuple(field.name for field in declared)
        self._size = len(tag) + len(self._keys)
        self._allowed = tuple(_json_types(hints[key]) for key in self._keys)
        self._defaults = {
            f.name: _json_default(f.default) for f in declared if f.default is not MISSING
        }
        self._readers = _present([_reader(key, hints[key], words.get(key)) for key in self._keys])
        self._writers = _present([_writer(hints[key]) for key in self._keys])
        self._get = _all_of(itemgetter, self._keys)
        self._values = _all_of(attrgetter, self._keys)
        self._known: set[tuple[type, ...]] = set()

    def to_json(self, event: Any) -> dict[str, Any]:
        """The object of an event: its tag, then every field."""
        data = {**self._tag, **dict(zip(self._keys, self._values(event), strict=True))}
        for index, convert in self._writers:
            key = self._keys[index]
            data[key] = convert(data[key])
        return data

    def from_json(self, data: dict[str, Any]) -> Any:
        """The event of an object; fields with a default may be left out."""
        try:
            values = self._get(data)
        except KeyError:
            data = self._completed(data)
            values = self._get(data)
        if len(data) != self._size:
            unknown = sorted(set(data) - set(self._keys) - set(self._tag))
            raise ValueError(f"{unknown[0]}: is an unknown key; {', '.join(self._keys)} work")
        types = tuple(map(type, values))
        if types not in self._known:
            self._learn(types, values)
        if not self._readers:
            return self._class(*values)
        converted = list(values)
        for index, convert in self._readers:
            converted[index] = convert(values[index])
        return self._class(*converted)

    def _completed(self, data: dict[str, Any]) -> dict[str, Any]:
        """With the defaults of the fields that were left out."""
        full = dict(data)
        for key in self._keys:
            if key not in data and key not in self._defaults:
                raise ValueError(f"{key}: is missing; {key} and its value works")
            if key not in data:
                full[key] = self._defaults[key]
        return full

    def _learn(self, types: tuple[type, ...], values: tuple[Any, ...]) -> None:
        """Accept a combination of types, or refuse the first field with a wrong one."""
        for key, kind, allowed, value in zip(self._keys, types, self._allowed, values, strict=True):
            if kind not in allowed:
                works = " or ".join(_NAMES[one] for one in allowed)
                raise ValueError(f"{key}: {_shown(value)} does not fit; {works} works")
        self._known.add(types)


def _all_of(getter: Callable[..., Convert], keys: tuple[str, ...]) -> Convert:
    """All values as a tuple; a getter of one key alone would return the bare value."""
    if len(keys) > 1:
        return getter(*keys)
    one = getter(keys[0])
    return lambda source: (one(source),)


def _present(converts: list[Convert | None]) -> tuple[tuple[int, Convert], ...]:
    return tuple((i, convert) for i, convert in enumerate(converts) if convert is not None)


def _json_default(default: Any) -> Any:
    match default:
        case tuple():
            return list(default)
        case StrEnum():
            return default.value
        case _:
            return default


def _json_types(hint: Any) -> tuple[type, ...]:
    if isinstance(hint, UnionType):
        return tuple(one for part in get_args(hint) for one in _json_types(part))
    origin = get_origin(hint) or hint
    return (list,) if origin is tuple else (origin,)


def _reader(key: str, hint: Any, words: type[StrEnum] | None) -> Convert | None:
    """From the JSON value of a field to its value; None: they are the same."""
    if get_origin(hint) is not tuple:
        return None if words is None else _word_reader(key, words)
    if words is not None:
        read = _word_reader(key, words)
        return lambda values: tuple(map(read, values))
    element = get_args(hint)[0]
    if element is Segment:
        return _inner(f"{key}: ", str, parse_segment)
    if element is GroupReach:
        return _inner(f"{key}.", dict, Codec(GroupReach, {}, {}).from_json)
    if get_origin(element) is tuple:
        return _pair_reader(key, get_args(element))
    return lambda values: tuple(_all_typed(key, values, element))


def _inner(path: str, kind: type, convert: Convert) -> Convert:
    """A list of things with a form of their own, whose refusals get the path in front."""
    key = path.rstrip(":. ")

    def read(values: list[Any]) -> tuple[Any, ...]:
        texts = _all_typed(key, values, kind)
        try:
            return tuple(map(convert, texts))
        except ValueError as error:
            raise ValueError(f"{path}{error}") from None

    return read


def _word_reader(key: str, words: type[StrEnum]) -> Convert:
    # Null is a word here only for fields that may be null: the types are checked before.
    table: dict[str | None, StrEnum | None] = {word.value: word for word in words}
    table[None] = None

    def read(value: Any) -> StrEnum | None:
        try:
            return table[value]
        except (KeyError, TypeError):
            works = ", ".join(words)
            raise ValueError(f"{key}: {_shown(value)} is unknown; {works} work") from None

    return read


def _pair_reader(key: str, kinds: tuple[type, ...]) -> Convert:
    def read(values: list[Any]) -> tuple[tuple[Any, ...], ...]:
        pairs = tuple(map(tuple, _all_typed(key, values, list)))
        for pair in pairs:
            if tuple(map(type, pair)) != kinds:
                works = " and ".join(_NAMES[kind] for kind in kinds)
                raise ValueError(f"{key}: {_shown(list(pair))} does not fit; {works} works")
        return pairs

    return read


def _all_typed(key: str, values: list[Any], kind: type) -> list[Any]:
    for value in values:
        if type(value) is not kind:
            raise ValueError(f"{key}: {_shown(value)} does not fit; {_NAMES[kind]} works")
    return values


def _writer(hint: Any) -> Convert | None:
    """From the value of a field to its JSON value; None: the encoder does it."""
    if get_origin(hint) is not tuple:
        return None
    match get_args(hint)[0]:
        case element if element is Segment:
            return lambda values: [format_segment(value) for value in values]
        case element if element is GroupReach:
            reach = Codec(GroupReach, {}, {}).to_json
            return lambda values: [reach(value) for value in values]
        case _:
            return None


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN_CHARACTERS else text[:_SHOWN_CHARACTERS] + "…"

"""Traces as JSON Lines: one event a line, written and read without loss, refused in one line.

The first line is the header. Fields with a default may be left out; unknown ones are refused.
"""

import json
from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Any, TextIO, cast, get_args

from truehit.spec.geometry_error import one_line
from truehit.spec.trace import (
    SCHEMA,
    Copy,
    CopyWhy,
    Cut,
    End,
    EndWhy,
    Event,
    Header,
    Lookup,
    Miss,
    Plane,
    Schedule,
    Table,
    TableOp,
    Unpublish,
    UnpublishWhy,
)
from truehit.spec.trace_codec import Codec

_WORDS: dict[type, dict[str, type[StrEnum]]] = {
    Header: {"planes": Plane},
    Lookup: {"reason": Miss},
    Schedule: {"cut": Cut},
    Table: {"op": TableOp},
    Copy: {"why": CopyWhy},
    Unpublish: {"why": UnpublishWhy},
    End: {"why": EndWhy},
}
_CODECS: dict[str, Codec] = {
    event.kind: Codec(event, {"kind": event.kind}, _WORDS.get(event, {}))
    for event in get_args(Event)
}


class TraceError(ValueError):
    """A line that is no event: its number (the first is 1) and one sentence."""

    def __init__(self, line: int, sentence: str) -> None:
        super().__init__(line, sentence)
        self.line = line
        self.sentence = sentence

    def __str__(self) -> str:
        return one_line(f"line {self.line}: {self.sentence}")


def write_events(file: TextIO, events: Iterable[Event]) -> None:
    """Append events, one line each. A file may be written in several calls, the header first."""
    encode = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode
    for event in events:
        file.write(encode(_CODECS[event.kind].to_json(event)) + "\n")


def event_from_json(data: dict[str, Any]) -> Event:
    """The event of one object; ValueError if it is none."""
    codec = _CODECS.get(data.get("kind", ""))
    if codec is None:
        raise ValueError(f"kind: {data.get('kind')!r} is unknown; {', '.join(_CODECS)} work")
    return cast(Event, codec.from_json(data))


def read_events(file: Iterable[str]) -> Iterator[Event]:
    """The events of a file; TraceError at the first line that is none, or without a header."""
    decode = json.JSONDecoder().decode
    codecs = _CODECS
    number = 0
    for number, text in enumerate(file, start=1):
        try:
            data = decode(text)
            codec = codecs[data["kind"]]
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise TraceError(number, _no_kind(text)) from error
        try:
            event = cast(Event, codec.from_json(data))
        except ValueError as error:
            raise TraceError(number, f"{data['kind']}.{error}") from error
        if number == 1 or event.kind == Header.kind:
            _check_header(number, event)
        yield event
    if number == 0:
        raise TraceError(1, "is missing; a header works")


def _check_header(number: int, event: Event) -> None:
    """One header, on the first line, in the schema that is read here."""
    if not isinstance(event, Header):
        raise TraceError(number, f"kind: '{event.kind}' comes before the header; header works")
    if number > 1:
        raise TraceError(number, f"kind: 'header' again, after line 1; {_other_kinds()} work")
    if event.schema != SCHEMA:
        raise TraceError(number, f"header.schema: {event.schema} is unknown; {SCHEMA} works")


def _no_kind(text: str) -> str:
    """Why a line does not lead to a kind of event."""
    try:
        data: Any = json.loads(text)
    except json.JSONDecodeError as error:
        where = f"is no JSON ({error.msg.lower()}, column {error.colno})"
        return f"{where}; one JSON object works"
    except (ValueError, RecursionError) as error:
        return f"is no JSON ({error}); one JSON object works"
    if not isinstance(data, dict):
        return "is no JSON object; one JSON object works"
    if "kind" not in data:
        return f"kind: is missing; {_other_kinds()} work"
    return f"kind: {data['kind']!r} is unknown; {_other_kinds()} work"


def _other_kinds() -> str:
    return ", ".join(kind for kind in _CODECS if kind != Header.kind)

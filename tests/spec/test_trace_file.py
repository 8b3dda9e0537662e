"""Every event survives its line exactly; a line that is no event is refused with its number."""

import io
import json
import pickle
import re
from dataclasses import MISSING, fields
from enum import StrEnum
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truehit.spec.tokens import Segment
from truehit.spec.trace import (
    Complete,
    Copy,
    CopyWhy,
    Cut,
    End,
    EndWhy,
    Event,
    GroupReach,
    Header,
    Lookup,
    Miss,
    Plane,
    Publish,
    Read,
    Schedule,
    Submit,
    Table,
    TableOp,
    Unpublish,
    UnpublishWhy,
)
from truehit.spec.trace_file import TraceError, read_events, write_events

HEADER = Header("reference", "default", {"hash_unit_tokens": 16}, ("lookup", "device"))
HEADER_LINE = '{"kind":"header","engine":"e","rules":"r","geometry":{},"planes":[]}\n'

counts = st.integers(0, 2**70)
names = st.text(max_size=8)
reaches = st.builds(GroupReach, names, counts, counts, counts)
segments = st.builds(Segment, st.text(min_size=1, max_size=8), counts)
ELEMENTS: dict[Any, st.SearchStrategy[Any]] = {
    int: counts,
    str: names,
    bool: st.booleans(),
    dict[str, Any]: st.dictionaries(names, counts | names | st.none() | st.lists(counts)),
    tuple[int, ...]: st.lists(counts, max_size=3).map(tuple),
    tuple[str, ...]: st.lists(names, max_size=3).map(tuple),
    tuple[Segment, ...]: st.lists(segments, max_size=3).map(tuple),
    tuple[GroupReach, ...]: st.lists(reaches, max_size=3).map(tuple),
    tuple[tuple[int, int], ...]: st.lists(st.tuples(counts, counts), max_size=3).map(tuple),
    tuple[tuple[str, int], ...]: st.lists(st.tuples(names, counts), max_size=3).map(tuple),
}
WORDS: dict[tuple[type, str], type[StrEnum]] = {
    (Schedule, "cut"): Cut,
    (Table, "op"): TableOp,
    (Copy, "why"): CopyWhy,
    (Unpublish, "why"): UnpublishWhy,
    (End, "why"): EndWhy,
}


def values(event_class: type, name: str, kind: Any) -> st.SearchStrategy[Any]:
    if (event_class, name) in WORDS:
        return st.sampled_from(WORDS[event_class, name])
    if (event_class, name) == (Lookup, "reason"):
        return st.none() | st.sampled_from(Miss)
    if kind in ELEMENTS:
        return ELEMENTS[kind]
    optional = [part for part in get_args(kind) if part is not type(None)]
    return st.none() | ELEMENTS[optional[0]]


def events_of(event_class: type) -> st.SearchStrategy[Any]:
    """Every field, optional or not, drawn by its declared type."""
    return st.builds(
        event_class, **{f.name: values(event_class, f.name, f.type) for f in fields(event_class)}
    )


BODY_CLASSES = [event_class for event_class in get_args(Event) if event_class is not Header]
headers = st.builds(
    Header,
    names,
    names,
    ELEMENTS[dict[str, Any]],
    st.lists(st.sampled_from(Plane)).map(tuple),
    names,
    st.just(1),
    counts,
)


def written(*events: Event) -> str:
    file = io.StringIO()
    write_events(file, events)
    return file.getvalue()


def read(text: str) -> list[Event]:
    return list(read_events(io.StringIO(text)))


@pytest.mark.parametrize("event_class", BODY_CLASSES, ids=lambda one: one.kind)
def test_every_kind_survives(event_class: type) -> None:
    @given(headers, events_of(event_class))
    def survives(header: Header, event: Event) -> None:
        text = written(header, event)
        assert text.count("\n") == 2
        back = read(text)
        assert back == [header, event]
        assert [type(one) for one in back] == [Header, event_class]

    survives()


def test_there_are_sixteen_kinds() -> None:
    assert len({event_class.kind for event_class in get_args(Event)}) == 16


def test_lists_come_back_as_tuples_and_words_as_words() -> None:
    events: list[Event] = [
        HEADER,
        Submit(0, "r1", (Segment("a:b", 7),), "output:r1", 3),
        Lookup(0, "r1", 6, (GroupReach("full", 4, 2, 2),), 0, 0, 0, None, Miss.DROPPED),
        Publish(1, "r1", "full", ((16, 3), (32, 4))),
        Complete(2, None, (("r1", 2),), ("r2",)),
        Table(2, "r1", "state", TableOp.MOVE, 3, (7,), (1,)),
    ]
    back = read(written(*events))
    assert back == events
    publish, table, lookup = back[3], back[5], back[2]
    assert isinstance(publish, Publish)
    assert isinstance(table, Table)
    assert isinstance(lookup, Lookup)
    assert (type(publish.keys), type(publish.keys[0])) == (tuple, tuple)
    assert table.op is TableOp.MOVE
    assert lookup.reason is Miss.DROPPED


def test_one_event_is_one_readable_line() -> None:
    assert written(Read(7, 2, "r1", "state", 0, 5, 1600)) == (
        '{"kind":"read","step":7,"order":2,"request":"r1","group":"state","column":0,'
        '"block":5,"tokens":1600}\n'
    )


@pytest.mark.parametrize("event_class", BODY_CLASSES, ids=lambda one: one.kind)
def test_fields_with_a_default_may_be_left_out(event_class: type) -> None:
    @given(events_of(event_class))
    def completes(event: Event) -> None:
        optional = {f.name for f in fields(event_class) if f.default is not MISSING}
        data = json.loads(written(event))
        short = {key: value for key, value in data.items() if key not in optional}
        (_, back) = read(HEADER_LINE + json.dumps(short) + "\n")
        for f in fields(event_class):
            expected = f.default if f.name in optional else getattr(event, f.name)
            assert getattr(back, f.name) == expected

    completes()


def test_a_trace_may_be_written_in_several_calls_to_a_file(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    with path.open("w", encoding="utf-8") as file:
        write_events(file, [HEADER])
        write_events(file, [Complete(0, None)])
    with path.open(encoding="utf-8") as file:
        assert list(read_events(file)) == [HEADER, Complete(0, None)]


READ = json.loads(written(Read(7, 2, "r1", "state", 0, 5, 1600)))
TABLE = json.loads(written(Table(1, "r1", "state", TableOp.PLACE, 0, (3,))))
SUBMIT = json.loads(written(Submit(0, "r1", (Segment("doc", 7),), "o", 1)))
LOOKUP = json.loads(written(Lookup(0, "r1", 6, (GroupReach("full", 4, 2, 2),), 0, 0, 0)))
PUBLISH = json.loads(written(Publish(1, "r1", "full", ((16, 3),))))
COPY = json.loads(written(Copy(1, 0, "r1", "state", 3, 4, CopyWhy.PRE)))
UNPUBLISH = json.loads(written(Unpublish(1, "state", (3,), UnpublishWhy.EVICTED)))
END = json.loads(written(End(1, "r1", EndWhy.FINISH)))
SCHEDULE = json.loads(written(Schedule(1, "r1", 0, 5, 5, 9)))
COMPLETE = json.loads(written(Complete(2, None, (("r1", 2),))))


def changed(data: dict[str, Any], **keys: Any) -> str:
    return json.dumps(data | keys)


def without(data: dict[str, Any], key: str) -> str:
    return json.dumps({name: value for name, value in data.items() if name != key})


BAD_LINES = [
    ("{", "is no JSON ("),
    ("", "is no JSON ("),
    ("[" * 100_000, "is no JSON ("),
    ("9" * 5000, "is no JSON ("),
    ("[1]", "is no JSON object; one JSON object works"),
    ("{}", "kind: is missing; submit, lookup, "),
    ('{"kind": "reed", "step": 1}', "kind: 'reed' is unknown; submit, lookup, "),
    ('{"kind": ["read"]}', "kind: ['read'] is unknown; submit, lookup, "),
    (without(READ, "block"), "read.block: is missing; block and its value works"),
    (changed(READ, colour=1), "read.colour: is an unknown key; step, order, "),
    (changed(READ, step="7"), "read.step: '7' does not fit; a whole number works"),
    (changed(READ, step=7.0), "read.step: 7.0 does not fit; a whole number works"),
    (changed(READ, step=True), "read.step: True does not fit; a whole number works"),
    (changed(READ, request=None), "read.request: None does not fit; text works"),
    (changed(TABLE, op="swap"), "table.op: 'swap' is unknown; place, adopt, "),
    (changed(TABLE, op=None), "table.op: None does not fit; text works"),
    (changed(TABLE, blocks=3), "table.blocks: 3 does not fit; a list works"),
    (changed(TABLE, blocks=[3, "4"]), "table.blocks: '4' does not fit; a whole number works"),
    (changed(COPY, why="pree"), "copy.why: 'pree' is unknown; pre, copy_on_write, "),
    (changed(UNPUBLISH, why="evict"), "unpublish.why: 'evict' is unknown; evicted, "),
    (changed(END, why="finished"), "end.why: 'finished' is unknown; finish, abort, "),
    (changed(SCHEDULE, cut="grid"), "schedule.cut: 'grid' is unknown; none, budget, "),
    (changed(LOOKUP, reason="bad"), "lookup.reason: 'bad' is unknown; capped, not_shared, "),
    (changed(LOOKUP, junction_tokens="no"), "lookup.junction_tokens: 'no' does not fit; "),
    (changed(LOOKUP, reaches=[1]), "lookup.reaches: 1 does not fit; an object works"),
    (changed(LOOKUP, reaches=[{}]), "lookup.reaches.group: is missing; group and its value"),
    (changed(SUBMIT, segments=["doc"]), "submit.segments: 'doc' is not a name and a count"),
    (changed(SUBMIT, segments=[7]), "submit.segments: 7 does not fit; text works"),
    (changed(PUBLISH, keys=[[16]]), "publish.keys: [16] does not fit; a whole number and a whole"),
    (changed(PUBLISH, keys=[16]), "publish.keys: 16 does not fit; a list works"),
    (changed(COMPLETE, accepted=[[2, 2]]), "complete.accepted: [2, 2] does not fit; text and a"),
    (HEADER_LINE, "kind: 'header' again, after line 1; submit, lookup, "),
]


@pytest.mark.parametrize(("line", "sentence"), BAD_LINES, ids=[bad[1][:50] for bad in BAD_LINES])
def test_a_bad_line_is_refused_with_its_number(line: str, sentence: str) -> None:
    good = written(Complete(0, None))
    with pytest.raises(TraceError, match=f"^line 3: {re.escape(sentence)}") as caught:
        read(HEADER_LINE + good + line + "\n")
    assert caught.value.line == 3
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "line 1: is missing; a header works"),
        (json.dumps(READ), "line 1: kind: 'read' comes before the header; header works"),
        (
            HEADER_LINE.replace("}\n", ',"schema":2}').replace("{,", "{"),
            "line 1: header.schema: 2 is unknown; 1 works",
        ),
        (
            HEADER_LINE.replace('"planes":[]', '"planes":["sound"]'),
            "line 1: header.planes: 'sound' is unknown; lookup, schedule, ",
        ),
    ],
)
def test_a_trace_begins_with_its_header(text: str, sentence: str) -> None:
    with pytest.raises(TraceError, match=f"^{re.escape(sentence)}"):
        read(text)


def test_events_before_a_bad_line_are_read() -> None:
    reader = read_events(io.StringIO(HEADER_LINE + "{\n"))
    assert next(reader).kind == "header"
    with pytest.raises(TraceError):
        next(reader)


def test_an_accepted_type_does_not_let_another_one_pass() -> None:
    """The types of a line are remembered: a good line must not open the door for a bad one."""
    good = changed(READ)
    for bad in (changed(READ, step="7"), changed(READ, block=None)):
        with pytest.raises(TraceError, match=r"^line 4: read"):
            read(HEADER_LINE + f"{good}\n{good}\n{bad}\n")


def test_an_error_survives_the_way_between_processes() -> None:
    copy = pickle.loads(pickle.dumps(TraceError(3, "read.step: 'x' does not fit")))
    assert (copy.line, str(copy)) == (3, "line 3: read.step: 'x' does not fit")

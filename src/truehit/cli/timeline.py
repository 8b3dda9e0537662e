"""The timeline of a trace: for each request, the columns of one state group by steps.

A cell shows what its column held last in the step, so a block that is published and given back in
one step is still seen. Contents are ghosts of the ledger, as for the laws: what was written, not
what is claimed.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from truehit.spec.geometry import Geometry
from truehit.spec.geometry_file import geometry_from_json
from truehit.spec.ghost import Garbage, State, StateContent, Unwritten
from truehit.spec.laws.base import Violation
from truehit.spec.ledger import Ledger
from truehit.spec.trace import Complete, End, Event, Header, Schedule, Table, TableOp, Write
from truehit.spec.units import running_column


@dataclass(frozen=True, slots=True)
class Cell:
    """One column in one step. `claim_tokens`: the position it is published for; None: no key.
    `holds`: what was really written, in short form; `broken`: a law names this cell."""

    running: bool
    scratch: bool
    checkpoint: bool
    claim_tokens: int | None
    holds: str
    broken: bool


@dataclass(frozen=True, slots=True)
class Frame:
    """The table of one request in steps [first, last], which look alike; holes are not in `cells`.
    `broken`: a law was broken by this request in this very step."""

    first: int
    last: int
    chunk: str
    decode: bool
    length: int
    cells: dict[int, Cell]
    broken: bool


@dataclass(slots=True)
class Strip:
    """One request: its frames in order of steps."""

    request: str
    frames: list[Frame] = field(default_factory=list)

    @property
    def broken(self) -> bool:
        return any(f.broken or any(c.broken for c in f.cells.values()) for f in self.frames)

    def within(self, first: int, last: int) -> "Strip":
        """The frames that touch steps [first, last]."""
        kept = [frame for frame in self.frames if frame.first <= last and frame.last >= first]
        return Strip(self.request, kept)

    def around_the_break(self, count: int) -> "Strip":
        """At most so many frames: around the first broken one, or from the start."""
        broken = next((i for i, frame in enumerate(self.frames) if frame.broken), 0)
        first = max(0, min(broken - count // 2, len(self.frames) - count))
        return Strip(self.request, self.frames[first : first + count])

    def columns(self) -> list[int]:
        """Columns that hold a block in some frame."""
        return sorted({column for frame in self.frames for column in frame.cells})


@dataclass(frozen=True, slots=True)
class Timeline:
    """`group` None: the geometry has no state group, so there is nothing to draw."""

    header: Header
    geometry: Geometry
    group: str | None
    block_tokens: int
    strips: tuple[Strip, ...]


def has_hole(content: StateContent) -> bool:
    """A state that skipped tokens: no prefix of anything."""
    match content:
        case State(spans):
            return len(spans) > 1 or any(low != 0 for low, _, _ in spans[:1])
        case _:
            return False


def short(content: StateContent) -> str:
    """`364`, `364+900` (a gap between), `-` (nobody wrote it), `?` (rejected drafts)."""
    match content:
        case Unwritten():
            return "-"
        case Garbage():
            return "?"
        case State(spans):
            return "+".join(str(high - low) for low, high, _ in spans) or "0"


class _Step:
    """What one request did in the step that is not closed yet."""

    __slots__ = ("cells", "checkpoint", "chunk", "decode", "exported", "length")

    def __init__(self) -> None:
        self.cells: dict[int, Cell] = {}
        self.length = 0
        self.chunk = ""
        self.decode = False
        self.checkpoint: int | None = None
        self.exported: int | None = None


class Builder:
    """Feeds a ledger and takes pictures: before columns are given back and at the end of a step."""

    def __init__(
        self, geometry: Geometry, group: str, block_tokens: int, marks: set[tuple[str, int, int]]
    ) -> None:
        self._ledger = Ledger(geometry)
        self._handlers = self._ledger.handlers()
        self._table_handlers = self._ledger.table_handlers()
        self._group = group
        self._block_tokens = block_tokens
        self._marks = marks
        self._broken_steps = {(request, step) for request, step, _ in marks}
        self._steps: dict[str, _Step] = {}
        self._running: dict[str, int] = {}
        self.strips: dict[str, Strip] = {}

    def book(self, event: Event) -> None:
        """Apply one event."""
        match event:
            case Table(op=TableOp.NULL, group=self._group) | End():
                self._picture(event.request, event.step)
            case Schedule():
                self._note_chunk(event)
            case Write(group=self._group) if event.end == self._of(event.request).checkpoint:
                self._of(event.request).exported = event.column
            case _:
                pass
        self._apply(event)
        if isinstance(event, End):
            self._running.pop(event.request, None)
        if isinstance(event, Complete):
            self._close(event)

    def _apply(self, event: Event) -> None:
        if isinstance(event, Table):
            handler = self._table_handlers.get(event.op)
        else:
            handler = self._handlers.get(type(event))
        if handler is not None:
            handler(event)

    def _of(self, request: str) -> _Step:
        return self._steps.setdefault(request, _Step())

    def _note_chunk(self, event: Schedule) -> None:
        if event.end == event.start:
            return
        step = self._of(event.request)
        step.chunk = f"{event.start}-{event.end}"
        step.decode = event.start >= event.prefill_end
        step.checkpoint = event.checkpoint_tokens
        self._running[event.request] = running_column(event.end, self._block_tokens)

    def _picture(self, request: str, at_step: int) -> None:
        book = self._ledger.request(at_step, request)
        table = book.tables[self._group]
        if not table.columns:
            return
        step = self._of(request)
        step.length = max(step.length, len(table.columns))
        for column in range(table.first_held, len(table.columns)):
            block = table.columns[column]
            if block:
                step.cells[column] = self._cell(request, at_step, column, block, step)

    def _cell(self, request: str, at_step: int, column: int, block: int, step: _Step) -> Cell:
        ledger = self._ledger
        entries = ledger.keys.of_block(block)
        group = ledger.groups[self._group]
        false = any(not ledger.device.entry_is_true(entry, group) for entry in entries)
        running = self._running.get(request)
        content = ledger.pool.states[block]
        marked = (request, at_step, column) in self._marks
        return Cell(
            running=column == running,
            scratch=running is not None and column > running,
            checkpoint=step.exported == column,
            claim_tokens=entries[-1].key[2] if entries else None,
            holds=short(content),
            broken=false or marked or has_hole(content),
        )

    def _close(self, event: Complete) -> None:
        for name, book in self._ledger.requests.items():
            if book.live:
                self._picture(name, event.step)
        for name, step in self._steps.items():
            if step.cells:
                self._add(name, event.step, step)
        self._steps.clear()
        self._ledger.close_step(event)

    def _add(self, name: str, at_step: int, step: _Step) -> None:
        broken = (name, at_step) in self._broken_steps
        frame = Frame(at_step, at_step, step.chunk, step.decode, step.length, step.cells, broken)
        frames = self.strips.setdefault(name, Strip(name)).frames
        if frames and _alike(frames[-1], frame):
            frames[-1] = replace(frame, first=frames[-1].first)
        else:
            frames.append(frame)


def _alike(one: Frame, next_one: Frame) -> bool:
    """Decoding and waiting steps are drawn once: only the running position moves."""
    if one.broken or next_one.broken or one.last + 1 != next_one.first:
        return False
    quiet = (one.decode and next_one.decode) or not (one.chunk or next_one.chunk)
    return quiet and _shape(one) == _shape(next_one)


def _shape(frame: Frame) -> tuple[object, ...]:
    cells = {column: replace(cell, holds="") for column, cell in frame.cells.items()}
    return (frame.length, cells)


def build(events: Iterable[Event], violations: Iterable[Violation], group: str | None) -> Timeline:
    """The timeline of the named state group, or the first; ValueError names the ones there are."""
    stream = iter(events)
    header = next(stream)
    if not isinstance(header, Header):
        raise ValueError("the first event is no header")
    geometry = geometry_from_json(header.geometry)
    names = [g.name for g in geometry.state_groups]
    if group is not None and group not in names:
        raise ValueError(f"'{group}' is no state group; {' or '.join(names) or 'none'} works")
    if not names:
        return Timeline(header, geometry, None, 0, ())
    name = group or names[0]
    block = next(g.block_tokens for g in geometry.state_groups if g.name == name)
    marks = {
        (v.request, v.step, v.column)
        for v in violations
        if v.column is not None and v.group == name
    }
    builder = Builder(geometry, name, block, marks)
    for event in stream:
        builder.book(event)
    return Timeline(header, geometry, name, block, tuple(builder.strips.values()))

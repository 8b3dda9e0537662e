"""A strip as a grid of words, the same for the terminal, Markdown and HTML."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from truehit.cli.timeline import Cell, Frame, Strip


class Look(StrEnum):
    """What a cell is, for colours."""

    PLAIN = "plain"
    NULL = "null"
    SCRATCH = "scratch"
    RUNNING = "running"
    PUBLISHED = "published"
    CHECKPOINT = "checkpoint"
    EARLIER = "earlier"
    BROKEN = "broken"


LEGEND = (
    (Look.NULL, ".", "null"),
    (Look.SCRATCH, "~", "scratch"),
    (Look.RUNNING, "R364", "running, holds 364 tokens"),
    (Look.PUBLISHED, "P1600", "published at 1600"),
    (Look.CHECKPOINT, "C", "checkpoint"),
    (Look.EARLIER, "o", "earlier"),
    (Look.BROKEN, "P1600!364", "published at 1600, holds 364"),
    (Look.BROKEN, "364+1200!", "has a hole after 364"),
)


@dataclass(frozen=True, slots=True)
class Word:
    """The text of a cell and what it is."""

    text: str
    look: Look


@dataclass(frozen=True, slots=True)
class Row:
    """A label and one word a frame."""

    label: str
    words: tuple[Word, ...]

    @property
    def is_empty(self) -> bool:
        """Only holes, or columns beyond the table."""
        return all(word.look is Look.NULL or not word.text for word in self.words)


@dataclass(frozen=True, slots=True)
class Grid:
    """One request: a row of steps, a row of chunks, then the columns of its block table."""

    request: str
    rows: tuple[Row, ...]

    def slices(self, width: int) -> Iterator["Grid"]:
        """The grid cut into pieces that are at most `width` characters wide, labels repeated."""
        label = max(len(row.label) for row in self.rows)
        count = len(self.rows[0].words)
        first = 0
        while first < count:
            last, used = first, label
            while last < count:
                need = 2 + max(len(row.words[last].text) for row in self.rows)
                if used + need > width and last > first:
                    break
                used, last = used + need, last + 1
            yield self._piece(first, last)
            first = last

    def _piece(self, first: int, last: int) -> "Grid":
        """Frames [first, last); a part of the grid has only the rows that hold something in it."""
        rows = tuple(Row(row.label, row.words[first:last]) for row in self.rows)
        if last - first < len(self.rows[0].words):
            rows = tuple(row for row in rows if not row.is_empty)
        return Grid(self.request, rows)


@dataclass(frozen=True, slots=True)
class _Lane:
    """Neighbouring columns that look alike in every frame."""

    first: int
    last: int
    words: tuple[Word, ...]

    def label(self, block_tokens: int) -> str:
        name = f"column {self.first}"
        if self.last > self.first:
            name = f"columns {self.first}-{self.last}"
        return f"{name} [{self.first * block_tokens}, {(self.last + 1) * block_tokens})"


def grid_of(strip: Strip, block_tokens: int) -> Grid:
    """The grid of a request."""
    frames = strip.frames
    head = [
        Row("step", tuple(_step(frame) for frame in frames)),
        Row("chunk", tuple(Word(frame.chunk or "-", Look.PLAIN) for frame in frames)),
    ]
    lanes: list[_Lane] = []
    below = 0
    for column in strip.columns():
        if column > below:
            holes = tuple(_hole(frame, below) for frame in frames)
            lanes.append(_Lane(below, column - 1, holes))
        words = tuple(_word(frame, column) for frame in frames)
        if lanes and lanes[-1].words == words and _is_dull(words):
            lanes[-1] = _Lane(lanes[-1].first, column, words)
        else:
            lanes.append(_Lane(column, column, words))
        below = column + 1
    rows = [Row(lane.label(block_tokens), lane.words) for lane in lanes]
    return Grid(strip.request, (*head, *rows))


def _step(frame: Frame) -> Word:
    steps = str(frame.first) if frame.first == frame.last else f"{frame.first}-{frame.last}"
    return Word(steps + "!", Look.BROKEN) if frame.broken else Word(steps, Look.PLAIN)


def _is_dull(words: tuple[Word, ...]) -> bool:
    """Only holes and scratch: such neighbours are drawn as one."""
    return all(word.look in (Look.NULL, Look.SCRATCH, Look.PLAIN) for word in words)


def _hole(frame: Frame, column: int) -> Word:
    return Word(".", Look.NULL) if column < frame.length else Word("", Look.PLAIN)


def _word(frame: Frame, column: int) -> Word:
    cell = frame.cells.get(column)
    return _hole(frame, column) if cell is None else word_of(cell)


def word_of(cell: Cell) -> Word:
    """`R364`, `P1600`, `RP1600`, `CP3200`, `~`, `o364`; broken cells also say what they hold."""
    text = ("R" if cell.running else "") + ("C" if cell.checkpoint else "")
    look = Look.RUNNING if cell.running else Look.EARLIER
    if cell.checkpoint:
        look = Look.CHECKPOINT
    if cell.claim_tokens is not None:
        text, look = f"{text}P{cell.claim_tokens}", Look.PUBLISHED
    elif cell.scratch:
        text, look = "~", Look.SCRATCH
    else:
        text = f"{text or 'o'}{cell.holds}"
    if not cell.broken:
        return Word(text, look)
    truth = "" if cell.claim_tokens is None or cell.holds == str(cell.claim_tokens) else cell.holds
    return Word(f"{text}!{truth}", Look.BROKEN)

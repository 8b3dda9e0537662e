"""The timeline in a terminal."""

from collections.abc import Iterable

from rich.console import Console
from rich.text import Text

from truehit.cli.event_lines import EventLine
from truehit.cli.output import print_line
from truehit.cli.timeline_grid import LEGEND, Grid, Look

STYLES = {
    Look.PLAIN: "",
    Look.NULL: "dim",
    Look.SCRATCH: "dim",
    Look.RUNNING: "cyan",
    Look.PUBLISHED: "green",
    Look.CHECKPOINT: "magenta",
    Look.EARLIER: "",
    Look.BROKEN: "bold red",
}


def print_grid(console: Console, grid: Grid, indent: str = "  ") -> None:
    """One request, in as many pieces as the width asks for."""
    for piece in grid.slices(console.width - len(indent)):
        for line in _lines(piece):
            print_line(console, Text(indent) + line)


def _lines(grid: Grid) -> Iterable[Text]:
    label = max(len(row.label) for row in grid.rows)
    count = len(grid.rows[0].words)
    widths = [max(len(row.words[i].text) for row in grid.rows) for i in range(count)]
    for row in grid.rows:
        line = Text(row.label.ljust(label))
        for word, width in zip(row.words, widths, strict=True):
            line.append("  ")
            line.append(word.text.rjust(width), STYLES[word.look])
        line.rstrip()
        yield line


def print_legend(console: Console, indent: str = "  ") -> None:
    """What the symbols mean, as long as the width."""
    entries = [(look, sign, meaning) for look, sign, meaning in LEGEND]
    line = Text(indent)
    for look, sign, meaning in entries:
        if len(line) > len(indent) and len(line) + len(sign) + len(meaning) + 3 > console.width:
            print_line(console, line)
            line = Text(indent)
        if len(line) > len(indent):
            line.append("  ")
        line.append(sign, STYLES[look])
        line.append(f" {meaning}")
    print_line(console, line)


def print_events(console: Console, lines: list[EventLine]) -> None:
    """Fixed columns; the last one may be cut by nobody."""
    if not lines:
        return
    request = max(7, *(len(line.request) for line in lines))
    group = max(5, *(len(line.group) for line in lines))
    head = f"{'step':>5} {'order':>5} {'kind':<9} {'request':<{request}} {'group':<{group}} what"
    print_line(console, Text(head, "bold"))
    for one in lines:
        text = (
            f"{one.step:>5} {one.order:>5} {one.kind:<9} {one.request:<{request}} "
            f"{one.group:<{group}} {one.what}"
        )
        print_line(console, Text(text))

"""What `diff` prints: counts, features by laws, and the first difference side by side."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from truehit.cli.event_lines import event_line
from truehit.cli.output import print_line, print_paragraph, print_table
from truehit.cli.timeline_text import print_events
from truehit.proofs.differ.compare import Unequal
from truehit.proofs.differ.coverage import IMPOSSIBLE, Coverage
from truehit.proofs.differ.data_difference import DataCount
from truehit.proofs.differ.draw import SWITCHES
from truehit.proofs.differ.parts import Compared
from truehit.proofs.differ.text import rows, sentence
from truehit.proofs.differ.write import Shown
from truehit.proofs.regress.text import short_yaml
from truehit.spec.laws import LAWS

MANY_STEPS = 500
"""In fewer steps most features meet nothing, which says nothing about them."""
LETTERS = 5
"""Law names are cut to so many letters, so that thirteen columns fit beside the features."""


def print_differential(
    screen: Console,
    subject: str,
    done: Compared,
    shown: Sequence[Shown],
) -> None:
    """The whole answer."""
    head = ("source", "runs", "steps", "events", "differ")
    counted = [(name, count) for name, count in done.sources.items()]
    lines = [
        (name, f"{c.runs:,}", f"{c.steps:,}", f"{c.events:,}", str(c.differences))
        for name, c in [*counted, ("all", done.total)]
    ]
    print_table(screen, head, lines, right=head[1:])
    if done.total.data.tokens:
        screen.print()
        _print_data(screen, done.total.data)
    if done.coverage.runs and done.total.steps > MANY_STEPS:
        screen.print()
        print_coverage(screen, done.coverage)
    for one in shown[:1]:
        screen.print()
        _print_difference(screen, one)
    if shown[1:]:
        screen.print()
        print_line(screen, Text("Other kinds of difference", "bold"))
    for one in shown[1:]:
        print_paragraph(screen, f"{one.small.rules}: {sentence(one.small.difference)}: {one.path}")
    screen.print()
    _print_outcome(screen, subject, done)


def _print_data(screen: Console, data: DataCount) -> None:
    print_paragraph(
        screen,
        f"Data plane: {data.pages:,} pages hold what the events say; the logits of "
        f"{data.tokens:,} tokens are within {data.largest:.1e} of the same tokens computed alone.",
    )


def _print_outcome(screen: Console, subject: str, done: Compared) -> None:
    total = done.total
    if total.differences:
        words = f"REFUTED: {subject} differs from the oracle in {total.differences:,} runs"
        _print_stripped(screen, Text(f"{words} of {total.runs:,}", "bold red"))
    elif total.steps:
        words = f"{subject} equals the oracle in every one of {total.events:,} events"
        _print_stripped(screen, Text(words, "bold green"))
    else:
        screen.print(Text("UNKNOWN: not one step was compared", "bold red"))


def print_coverage(screen: Console, coverage: Coverage) -> None:
    """Rows: features; columns: drawn runs, and in how many of them each law had something to
    judge."""
    laws = [law.name for law in LAWS]
    head = ("feature", "runs", *(law[:LETTERS] for law in laws))
    lines = []
    for switch in map(str, SWITCHES):
        cells = [
            "" if (switch, law) in IMPOSSIBLE else str(coverage.judged[(switch, law)])
            for law in laws
        ]
        lines.append((switch, str(coverage.runs[switch]), *cells))
    print_table(screen, head, lines, right=head[1:])
    holes = coverage.holes()
    if holes:
        pairs = ", ".join(f"{switch} x {law}" for switch, law in holes)
        print_paragraph(screen, f"Holes, no run gave the law something to judge: {pairs}.")


def _print_difference(screen: Console, shown: Shown) -> None:
    found, small, path = shown.found, shown.small, shown.path
    difference = small.difference
    requests, chunks = len(small.scenario.requests), small.chunks
    print_line(screen, Text(f"First difference: {found.source}, {found.name}", "bold"))
    print_paragraph(
        screen,
        f"Shrunk to {requests} request{'s' if requests != 1 else ''}, {chunks} prefill "
        f"chunk{'s' if chunks != 1 else ''}, {small.tokens} tokens under rules {small.rules}: "
        f"{sentence(difference)}.",
    )
    if isinstance(difference, Unequal):
        screen.print()
        print_events(screen, [event_line(event) for event in difference.before])
        screen.print()
        _print_stripped(screen, _side_by_side(difference))
    screen.print()
    for line in short_yaml(small.scenario).splitlines():
        print_line(screen, Text(line))
    if path is not None:
        screen.print()
        print_line(screen, Text(f"written: {path}"))


def _print_stripped(screen: Console, table: Table | Text) -> None:
    """Without the blanks that end its lines: what is pasted somewhere stays the same."""
    with screen.capture() as captured:
        screen.print(table)
    for line in captured.get().splitlines():
        text = Text.from_ansi(line)
        text.rstrip()
        print_line(screen, text)


def _side_by_side(difference: Unequal) -> Table:
    table = Table("", "field", "oracle", "subject", box=None, pad_edge=False, header_style="bold")
    for row in rows(difference):
        style = "bold red" if row.differs else ""
        cells = (">" if row.differs else "", row.field, row.oracle, row.subject)
        table.add_row(*(Text(cell, style) for cell in cells))
    return table

"""The timeline as Markdown: fits in an issue or a pull request."""

from truehit.cli.event_lines import EventLine
from truehit.cli.timeline_grid import LEGEND, Grid, Look, Word
from truehit.spec.laws.base import Violation


def markdown(
    title: str,
    grids: list[Grid],
    violations: list[Violation],
    lines: list[EventLine],
    notes: list[str],
) -> str:
    """The whole document."""
    parts = [f"# {title}", ""]
    parts += [f"* **{v.violation_class} {v.law}**: {v.sentence}" for v in violations]
    parts += [f"* {note}" for note in notes]
    parts += [""]
    if grids:
        parts += [" · ".join(f"`{sign}` {meaning}" for _, sign, meaning in LEGEND), ""]
    for grid in grids:
        parts += [f"## {_escaped(grid.request)}", "", *_table(grid), ""]
    if lines:
        parts += ["## Events", "", *_events(lines), ""]
    return "\n".join(parts)


def _table(grid: Grid) -> list[str]:
    head, *rows = grid.rows
    return [
        _row([head.label, *(_cell(word) for word in head.words)]),
        _row(["---", *("---:" for _ in head.words)]),
        *(_row([row.label, *(_cell(word) for word in row.words)]) for row in rows),
    ]


def _events(lines: list[EventLine]) -> list[str]:
    return [
        _row(["step", "order", "kind", "request", "group", "what"]),
        _row(["---:", "---:", "---", "---", "---", "---"]),
        *(
            _row([str(one.step), one.order, one.kind, one.request, one.group, one.what])
            for one in lines
        ),
    ]


def _cell(word: Word) -> str:
    if word.look is Look.BROKEN:
        return f"**{word.text}**"
    # A lone tilde pair would strike text through in some renderers.
    return word.text.replace("~", "\\~")


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(_escaped(cell) for cell in cells)} |"


def _escaped(text: str) -> str:
    return text.replace("|", "\\|")

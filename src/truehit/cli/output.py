"""Where output goes: tables and text to the terminal, JSON to stdout or a file, never both.

Colours and progress bars exist only on a terminal; NO_COLOR and TERM=dumb switch colours off.
"""

import json
import os
import sys
import textwrap
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, TextIO

from rich import progress
from rich.console import Console
from rich.text import Text

from truehit.cli.errors import InputError

PLAIN_WIDTH_CHARACTERS = 80
PARAGRAPH_CHARACTERS = 79
PROGRESS_BYTES = 4 << 20


class _Screen(Console):
    """A reader that has gone is for the application to handle: rich would exit with 1, which is
    *refuted* here."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def console() -> Console:
    """Prints to stdout; 80 columns when stdout is no terminal, so that pasted output is stable."""
    width = None
    if not sys.stdout.isatty() and "COLUMNS" not in os.environ:
        width = PLAIN_WIDTH_CHARACTERS
    return _Screen(width=width, highlight=False, emoji=False, soft_wrap=False)


def print_table(
    screen: Console, head: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[str] = ()
) -> None:
    """Columns two spaces apart; the columns named in `right` are aligned there. Never wrapped."""
    widths = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]
    for number, row in enumerate((head, *rows)):
        cells = [
            text.rjust(width) if name in right else text.ljust(width)
            for name, text, width in zip(head, row, widths, strict=True)
        ]
        print_line(screen, Text("  ".join(cells).rstrip(), "bold" if number == 0 else ""))


def print_line(screen: Console, line: Text) -> None:
    """One line as it is, however wide."""
    screen.print(line, no_wrap=True, overflow="ignore", crop=False)


def print_indented(screen: Console, head: Text, body: str, indent: str = "  ") -> None:
    """A head and a text, wrapped at the width, later lines indented."""
    words = f"{head.plain}{body}"
    width = max(screen.width, 40)
    lines = textwrap.wrap(words, width, subsequent_indent=indent, break_long_words=False)
    first = Text(lines[0])
    first.stylize(head.style, 0, len(head.plain.rstrip()))
    for line in (first, *map(Text, lines[1:])):
        print_line(screen, line)


def print_paragraph(screen: Console, text: str) -> None:
    """Words wrapped at a width that reads well."""
    for line in textwrap.wrap(text, min(screen.width, PARAGRAPH_CHARACTERS)):
        print_line(screen, Text(line))


def write_json(payload: dict[str, Any], target: Path | None) -> None:
    """One JSON object, to the file if there is one."""
    text = json.dumps(payload, indent=2, ensure_ascii=False)
    if target is None:
        print(text)
    else:
        write_text(text + "\n", target)


def write_text(text: str, target: Path) -> None:
    """Write a file; InputError if that is not possible."""
    try:
        target.write_text(text, encoding="utf-8")
    except OSError as error:
        raise unwritable(target, error) from error


def unwritable(target: Path, error: OSError) -> InputError:
    """A file that cannot be written."""
    why = (error.strerror or "unwritable").lower()
    return InputError(f"{target}: {why}; a file in an existing folder works")


def open_with_progress(path: Path) -> AbstractContextManager[TextIO]:
    """Open a text file; a long one shows on a terminal how far reading has come."""
    shown = sys.stderr.isatty() and path.stat().st_size >= PROGRESS_BYTES
    if not shown:
        return path.open(encoding="utf-8")
    return progress.open(
        path,
        "r",
        encoding="utf-8",
        description="reading",
        console=Console(stderr=True),
        transient=True,
    )


def json_target(out: Path | None, as_json: bool) -> Path | None:
    """OUT belongs to --json, and is named like it: a scenario is never overwritten by accident."""
    if out is None:
        return None
    if not as_json:
        raise InputError(f"'{out}' is one argument too many; --json {out} writes the verdict there")
    if out.suffix != ".json":
        raise InputError(f"--json writes to a file that ends in .json, not to '{out}'")
    if not out.parent.is_dir():
        raise InputError(f"{out}: no such folder; a file in an existing folder works")
    return out

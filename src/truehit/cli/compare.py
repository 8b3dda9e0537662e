"""`compare`: two real engines, and what one finds, keeps and proves that the other does not."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from truehit.cli.errors import InputError
from truehit.cli.exits import Exit
from truehit.cli.options import AsJson, FailOn
from truehit.cli.subject import tell

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from truehit.adapters.vllm.compare.report import BehaviourChange, CompareRecord, MatchedFinding
    from truehit.adapters.vllm.environment import Environment

MINUTES = 1.0
EXAMPLE = "vllm==0.26.0 vllm==0.27.1"
STYLE = {"corrupt": "bold red", "stall": "bold yellow", "waste": "bold", "policy": "dim"}
SHOWN_CHANGES = 8
CELL_CHARACTERS = 40


def command(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="BASE HEAD [OUT.json]",
            help="Each a release (vllm==0.33.0), a checkout's PATH, or PATH@COMMIT.",
        ),
    ] = None,
    minutes: Annotated[
        float | None,
        typer.Option("--minutes", help=f"Search each side so long (default: {MINUTES:g})."),
    ] = None,
    scenarios: Annotated[
        int | None, typer.Option("--scenarios", min=1, help="Search so many scenarios instead.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of everything that is drawn.")] = 0,
    jobs: Annotated[int, typer.Option("--jobs", min=1, help="Processes.")] = os.cpu_count() or 1,
    fail_on: FailOn = "corrupt,stall",
    as_markdown: Annotated[
        bool, typer.Option("--markdown", help="Print Markdown, to be pasted into a review.")
    ] = False,
    as_json: AsJson = False,
) -> Exit:
    """What changes from BASE to HEAD: findings, known defects, behaviour and lifted rules."""
    from truehit.adapters.vllm.compare.compare import Wanted, compare
    from truehit.adapters.vllm.compare.markdown import markdown
    from truehit.adapters.vllm.problems import BuildError, PeerError
    from truehit.cli.audit import budget_of
    from truehit.cli.judging import classes_of
    from truehit.cli.output import console, write_json

    base, head, target = _sorted_words(list(words or ()), as_json)
    if as_json and as_markdown and target is None:
        raise InputError("--json and --markdown both print; --json OUT.json --markdown works")
    classes = {str(name) for name in classes_of(fail_on)}
    wanted = Wanted(budget_of(minutes, scenarios), seed, jobs)
    sides = _opened(base), _opened(head)
    try:
        record = compare(*sides, wanted, tell)
    except (PeerError, BuildError) as problem:
        tell(f"truehit: {problem}")
        return Exit.UNKNOWN
    if as_json:
        write_json(record.model_dump(mode="json"), target)
    if as_markdown:
        print(markdown(record), end="")
    elif not as_json or target is not None:
        print_comparison(console(), record)
    return Exit.REFUTED if record.new_classes & classes else Exit.HOLDS


def _sorted_words(words: list[str], as_json: bool) -> tuple[str, str, Path | None]:
    """The two sides, and the file after --json."""
    from truehit.cli.output import json_target

    sides, files = words[:2], words[2:]
    if len(sides) < 2:
        raise InputError(f"{len(sides)} of two sides to compare; {EXAMPLE} works")
    if len(files) > 1:
        raise InputError(f"{' '.join(words)}: two sides and one file work")
    target = json_target(Path(files[0]), as_json) if files else None
    return sides[0], sides[1], target


def _opened(side: str) -> "Environment":
    from truehit.adapters.vllm.compare.subjects import open_side
    from truehit.adapters.vllm.problems import BuildError

    try:
        return open_side(side, tell)
    except BuildError as problem:
        raise InputError(str(problem)) from problem


def print_comparison(screen: "Console", record: "CompareRecord") -> None:
    """What is new, then what else differs, then what does not."""
    from rich.text import Text

    from truehit.adapters.vllm.compare import words
    from truehit.cli.output import print_indented, print_line, print_table

    print_line(screen, Text(f"{record.base} -> {record.head}", "bold"))
    print_line(screen, Text(words.summary(record)))
    _print_findings(screen, "new", record.new)
    _print_findings(screen, "gone", record.gone)
    if record.defects:
        screen.print()
        rows = [(c.defect, c.violation_class, c.base, c.head) for c in record.defects]
        print_table(screen, ("known defect", "class", "base", "head"), rows)
    screen.print()
    for row in record.rules:
        print_indented(screen, Text(f"{row.rule}: ", "bold"), words.rule(row))
    screen.print()
    print_indented(screen, Text("library: ", "bold"), words.behaviour(record.behaviour))
    _print_changes(screen, record.behaviour.first)
    if record.unchanged:
        screen.print()
    for one in record.unchanged:
        print_indented(screen, Text("unchanged: ", "bold"), words.kind(one))


def _print_findings(screen: "Console", title: str, found: "Sequence[MatchedFinding]") -> None:
    from rich.text import Text

    from truehit.adapters.vllm.compare import words
    from truehit.cli.output import print_indented

    if found:
        screen.print()
    for one in found:
        head = Text(f"{title}: {one.violation_class}, {one.law}: ", STYLE[one.violation_class])
        print_indented(screen, head, words.finding(one))


def _print_changes(screen: "Console", first: "Sequence[BehaviourChange]") -> None:
    from truehit.cli.output import print_table

    if first:
        rows = [
            (one.scenario, one.request, one.aspect, _cut(one.base), _cut(one.head))
            for one in first[:SHOWN_CHANGES]
        ]
        print_table(screen, ("scenario", "request", "what", "base", "head"), rows)


def _cut(text: str) -> str:
    """A table is never wrapped."""
    return text if len(text) <= CELL_CHARACTERS else f"{text[: CELL_CHARACTERS - 1]}…"

"""`prove`: our own rules, or the splitter of a release or a checkout, lifted from its source."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from truehit.cli.errors import InputError, unknown_name
from truehit.cli.exits import Exit
from truehit.cli.options import AsJson, Out

if TYPE_CHECKING:
    from truehit.proofs.record import ReleaseRecord

Source = Annotated[
    str | None,
    typer.Option(
        "--source",
        metavar="vllm==X|PATH",
        help="A release, or a checkout, whose splitter is judged (default: our own rules).",
    ),
]
Only = Annotated[
    list[str] | None, typer.Option("--only", metavar="NAME", help="Only these obligations.")
]
FailOn = Annotated[
    str,
    typer.Option(
        "--fail-on", metavar="CLASSES", help="Classes of a source's refutations that refute."
    ),
]


def command(
    out: Out = None,
    source: Source = None,
    only: Only = None,
    fail_on: FailOn = "corrupt,stall",
    as_json: AsJson = False,
) -> Exit:
    """Prove or refute rules for all block sizes; every refutation is replayed and printed."""
    from truehit.cli.output import json_target

    target = json_target(out, as_json)
    if source is None:
        return _own(only or [], as_json, target)
    if only:
        raise InputError("--only names our own obligations; it works without --source")
    return _subject(source, fail_on, as_json, target)


def _own(only: list[str], as_json: bool, target: Path | None) -> Exit:
    from rich.text import Text

    from truehit.cli.output import console, print_indented, print_table, write_json
    from truehit.cli.progress import Steps
    from truehit.cli.verify_tables import OBLIGATION_HEAD, obligation_row
    from truehit.proofs.obligations.catalogue import BY_NAME
    from truehit.proofs.prove import prove_all
    from truehit.proofs.verify import obligation_record

    for name in only:
        if name not in BY_NAME:
            raise unknown_name("obligation", name, BY_NAME)
    wanted = tuple(only or BY_NAME)
    with Steps("prove") as steps:
        counted = iter(range(1, len(wanted) + 1))
        results = prove_all(lambda r: steps.advance(next(counted), len(wanted), r.name), wanted)
    records = [obligation_record(result) for result in results]
    if as_json:
        write_json({"obligations": [r.model_dump(mode="json") for r in records]}, target)
    else:
        screen = console()
        print_table(screen, OBLIGATION_HEAD, [obligation_row(r) for r in records])
        for record in records:
            if record.inputs:
                inputs = ", ".join(f"{name}={value}" for name, value in record.inputs.items())
                head = Text(f"{record.law} {record.name}: ", "bold red")
                print_indented(screen, head, f"{record.verdict} with {inputs}")
    if all(result.holds for result in results):
        return Exit.HOLDS
    verdicts = {result.verdict for result in results}
    return Exit.UNKNOWN if verdicts <= {"proved", "unknown"} else Exit.REFUTED


def _subject(source: str, fail_on: str, as_json: bool, target: Path | None) -> Exit:
    from truehit.cli.judging import classes_of
    from truehit.cli.output import console, write_json
    from truehit.proofs.lift import Unsupported
    from truehit.proofs.releases import RELEASES, judge
    from truehit.proofs.sources import SourceError, open_path, open_release
    from truehit.proofs.verify import release_record

    classes = {str(name) for name in classes_of(fail_on)}
    if not source or ("==" in source and not source.startswith("vllm==")):
        raise InputError(f"--source '{source}': {RELEASES[-1]} or the path of a checkout works")
    try:
        tree = open_release(source) if "==" in source else open_path(source)
        report = judge(tree, source)
    except (SourceError, Unsupported) as error:
        raise InputError(f"--source {source}: {error}; {RELEASES[-1]} works") from error
    found = release_record(report)
    if as_json:
        write_json({"releases": [found.model_dump(mode="json")]}, target)
    else:
        _print(console(), found, report.refused)
    severe = [r for r in found.rows if r.verdict == "refuted locally" and r.class_ in classes]
    if severe:
        return Exit.REFUTED
    unclear = any(r.verdict in ("unknown", "model finding") for r in found.rows)
    return Exit.UNKNOWN if unclear else Exit.HOLDS


def _print(screen: Console, found: "ReleaseRecord", refused: tuple[str, ...]) -> None:
    from rich.text import Text

    from truehit.cli.output import print_indented, print_line, print_paragraph
    from truehit.cli.verify_tables import print_release_table

    for lifted in found.lifted[:1]:
        print_line(screen, Text(f"lifted: {lifted.file}, line {lifted.line}"))
    for refusal in refused:
        print_paragraph(screen, f"not lifted, executed instead: {refusal}")
    print_release_table(screen, [found])
    screen.print()
    for row in found.rows:
        if row.verdict in ("proved", "checked"):
            continue
        inputs = ", ".join(f"{name}={value}" for name, value in row.inputs.items())
        replayed = "replayed" if row.replayed else "not replayed"
        print_indented(
            screen,
            Text(f"{row.class_} {row.obligation}: ", "bold"),
            f"{row.verdict} ({row.domain}): {inputs} -> {row.result} tokens; {replayed}",
        )

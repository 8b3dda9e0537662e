"""`regress`: the smallest run that breaks a law under a historic rule set, as a pytest file."""

from pathlib import Path
from typing import Annotated

import typer

from truehit.cli.errors import unknown_name
from truehit.cli.exits import Exit
from truehit.cli.options import AsJson


def command(
    rules: Annotated[
        list[str] | None, typer.Argument(metavar="[RULES ...]", help="Default: all of them.")
    ] = None,
    folder: Annotated[
        Path | None, typer.Option("--folder", help="Where to write (default: tests/regressions).")
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Search and shrink again, even if a file exists.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="OUT.json", help="With --json: write it there.")
    ] = None,
    as_json: AsJson = False,
) -> Exit:
    """Write missing counterexamples as tests, and check that committed ones tell the rules
    apart."""
    from truehit.cli.output import (
        console,
        json_target,
        print_line,
        print_paragraph,
        unwritable,
        write_json,
    )
    from truehit.cli.progress import Steps
    from truehit.proofs.places import regressions
    from truehit.proofs.regress.keep import keep
    from truehit.proofs.regress.targets import TARGETS
    from truehit.proofs.regress.write import file_name

    known = {target.rules for target in TARGETS}
    wanted = list(rules or [target.rules for target in TARGETS])
    for name in wanted:
        if name not in known:
            raise unknown_name("rule set", name, known)
    target_file = json_target(out, as_json)
    where = folder or regressions()
    try:
        where.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(where, error) from error
    found = []
    with Steps("regress") as steps:
        for number, name in enumerate(wanted, 1):
            if fresh:
                (where / file_name(name)).unlink(missing_ok=True)
            found.append(keep(name, where))
            steps.advance(number, len(wanted), name)
    if as_json:
        rows = [
            {"rules": f.rules, "law": f.law, "file": f.file, "sentence": f.sentence, "good": f.good}
            for f in found
        ]
        write_json({"regressions": rows}, target_file)
    else:
        from rich.text import Text

        screen = console()
        for kept in found:
            state = "holds" if kept.good else "NO LONGER DISCRIMINATES"
            print_line(screen, Text(f"{kept.file}  {kept.law}: {state}"))
            print_paragraph(screen, f"    {kept.sentence}")
    return Exit.HOLDS if all(kept.good for kept in found) else Exit.REFUTED

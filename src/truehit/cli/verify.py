"""`verify`: truehit checks itself, and prints what was proved, refuted, computed again and read."""

import os
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.text import Text

from truehit.cli.errors import InputError
from truehit.cli.exits import Exit
from truehit.cli.options import AsJson, Out

if TYPE_CHECKING:
    from truehit.proofs.record import Record

OUTCOMES = {"holds": Exit.HOLDS, "refuted": Exit.REFUTED, "unknown": Exit.UNKNOWN}


def command(
    out: Out = None,
    as_json: AsJson = False,
    full: Annotated[
        bool, typer.Option("--full", help="Ask the second solver again, not its recorded answers.")
    ] = False,
    jobs: Annotated[int, typer.Option("--jobs", min=1, help="Processes.")] = os.cpu_count() or 1,
) -> Exit:
    """Prove the rules, refute every historic defect, compute the golden numbers, read the
    releases."""
    from truehit.cli.output import console, json_target, write_json
    from truehit.cli.progress import Steps
    from truehit.proofs.verify import verify

    target = json_target(out, as_json)
    if full and find_spec("cvc5") is None:
        raise InputError("--full asks cvc5, which is missing; pip install 'truehit[solvers]' works")
    with Steps("verify") as steps:
        found = verify(full, jobs, steps.advance)
    if as_json:
        write_json(found.model_dump(mode="json"), target)
        if target is None:
            return OUTCOMES[found.outcome]
    _print(console(), found)
    return OUTCOMES[found.outcome]


def _print(screen: Console, found: "Record") -> None:
    from truehit.cli.verify_tables import (
        print_agreement,
        print_differential,
        print_golden,
        print_obligations,
        print_releases,
        print_rulesets,
    )

    for section in (
        print_obligations,
        print_rulesets,
        print_golden,
        print_agreement,
        print_differential,
        print_releases,
    ):
        section(screen, found)
        screen.print()
    for problem in found.problems:
        screen.print(Text(f"PROBLEM {problem}", "bold red"), soft_wrap=True)
    words = {"holds": "everything holds", "refuted": "REFUTED", "unknown": "UNKNOWN"}
    style = "bold green" if found.outcome == "holds" else "bold red"
    screen.print(Text(f"{words[found.outcome]} ({found.seconds:.0f} s)", style))

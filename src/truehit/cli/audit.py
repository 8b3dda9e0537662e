"""`audit`: a real engine, its known defects, what a search finds in it, and tests that show it."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from truehit.cli.errors import InputError
from truehit.cli.exits import Exit
from truehit.cli.options import AsJson, FailOn
from truehit.cli.subject import EXAMPLE, tell

if TYPE_CHECKING:
    from truehit.adapters.vllm.audit.report import AuditRecord
    from truehit.adapters.vllm.audit.search import Budget
    from truehit.adapters.vllm.environment import Environment

MINUTES = 1.0


def command(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SUBJECT] [OUT.json]",
            help=f"A release such as {EXAMPLE}. With --json a last OUT.json is written.",
        ),
    ] = None,
    python: Annotated[
        Path | None,
        typer.Option("--python", metavar="PATH", help="An interpreter where vllm is installed."),
    ] = None,
    source: Annotated[
        Path | None,
        typer.Option("--source", metavar="PATH", help="A checkout or fork of vllm."),
    ] = None,
    minutes: Annotated[
        float | None, typer.Option("--minutes", help=f"Search so long (default: {MINUTES:g}).")
    ] = None,
    scenarios: Annotated[
        int | None, typer.Option("--scenarios", min=1, help="Search so many scenarios instead.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of everything that is drawn.")] = 0,
    jobs: Annotated[int, typer.Option("--jobs", min=1, help="Processes.")] = os.cpu_count() or 1,
    write_tests: Annotated[
        Path | None,
        typer.Option("--write-tests", metavar="DIR", help="Write a pytest file a finding."),
    ] = None,
    fail_on: FailOn = "corrupt,stall,waste",
    as_json: AsJson = False,
) -> Exit:
    """Run the scheduler of a real engine and judge it: known defects, then a search for others."""
    from truehit.adapters.vllm.audit.audit import Asked, audit
    from truehit.adapters.vllm.problems import BuildError, PeerError
    from truehit.cli.audit_report import print_audit
    from truehit.cli.judging import classes_of
    from truehit.cli.output import console, write_json

    subject, target = _sorted_words(list(words or ()), as_json)
    classes = {str(name) for name in classes_of(fail_on)}
    budget = budget_of(minutes, scenarios)
    environment = _opened(subject, python, source)
    asked = Asked(budget, seed, jobs, write_tests, lifts=True)
    try:
        record = audit(environment, asked, tell)
    except (PeerError, BuildError) as problem:
        tell(f"truehit: {problem}")
        return Exit.UNKNOWN
    if as_json:
        write_json(record.model_dump(mode="json"), target)
    if not as_json or target is not None:
        print_audit(console(), record)
    return _exit(record, classes)


def _sorted_words(words: list[str], as_json: bool) -> tuple[str | None, Path | None]:
    """The subject, and the file after --json."""
    files = [word for word in words if word.endswith(".json")]
    others = [word for word in words if not word.endswith(".json")]
    if files and not as_json:
        raise InputError(f"{files[0]}: nothing is written without --json; --json {files[0]} works")
    if len(files) > 1 or len(others) > 1:
        raise InputError(f"{' '.join(words)}: one subject and one file work")
    return others[0] if others else None, Path(files[0]) if files else None


def budget_of(minutes: float | None, scenarios: int | None) -> "Budget":
    from truehit.adapters.vllm.audit.search import Minutes, Scenarios

    if minutes is not None and scenarios is not None:
        raise InputError("--minutes and --scenarios are two budgets; one of them works")
    if scenarios is not None:
        return Scenarios(scenarios)
    wanted = MINUTES if minutes is None else minutes
    if not 0 < wanted <= 24 * 60:
        raise InputError(f"--minutes {wanted:g} is not between 0 and 1440; {MINUTES:g} works")
    return Minutes(wanted)


def _opened(subject: str | None, python: Path | None, source: Path | None) -> "Environment":
    from truehit.adapters.vllm.problems import BuildError
    from truehit.adapters.vllm.subject import open_subject

    if subject is None and python is None and source is None:
        raise InputError(f"nothing to audit; {EXAMPLE} works, or --python, or --source")
    try:
        return open_subject(subject, tell, python=python, source=source)
    except BuildError as problem:
        raise InputError(str(problem)) from problem


def _exit(record: "AuditRecord", classes: set[str]) -> Exit:
    present = any(known.status == "present" for known in record.known)
    found = any(finding.violation_class in classes for finding in record.findings)
    return Exit.REFUTED if found or (present and classes) else Exit.HOLDS

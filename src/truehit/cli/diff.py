"""`diff`: every event of another engine held to the oracle's; the first that differs, shrunk."""

import os
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from truehit.cli.errors import InputError, unknown_name
from truehit.cli.exits import Exit
from truehit.cli.options import AsJson

if TYPE_CHECKING:
    from truehit.proofs.differ.parts import Compared, Part
    from truehit.proofs.differ.subject import Subject
    from truehit.proofs.differ.write import Shown

DRAWN_STEPS = 50_000
SOURCES = ("golden", "regressions", "cases", "drawn")


class BackEnd(StrEnum):
    """Where the model runs."""

    TORCH = "torch"
    INTERPRETER = "interpreter"
    CUDA = "cuda"


Only = Annotated[
    list[str] | None,
    typer.Option("--only", metavar="SOURCE", help=f"One of {', '.join(SOURCES)}; repeatable."),
]
BackEndOption = Annotated[
    BackEnd | None,
    typer.Option(
        "--back-end",
        help="Run a small model on the engine's tables too, and compare what its pages hold and "
        "its logits.",
    ),
]
MODEL_STEPS = {BackEnd.TORCH: 5_000, BackEnd.INTERPRETER: 100, BackEnd.CUDA: 5_000}
"""A model's step costs ten times what an engine's costs, an interpreted one a thousand times."""
MODEL_SLICE_RUNS = 1
MODEL_SOURCES = {
    BackEnd.TORCH: ("regressions", "drawn"),
    BackEnd.INTERPRETER: ("drawn",),
    BackEnd.CUDA: ("regressions", "drawn"),
}
"""Other sources have prompts of a deployment's length; --only takes them all the same."""


def command(
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[SCENARIO ...] [OUT.json]",
            help="Compare these files only. With --json a last OUT.json is written.",
        ),
    ] = None,
    steps: Annotated[
        int | None,
        typer.Option(
            "--steps",
            min=0,
            help=f"Steps to draw and compare (default: {DRAWN_STEPS}, with a model fewer; with "
            "files 0).",
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="First seed of the drawn runs.")] = 0,
    rules: Annotated[
        str | None,
        typer.Option(
            "--rules",
            metavar="NAME",
            help="Rule set of files and drawn runs (default: their own; all in rotation).",
        ),
    ] = None,
    subject: Annotated[
        str, typer.Option("--subject", metavar="NAME", help="engine, or package.module:function.")
    ] = "engine",
    back_end: BackEndOption = None,
    only: Only = None,
    write: Annotated[
        Path | None,
        typer.Option("--write", metavar="FOLDER", help="Write each kind of difference as a test."),
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", min=1, help="Processes.")] = os.cpu_count() or 1,
    as_json: AsJson = False,
) -> Exit:
    """Run the same scenarios on the oracle and on an engine; every event has to be equal."""
    import time

    from truehit.cli.diff_report import print_differential
    from truehit.cli.output import console, write_json
    from truehit.cli.progress import Steps
    from truehit.proofs.differ.run import SLICE_RUNS, differential, drawn_parts

    scenarios, target = _sorted_files(list(files or ()), as_json)
    _check(rules, only or [], scenarios)
    if write is not None:
        _make(write)
    if back_end is not None:
        subject = _on_model(subject, back_end)
    wanted = set(only or (SOURCES if back_end is None else MODEL_SOURCES[back_end]))
    parts, held = _parts(scenarios, rules, wanted), _subject(subject)
    usual_steps = DRAWN_STEPS if back_end is None else MODEL_STEPS[back_end]
    drawn_steps = usual_steps if steps is None and not scenarios else steps or 0
    drawn_steps = drawn_steps if "drawn" in wanted else 0
    started = time.monotonic()
    with Steps("diff") as bar:
        drawn = drawn_parts(seed, rules, SLICE_RUNS if back_end is None else MODEL_SLICE_RUNS)
        done = differential(subject, parts, drawn, drawn_steps, jobs, bar.advance)
    seconds = time.monotonic() - started
    shown = _shrunk(done, held, write)
    if as_json:
        head = {"subject": subject, "rules_asked": rules, "seed": seed, "seconds": seconds}
        write_json(head | _payload(done, shown), target)
    if not as_json or target is not None:
        print_differential(console(), subject, done, shown)
    return _exit(done)


def _check(rules: str | None, only: list[str], files: list[Path]) -> None:
    """Names that exist, and `--only` without files."""
    from truehit.reference.ruleset import RULE_SETS

    if rules is not None and rules not in RULE_SETS:
        raise unknown_name("rule set", rules, RULE_SETS)
    for source in only:
        if source not in SOURCES:
            raise unknown_name("source", source, SOURCES)
    if only and files:
        raise InputError("--only is about the built-in sources; files work without it")


def _on_model(subject: str, back_end: BackEnd) -> str:
    """The subject's name with a model on its tables; what cannot run here is said before."""
    if subject != "engine":
        raise InputError(f"--back-end runs the engine, not {subject}; --subject engine works")
    if back_end is BackEnd.INTERPRETER:
        # Triton reads it once, when it is imported, in this process and in its workers.
        os.environ["TRITON_INTERPRET"] = "1"
    try:
        from truehit.engine.model.backend import BackendError, BackendName, backend_of

        backend_of(BackendName(back_end.value))
    except ImportError as error:
        raise InputError(
            f"--back-end {back_end.value}: {error}; pip install 'truehit[engine]' works"
        ) from error
    except BackendError as error:
        raise InputError(str(error)) from error
    return f"engine-on-{back_end.value}"


def _subject(name: str) -> "Subject":
    from truehit.proofs.differ.subject import SubjectError, load

    try:
        return load(name)
    except SubjectError as error:
        raise InputError(str(error)) from error


def _shrunk(done: "Compared", subject: "Subject", write: Path | None) -> list["Shown"]:
    """The smallest run of each kind of difference, kept in the folder if there is one."""
    from truehit.cli.progress import Steps
    from truehit.proofs.differ.write import shrunk

    shown: list[Shown] = []
    with Steps("shrink") as bar:
        for one in shrunk(done, subject, write):
            shown.append(one)
            bar.advance(len(shown), len(done.found), one.found.name)
    return shown


def _exit(done: "Compared") -> Exit:
    if done.total.differences:
        return Exit.REFUTED
    return Exit.HOLDS if done.total.steps else Exit.UNKNOWN


def _sorted_files(files: list[Path], as_json: bool) -> tuple[list[Path], Path | None]:
    """The scenarios, and where JSON goes: a last argument that ends in .json and is none."""
    from truehit.cli.output import json_target
    from truehit.cli.sources import scenario_of

    if not files or not as_json or files[-1].suffix != ".json":
        return files, None
    try:
        scenario_of(files[-1])
    except InputError:
        return files[:-1], json_target(files[-1], as_json)
    return files, None


def _make(folder: Path) -> None:
    from truehit.cli.output import unwritable

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(folder, error) from error


def _parts(files: list[Path], rules: str | None, wanted: set[str]) -> list["Part"]:
    """The files, or the known sources that are wanted."""
    from truehit.cli.sources import rules_of, scenario_of
    from truehit.proofs.differ.parts import ListedPart
    from truehit.proofs.differ.run import known_parts
    from truehit.proofs.differ.sources import Listed

    if not files:
        return [part for part in known_parts() if part.source in wanted]
    scenarios = [(path, scenario_of(path)) for path in files]
    runs = tuple(Listed(str(path), s, rules_of(rules, s).name) for path, s in scenarios)
    return [ListedPart("files", runs)]


def _payload(done: "Compared", shown: Sequence["Shown"]) -> dict[str, Any]:
    from truehit.proofs.differ.report import counts, coverage_json, difference_json

    rows = [difference_json(one) for one in shown]
    return {
        **counts(done),
        "first": rows[0] if rows else None,
        "others": rows[1:],
        "coverage": coverage_json(done.coverage),
    }

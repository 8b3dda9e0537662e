"""The application: a table of verbs, and the one place where an error becomes a line and a code."""

import os
import sys
from importlib import import_module
from typing import Annotated

import typer

from truehit.cli.errors import InputError, one_line
from truehit.cli.exits import Exit

VERBS = (
    "demo",
    "verify",
    "prove",
    "run",
    "check",
    "show",
    "predict",
    "regress",
    "sweep",
    "diff",
    "audit",
    "compare",
    "law",
)
"""Each is a module of this package with one function `command`."""

HELP = """A prefix-cache hit is a claim: "this block holds the state after exactly these tokens".
truehit proves the claim, checks it, and finds the engines that break it."""

INTERRUPTED = 130
READER_GONE = 141


def _version(wanted: bool) -> None:
    if wanted:
        from truehit import __version__

        print(f"truehit {__version__}")
        raise typer.Exit


def _root(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        print(context.get_help())


def build() -> typer.Typer:
    """The application with every verb."""
    app = typer.Typer(
        name="truehit",
        help=HELP,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback(invoke_without_command=True)(_root)
    for verb in VERBS:
        app.command(verb)(import_module(f"truehit.cli.{verb}").command)
    return app


def invoke(arguments: list[str]) -> int:
    """Run one command line; the exit code."""
    try:
        answer = build()(args=arguments, standalone_mode=False, prog_name="truehit")
        sys.stdout.flush()
        return int(answer or 0)
    except (BrokenPipeError, SystemExit):
        # The reader (head, less) has gone; typer answers that with SystemExit(1), which would
        # mean *refuted*. The interpreter must not try to flush again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return READER_GONE
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except Exception as error:
        return _complain(error)


def _complain(error: Exception) -> int:
    """One line for what the user can mend; a defect of ours is named as one."""
    if isinstance(error, typer.TyperException):
        print(f"truehit: {error.format_message()}", file=sys.stderr)
        return Exit.BAD_INPUT
    if isinstance(error, InputError):
        print(f"truehit: {one_line(error)}", file=sys.stderr)
        return Exit.BAD_INPUT
    if os.environ.get("TRUEHIT_TRACEBACK"):
        raise error
    print(
        f"truehit: a defect of truehit itself ({type(error).__name__}: {one_line(error)}); "
        "TRUEHIT_TRACEBACK=1 shows where",
        file=sys.stderr,
    )
    return Exit.UNKNOWN


def enter() -> None:
    """The console script."""
    sys.exit(invoke(sys.argv[1:]))

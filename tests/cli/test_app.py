"""The frame of the command line: version, help, usage errors, defects, a reader that leaves."""

import subprocess
import sys
from pathlib import Path

import pytest

from truehit import __version__
from truehit.cli import law
from truehit.cli.app import VERBS, invoke
from truehit.cli.exits import Exit

from .said import Cli, Said


def test_version(cli: Cli) -> None:
    said = cli("--version")
    assert (said.code, said.out) == (Exit.HOLDS, f"truehit {__version__}\n")


def test_without_arguments_the_verbs_are_listed(cli: Cli) -> None:
    said = cli()
    assert said.code == Exit.HOLDS
    listed = said.out.partition("Commands:")[2].split()
    assert set(VERBS) <= set(listed)


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_and_json(cli: Cli, verb: str) -> None:
    said = cli(verb, "--help")
    assert said.code == Exit.HOLDS
    assert said.out.startswith(f"Usage: truehit {verb}")
    assert "--json" in said.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["runn"], "Did you mean 'run'?"),
        (["run"], "Missing argument"),
        (["law", "--jsn"], "--json"),
        (["predict", "--prompt", "many"], "--prompt"),
        (["demo", "story.txt"], "one argument too many"),
        (["demo", "--json", "story.txt"], "ends in .json"),
    ],
)
def test_usage_errors_are_one_line(cli: Cli, arguments: list[str], words: str) -> None:
    said = cli(*arguments)
    assert said.code == Exit.BAD_INPUT
    assert said.out == ""
    assert said.err.startswith("truehit: ") and said.err.count("\n") == 1
    assert words in said.err


def test_a_defect_of_ours_is_one_line_and_unknown(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(law: object) -> None:
        raise LookupError("no such\nthing")

    monkeypatch.setattr(law, "law_card", broken)
    monkeypatch.delenv("TRUEHIT_TRACEBACK", raising=False)
    said = cli("law")
    assert said.code == Exit.UNKNOWN
    assert said.err.count("\n") == 1 and "LookupError: no such thing" in said.err
    monkeypatch.setenv("TRUEHIT_TRACEBACK", "1")
    with pytest.raises(LookupError):
        invoke(["law"])


def test_interrupts_are_quiet(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(law: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(law, "law_card", interrupted)
    assert cli("law") == Said(130, "", "")


def test_module_and_reader_that_leaves(crowded: Path) -> None:
    """A closed pipe is no verdict: neither 0 nor 1, and no traceback."""
    command = [sys.executable, "-m", "truehit", "show", str(crowded), "--html"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=60) == 141


def test_output_has_no_colours_when_it_is_no_terminal(cli: Cli, crowded: Path) -> None:
    assert "\x1b" not in cli("demo").out + cli("show", crowded).out + cli("run", crowded).out

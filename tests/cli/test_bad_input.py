"""Whatever is wrong with a file or a name: one line on stderr, exit code 2, no traceback."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from truehit.cli.exits import Exit

from .said import Cli, Said


def refused(said: Said, *words: str) -> None:
    assert said.code == Exit.BAD_INPUT, said
    assert said.out == ""
    assert said.err.startswith("truehit: ") and said.err.count("\n") == 1, said.err
    for word in words:
        assert word in said.err


@pytest.mark.parametrize("verb", ["run", "check", "show"])
def test_files_that_cannot_be_read(cli: Cli, tmp_path: Path, verb: str) -> None:
    refused(cli(verb, tmp_path / "none.json"), "none.json", "no such file")
    refused(cli(verb, tmp_path), "is a directory")
    binary = tmp_path / "binary.json"
    binary.write_bytes(b"\xff\xfe\x00")
    refused(cli(verb, binary), "binary.json", "UTF-8 works")


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.json", '{"schema": 1,\n "name": \n', ("a.json", "line 3")),
        ("a.yaml", "schema: 1\nname: [x\n", ("a.yaml", "line 3")),
        ("a.yaml", "schema: 1\nname: x\n", ("geometry", "is missing")),
        ("a.toml", "schema = 1\n", (".toml", ".yaml or .json works")),
    ],
)
def test_scenarios_that_are_none(
    cli: Cli, tmp_path: Path, name: str, text: str, words: tuple[str, ...]
) -> None:
    path = tmp_path / name
    path.write_text(text)
    refused(cli("run", path), *words)


def test_scenario_and_trace_are_told_apart(cli: Cli, crowded: Path, poisoned: Path) -> None:
    refused(cli("check", crowded), "is a scenario", "truehit run")
    refused(cli("run", poisoned), "is a trace", "truehit check")
    refused(cli("show", poisoned, "--rules", "default"), "--rules")


def _spoil_header(lines: list[str]) -> list[str]:
    header = json.loads(lines[0])
    header["geometry"]["hash_unit_tokens"] = 7
    return [json.dumps(header), *lines[1:]]


def _far_block(lines: list[str]) -> list[str]:
    return [line.replace("[1600,526]", "[1600,99999]") for line in lines]


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda lines: lines[1:], ("line 1", "header")),
        (lambda lines: [*lines[:3], "{", *lines[3:]], ("line 4", "no JSON")),
        (lambda lines: [lines[0], *lines[5:]], ("first", "was not submitted")),
        (lambda lines: [], ("line 1", "is missing")),
        (_spoil_header, ("hash_unit_tokens", "16 works")),
        (_far_block, ("step 1", "4096")),
    ],
)
@pytest.mark.parametrize("verb", ["check", "show"])
def test_traces_that_are_none(
    cli: Cli,
    poisoned: Path,
    verb: str,
    spoil: Callable[[list[str]], list[str]],
    words: tuple[str, ...],
) -> None:
    lines = spoil(poisoned.read_text().splitlines())
    # `show` tells a trace by its first line, or by its suffix when that is no JSON.
    poisoned.write_text("".join(line + "\n" for line in lines))
    refused(cli(verb, poisoned), "poisoned.jsonl", *words)


def test_names_that_are_unknown_get_the_nearest(cli: Cli, crowded: Path, poisoned: Path) -> None:
    refused(cli("run", crowded, "--rules", "defualt"), "'defualt'", "default is the nearest")
    refused(cli("check", poisoned, "--fail-on", "corupt"), "corrupt is the nearest")
    refused(cli("show", crowded, "--request", "trget"), "target is the nearest")
    refused(cli("show", crowded, "--group", "mamba"), "'mamba'", "state works")
    refused(cli("show", crowded, "--steps", "a-9"), "--steps 'a-9'", "0-9 works")
    refused(cli("law", "provenence"), "provenance is the nearest")
    refused(cli("law", "zzz"), "one of admission, commit")


def test_files_that_cannot_be_written(cli: Cli, crowded: Path, tmp_path: Path) -> None:
    nowhere = tmp_path / "none" / "file"
    refused(cli("run", crowded, "--trace", nowhere), "no such file")
    refused(cli("show", crowded, "--output", nowhere), "an existing folder works")
    refused(cli("show", crowded, "--html", "--markdown"), "exclude each other")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--state-block", "16"], ("no prompt", "--prompt 6400 works")),
        (["--prompt", "100"], ("no group", "--state-block")),
        (["--prompt", "0", "--state-block", "16"], ("--prompt is 0",)),
        (["--prompt", "9", "--longer", "0", "--state-block", "16"], ("--longer is 0",)),
        (["--prompt", "100", "--state-block", "16", "--drop", "all"], ("--drop 'all'",)),
        (["--prompt", "100", "--state-block", "16", "--drop", "margin"], ("--drafted-block",)),
        (["--prompt", "100", "--state-block", "16", "--retention", "x"], ("--retention 'x'",)),
        (["--prompt", "100", "--state-block", "16", "--retention", "24"], ("32 works",)),
        (["--prompt", "100", "--state-block", "16", "--hash-unit", "5"], ("--hash-unit is 5",)),
        (["--prompt", "100", "--state-block", "0"], ("--state-block is 0",)),
        (["--prompt", "100", "--attention-block", "-2"], ("--attention-block is -2",)),
        (["--prompt", "100", "--window", "16"], ("--window '16'", "16:1024 works")),
        (["--prompt", "100", "--window", "16:0"], ("--window is 0",)),
        (["--prompt", "100", "--state-block", "16", "--sibling", "101"], ("100 works",)),
        (["--prompt", "100", "--state-block", "16", "--sibling", "9:9"], ("9:10 works",)),
        (["--prompt", "100", "--state-block", "16", "--sibling", "x"], ("3400:3500 works",)),
        (["--prompt", "100", "--state-block", "16", "--budget", "0"], ("--budget is 0",)),
        (["--prompt", "100", "--state-block", "16", "--pool", "1"], ("--pool is 1",)),
        (["--prompt", "100", "--state-block", "16", "--max-model", "90"], ("101 works",)),
        (["--prompt", "100", "--state-block", "16", "--rules", "v-pots"], ("v-post",)),
        (["--prompt", "9", "--prompt", "8", "--state-block", "4", "--save", "a.yaml"], ("--save",)),
        (["--prompt", "9", "--state-block", "4", "--save", "a.txt"], ("a.yaml works",)),
    ],
)
def test_predictions_of_the_impossible(
    cli: Cli, arguments: list[str], words: tuple[str, ...]
) -> None:
    refused(cli("predict", *arguments), *words)

"""Fixtures: type a command line, a scenario that the old rules poison, and its trace."""

from pathlib import Path

import pytest

from truehit.cli.app import invoke

from .said import EXAMPLES, Cli, Said


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Cli:
    """`cli("run", path, "--json")`."""

    def answer(*arguments: str | Path) -> Said:
        code = invoke([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Said(code, captured.out, captured.err)

    return answer


@pytest.fixture
def crowded() -> Path:
    """Four prompts share a step; the old rules poison one block of it."""
    return EXAMPLES / "crowded-step.yaml"


@pytest.fixture
def poisoned(cli: Cli, crowded: Path, tmp_path: Path) -> Path:
    """The trace of `crowded` under the old rules."""
    path = tmp_path / "poisoned.jsonl"
    cli("run", crowded, "--rules", "aligned-below-last", "--trace", path)
    return path

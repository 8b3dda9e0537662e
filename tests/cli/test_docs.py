"""docs/cli.md shows what commands really print: each block that begins with `$ truehit` is typed.

After a change of words, TRUEHIT_WRITE_DOCS=1 writes the new answers into the file.
"""

import os
import re
import shlex
from pathlib import Path

import pytest

from .said import EXAMPLES, Cli

PAGE = EXAMPLES.parent / "cli.md"
BLOCK = re.compile(r"```console\n\$ truehit (?P<arguments>.*)\n(?P<answer>(?:.*\n)*?)```\n")


def test_every_block_is_a_real_answer(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    page = PAGE.read_text(encoding="utf-8")
    (tmp_path / "docs").symlink_to(EXAMPLES.parent)
    monkeypatch.chdir(tmp_path)

    def typed(block: re.Match[str]) -> str:
        said = cli(*shlex.split(block["arguments"]))
        answer = said.out + said.err + (f"(exit {said.code})\n" if said.code else "")
        return f"```console\n$ truehit {block['arguments']}\n{answer}```\n"

    real = BLOCK.sub(typed, page)
    if os.environ.get("TRUEHIT_WRITE_DOCS"):
        PAGE.write_text(real, encoding="utf-8")
    assert len(BLOCK.findall(page)) >= 10
    assert page == real

"""The room can be read in an evening: small files, small functions, with a sentence each."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOM = Path(__file__).resolve().parents[2] / "engine"
FILES = sorted(ROOM.glob("*.py"))
LONGEST_FILE, LONGEST_FUNCTION = 400, 70
each_file = pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def test_there_are_files() -> None:
    assert len(FILES) > 20


@each_file
def test_a_file_is_short_and_says_what_it_is_for(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") <= LONGEST_FILE
    assert ast.get_docstring(ast.parse(text))


@each_file
def test_a_function_is_short(path: Path) -> None:
    for node in functions(path):
        assert node.end_lineno is not None
        lines = node.end_lineno - node.lineno + 1
        assert lines < LONGEST_FUNCTION, f"{path.name}: {node.name} has {lines} lines"


@each_file
def test_what_others_use_says_what_it_does(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    public = [
        node
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_")
    ]
    assert [node.name for node in public if not ast.get_docstring(node)] == []

"""What docs/engine.md shows runs, and its reading order names every file of the room."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "engine.md").read_text(encoding="utf-8")


def test_the_example_of_the_page_runs() -> None:
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(compile(example, "docs/engine.md", "exec"), {})


def test_every_file_has_its_sentence() -> None:
    named = set(re.findall(r"`(\w+\.py)`", PAGE))
    files = {path.name for path in (ROOT / "engine").glob("*.py")} - {"__init__.py"}
    assert named == files

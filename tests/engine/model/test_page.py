"""What docs/model.md shows runs, and its reading order names every file of the room; the page about
kernels does the same for its own."""

import re
from pathlib import Path

import pytest

from truehit.spec.geometry import Geometry, Group, Kind

from .theirs import network, save

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "model.md").read_text(encoding="utf-8")


def test_the_example_of_the_page_runs(tmp_path: Path) -> None:
    save(network("qwen3_5_text", 3), tmp_path)
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names: dict[str, object] = {}
    exec(compile(example, "docs/model.md", "exec"), names)
    geometry = Geometry(
        groups=(
            Group("attention", Kind.FULL_ATTENTION, 16),
            Group("state", Kind.RECURRENT_STATE, 48),
        ),
        hash_unit_tokens=16,
        pool_blocks=64,
    )
    serve = names["serve"]
    assert callable(serve)
    said = serve(tmp_path, geometry, list(range(70)))
    assert len(said) == 20


@pytest.mark.parametrize(("page", "room"), [("model", "engine/model"), ("kernels", "kernels")])
def test_every_file_has_its_sentence(page: str, room: str) -> None:
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    order = text.partition("## Reading order")[2].partition("\n## ")[0]
    named = set(re.findall(r"`(\w+\.py)`", order))
    files = {path.name for path in (ROOT / room).glob("*.py")} - {"__init__.py"}
    assert files == named

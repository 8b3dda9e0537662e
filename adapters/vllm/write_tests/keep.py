"""Only tests that do what they say are kept: each runs in a new process, in the environment of its
engine.

pytest is none of the engine's dependencies. The few packages that it consists of are pure Python,
so those installed beside truehit are lent to the process by links in a folder of their own, at the
very end of its path: whatever the environment has itself comes first, the neighbours of our pytest
(another numpy, say) stay out, and nothing is installed.
"""

import ast
import importlib.util
import os
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from truehit.adapters.vllm.environment import Environment
from truehit.adapters.vllm.problems import BuildError

LENT = ("pytest", "_pytest", "py", "pluggy", "iniconfig", "packaging", "pygments")
START = (
    "import sys; sys.path.append(sys.argv[1]); import pytest; sys.exit(pytest.main(sys.argv[2:]))"
)
LIMIT_SECONDS = 300
"""Importing a release for the first time takes most of a minute, its first configuration 20 s."""


@dataclass(frozen=True, slots=True)
class Kept:
    """The file fails with its sentence, and passes repaired."""

    path: Path


@dataclass(frozen=True, slots=True)
class Rejected:
    """The file is gone; `reason` is one line."""

    reason: str


def keep(path: Path, environment: Environment) -> Kept | Rejected:
    """Run a written test; remove it unless it fails with its sentence, and passes repaired.

    Raises:
        BuildError: there is no pytest, neither beside truehit nor in the environment.
    """
    reason = _reason(_outcomes(path, environment), sentence_of(path))
    if reason is None:
        return Kept(path)
    path.unlink()
    return Rejected(reason)


def sentence_of(path: Path) -> str:
    """The sentence of a written test.

    Raises:
        ValueError: the file has none.
    """
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        match node:
            case ast.Assign(targets=[ast.Name(id="SENTENCE")], value=ast.Constant(value=str(text))):
                return text
    raise ValueError(f"{path.name}: no SENTENCE; it is no written test")


def _reason(outcomes: dict[str, str] | str, sentence: str) -> str | None:
    """Why a test is not kept. `outcomes`: test -> what it failed with, "" if it passed."""
    match outcomes:
        case str(problem):
            return problem
        case {"test_defect": ""}:
            return "it does not fail here"
        case {"test_defect": failure} if _flat(sentence) not in _flat(failure):
            return f"it fails with something else: {_first_line(failure)}"
        case {"test_with_the_repair_it_passes": failure} if failure:
            return f"it fails repaired too: {_first_line(failure)}"
        case {"test_defect": _, "test_with_the_repair_it_passes": _}:
            return None
        case _:
            return "its tests did not run"


def _outcomes(path: Path, environment: Environment) -> dict[str, str] | str:
    with tempfile.TemporaryDirectory() as scratch:
        lent, report = Path(scratch) / "lent", Path(scratch) / "report.xml"
        lend(lent)
        options = ("-q", "-p", "no:cacheprovider", "--tb=short", f"--junitxml={report}")
        line = [str(environment.python), "-B", "-c", START, str(lent), *options]
        place = (f"--rootdir={path.parent}", "-c", os.devnull, str(path))
        variables = environment.variables() | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        variables.pop("PYTEST_ADDOPTS", None)
        try:
            done = subprocess.run(
                [*line, *place],
                env=variables,
                capture_output=True,
                text=True,
                timeout=LIMIT_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return f"it was not done in {LIMIT_SECONDS} s"
        if not report.is_file():
            words = _last_line(done.stderr or done.stdout)
            if words.endswith("No module named 'pytest'"):
                raise BuildError(
                    "written tests are run before they are kept, and pytest is neither here nor in "
                    f"{environment.name}; `pip install pytest` brings it"
                )
            return f"it cannot be run: {words}"
        return _read(report)


def lend(folder: Path) -> None:
    """Links to those packages of a pytest that are installed beside truehit."""
    folder.mkdir()
    for name in LENT:
        found = importlib.util.find_spec(name)
        if found is not None and found.origin is not None:
            package = Path(found.origin)
            source = package.parent if package.name == "__init__.py" else package
            (folder / source.name).symlink_to(source)


def _read(report: Path) -> dict[str, str]:
    """Test -> the text of its failure or error."""
    outcomes: dict[str, str] = {}
    for case in ElementTree.parse(report).iter("testcase"):
        texts = [
            f"{part.get('message', '')}\n{part.text or ''}"
            for part in case
            if part.tag in ("failure", "error")
        ]
        outcomes[case.get("name", "")] = "\n".join(texts)
    return outcomes


def _flat(text: str) -> str:
    return " ".join(text.split())


def _first_line(text: str) -> str:
    return text.strip().splitlines()[0]


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "it wrote nothing"

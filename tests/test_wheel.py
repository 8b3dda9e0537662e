"""The wheel holds every room under the one import name, with its data, and nothing beside it."""

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("spec", "reference", "engine", "kernels", "proofs", "adapters", "cli")
DATA = (
    "truehit/py.typed",
    "truehit/proofs/golden/golden.yaml",
    "truehit/proofs/cases/data/r02_replay_boundary.yaml",
    "truehit/proofs/regress/template.py.jinja",
    "truehit/proofs/recorded/cvc5.json",
)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist and the wheel that was built from that sdist."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    # From another folder: the root holds a `build` folder of records.
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return folder


@pytest.fixture(scope="module")
def names(built: Path) -> set[str]:
    (wheel,) = built.glob("*.whl")
    return set(zipfile.ZipFile(wheel).namelist())


def test_every_python_file_of_every_room_is_in_the_wheel(names: set[str]) -> None:
    for room in ROOMS:
        folder = ROOT / "src" / "truehit" / room
        files = [path for path in folder.resolve().rglob("*.py") if "__pycache__" not in path.parts]
        assert files
        for path in files:
            assert f"truehit/{room}/{path.relative_to(folder.resolve())}" in names


@pytest.mark.parametrize("name", DATA)
def test_data_files_are_in_the_wheel(names: set[str], name: str) -> None:
    assert name in names


def test_nothing_but_the_one_import_name_is_installed(names: set[str]) -> None:
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"truehit"}


def test_no_file_is_in_the_wheel_twice(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    listed = zipfile.ZipFile(wheel).namelist()
    assert len(listed) == len(set(listed))


def test_the_sdist_carries_the_tests(built: Path) -> None:
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        assert any(name.endswith("tests/test_wheel.py") for name in archive.getnames())

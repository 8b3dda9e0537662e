"""Compiled code is never stale, is compiled once, and decides what the plain code decides."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import pytest

from .lives import lives

ROOT = Path(__file__).resolve().parents[2]
LIVES = Path(__file__).with_name("lives.py")
SPREAD_OUT = """
import numpy as np
from truehit.engine import entry, fields as f
from truehit.engine.host import Host
from truehit.spec.geometry import Geometry, Group, Kind

host = Host(Geometry((Group("attention", Kind.FULL_ATTENTION, 4),), 4, pool_blocks=16))
core = host.core
core.now[f.N_ENTRIES] = 2
core.entry[1, [f.E_GROUP, f.E_FIRST]] = 1
entry.spread_again(host.handle)
print(np.flatnonzero(core.bucket)[0], sum(entry.spread_again.stats.cache_hits.values()))
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the room, and of what it knows."""
    made = tmp_path / "truehit"
    made.mkdir()
    (made / "__init__.py").touch()
    for room in ("spec", "engine"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / room, made / room, ignore=ignored)
    return made


def bucket_and_hits(package: Path) -> tuple[int, int]:
    """Where a process of its own puts one key, and what it loaded instead of compiling."""
    kept = {n: v for n, v in os.environ.items() if n not in ("NUMBA_DISABLE_JIT", "PYTHONPATH")}
    done = subprocess.run(
        [sys.executable, "-c", SPREAD_OUT],
        env=kept | {"PYTHONPATH": str(package.parent)},
        cwd=package.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    bucket, hits = done.stdout.split()
    return int(bucket), int(hits)


def test_an_edit_of_another_file_is_compiled_anew_and_what_is_old_is_loaded(package: Path) -> None:
    keys = package / "engine" / "keys.py"
    before = keys.read_text(encoding="utf-8")
    assert "SPREAD = 7919" in before
    assert bucket_and_hits(package) == (7919 % 128, 0)
    assert bucket_and_hits(package) == (7919 % 128, 1)
    keys.write_text(before.replace("SPREAD = 7919", "SPREAD = 7921"), encoding="utf-8")
    assert bucket_and_hits(package) == (7921 % 128, 0)
    keys.write_text(before, encoding="utf-8")
    assert bucket_and_hits(package) == (7919 % 128, 1)


def loaded(package: Path) -> ModuleType:
    """The copy's decorator."""
    spec = importlib.util.spec_from_file_location(
        "compiled_copy", package / "engine" / "compiled.py"
    )
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_file_of_the_room_is_in_the_stamp(package: Path) -> None:
    stamp = loaded(package)._room_stamp
    stamps, files = [stamp()], sorted((package / "engine").glob("*.py"))
    assert len(files) > 20
    for file in files:
        text = file.read_bytes()
        file.write_bytes(text + b"\n")
        stamps.append(stamp())
        file.write_bytes(text)
        assert stamp() == stamps[0]
    (package / "engine" / "more.py").touch()
    stamps.append(stamp())
    (package / "engine" / "more.py").rename(package / "engine" / "less.py")
    stamps.append(stamp())
    assert len(set(stamps)) == len(stamps)


def test_old_folders_of_compiled_code_go(package: Path) -> None:
    copy: Any = loaded(package)
    beside = package / "cache"
    for n in range(9):
        copy.ROOM_STAMP = f"{n}" * 16
        copy._folder(beside)
        os.utime(beside / f"engine-{copy.ROOM_STAMP}", (n, n))
    assert sorted(folder.name[-1] for folder in beside.iterdir()) == ["5", "6", "7", "8"]


def test_without_compilation_the_functions_are_python_and_decide_the_same() -> None:
    done = subprocess.run(
        [sys.executable, str(LIVES)],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    plain = json.loads(done.stdout)
    assert plain["kind"] == FunctionType.__name__
    assert plain["lives"] == json.loads(json.dumps(lives()))

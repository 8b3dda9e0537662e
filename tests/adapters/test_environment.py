"""The environment of a release: where it lies, that it appears whole or not at all, and one line
for whatever keeps it from being made. pip runs for real, without an index."""

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

from truehit.adapters.vllm.environment import Environment, build, last_error
from truehit.adapters.vllm.layout import Layout
from truehit.adapters.vllm.problems import BuildError

METADATA = "Metadata-Version: 2.1\nName: vllm\nVersion: 1.2.3\n"
WHEEL = "Wheel-Version: 1.0\nGenerator: hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    """A cache whose dependencies are there already."""
    found = Layout(tmp_path / "cache", "key")
    found.dependencies.mkdir(parents=True)
    return found


@pytest.fixture
def offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of wheels that pip takes everything from."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def put_wheel(folder: Path) -> None:
    with zipfile.ZipFile(folder / "vllm-1.2.3-py3-none-any.whl", "w") as target:
        target.writestr("vllm/__init__.py", "__version__ = '1.2.3'\n")
        target.writestr("vllm/_C.abi3.so", b"\x7fELF")
        for name, text in (("METADATA", METADATA), ("WHEEL", WHEEL), ("RECORD", "")):
            target.writestr(f"vllm-1.2.3.dist-info/{name}", text)


def environment(python: Path, packages: Path, root: Path) -> Environment:
    package = packages / "vllm"
    return Environment("vllm==1.2.3", "1.2.3", python, package, (packages,), root / "cache")


def quiet(line: str) -> None:
    """No progress is wanted."""


def test_the_cache_follows_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    found = Layout.of_user(["numpy"])
    assert found.root == tmp_path / "truehit" / "environments"
    assert found.release("0.33.0") == found.root / "vllm-0.33.0"
    assert found.python.is_relative_to(found.dependencies)
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert Layout.of_user([]).root == tmp_path / "home" / ".cache" / "truehit" / "environments"


def test_another_list_of_dependencies_is_another_environment() -> None:
    one, other = Layout.of_user(["numpy"]), Layout.of_user(["numpy", "regex"])
    assert one == Layout.of_user(["numpy"])
    assert one.dependencies != other.dependencies
    assert one.release("0.33.0") == other.release("0.33.0")


def test_a_release_is_made_once(layout: Layout, offline: Path) -> None:
    put_wheel(offline)
    said: list[str] = []
    made = build("1.2.3", said.append, layout)
    assert (made.name, made.version) == ("vllm==1.2.3", "1.2.3")
    assert made.path == (layout.release("1.2.3"),)
    assert made.package == layout.release("1.2.3") / "vllm"
    assert (made.package / "__init__.py").is_file()
    assert not (made.package / "_C.abi3.so").exists()
    assert [line.split(":")[0] for line in said] == ["vllm 1.2.3", "vllm 1.2.3"]
    (offline / "vllm-1.2.3-py3-none-any.whl").unlink()
    said.clear()
    assert build("1.2.3", said.append, layout) == made
    assert said == ["vllm 1.2.3: ready"]


def test_an_unknown_version_leaves_nothing_behind(layout: Layout, offline: Path) -> None:
    put_wheel(offline)
    with pytest.raises(BuildError) as caught:
        build("9.9.9", quiet, layout)
    assert str(caught.value) == (
        "vllm==9.9.9 is not in the cache and pip cannot bring it: "
        "No matching distribution found for vllm==9.9.9; the newest that it finds is 1.2.3"
    )
    assert sorted(path.name for path in layout.root.iterdir()) == ["dependencies-key"]


def test_no_network_and_no_cache_is_one_line(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_RETRIES", "1")
    # Nobody listens at the port for discarded data.
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.delenv("PIP_NO_INDEX", raising=False)
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    monkeypatch.delenv("PIP_EXTRA_INDEX_URL", raising=False)
    with pytest.raises(BuildError) as caught:
        build("1.2.3", quiet, layout)
    assert str(caught.value) == (
        "vllm==1.2.3 is not in the cache and pip cannot bring it: no package index can be reached"
    )


def test_releases_keep_apart_what_vllm_caches(layout: Layout, offline: Path) -> None:
    """It caches by the name of a model, so two releases would undo each other's work."""
    put_wheel(offline)
    made = build("1.2.3", quiet, layout)
    layout.release("1.2.4").mkdir()
    assert made.cache != build("1.2.4", quiet, layout).cache


def test_unreachable_dependencies_leave_nothing_behind(tmp_path: Path, offline: Path) -> None:
    layout = Layout(tmp_path / "cache", "key")
    words = r"^the environment of dependencies is not in the cache and pip cannot bring it: "
    with pytest.raises(BuildError, match=words) as caught:
        build("1.2.3", quiet, layout)
    assert "\n" not in str(caught.value)
    assert list(layout.root.iterdir()) == []


@pytest.mark.parametrize("version", ["", "latest", "0.33.0; rm", "==0.33.0", "../0.33.0"])
def test_what_is_no_version_never_reaches_pip(version: str, layout: Layout) -> None:
    with pytest.raises(BuildError, match=r"is no version of vllm; write for example 0\.33\.0$"):
        build(version, quiet, layout)


def test_a_missing_pip_is_said(
    tmp_path: Path, layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    venv.create(tmp_path / "bare", with_pip=False, symlinks=True)
    bare = str(tmp_path / "bare" / "bin" / "python")
    monkeypatch.setattr(sys, "executable", bare)
    with pytest.raises(BuildError) as caught:
        build("1.2.3", quiet, layout)
    assert str(caught.value) == (
        f"{bare} has no pip, and vLLM comes through it; `{bare} -m ensurepip` brings one"
    )


def test_a_cache_that_cannot_be_written_is_said(tmp_path: Path, offline: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    layout = Layout(tmp_path / "file" / "cache", "key")
    with pytest.raises(BuildError, match=r"^cannot write the cache at .* \(Not a directory\)$"):
        build("1.2.3", quiet, layout)


def test_a_process_inside_is_offline_and_sees_the_release_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", "/elsewhere")
    monkeypatch.setenv("PYTHONSTARTUP", "/elsewhere/x.py")
    made = environment(Path("python"), tmp_path / "vllm-1.2.3", tmp_path)
    variables = made.variables(tmp_path / "inside")
    assert variables["PYTHONPATH"].split(os.pathsep) == [
        str(tmp_path / "vllm-1.2.3"),
        str(tmp_path / "inside"),
    ]
    assert "PYTHONSTARTUP" not in variables
    assert variables["HF_HUB_OFFLINE"] == "1"
    assert variables["VLLM_CACHE_ROOT"] == str(tmp_path / "cache")


def test_the_folder_a_user_stands_in_is_not_imported_from(tmp_path: Path) -> None:
    """Whoever works on vLLM stands in a checkout of it."""
    for name in ("release", "checkout"):
        (tmp_path / name / "vllm").mkdir(parents=True)
        (tmp_path / name / "vllm" / "__init__.py").write_text("", encoding="utf-8")
    made = environment(Path(sys.executable), tmp_path / "absent", tmp_path)
    code = "import importlib.util; print(importlib.util.find_spec('vllm').origin)"
    inside = tmp_path / "checkout"
    line = [sys.executable, "-c", code]
    for paths in ((tmp_path / "release",), ()):
        done = subprocess.run(
            line,
            env=made.variables(*paths),
            cwd=inside,
            capture_output=True,
            text=True,
            check=False,
        )
        assert str(inside) not in done.stdout
        assert done.returncode == (0 if paths else 1)


def test_of_what_pip_wrote_the_last_error_counts() -> None:
    text = "WARNING: x\nERROR: first\nERROR: No matching distribution\n\n[notice] new release\n"
    assert last_error(text) == "No matching distribution"
    assert last_error("Traceback\n") == "it wrote no reason"

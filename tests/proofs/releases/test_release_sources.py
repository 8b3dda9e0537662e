"""Source trees: of a path, of a release, and the one line said when neither can be read."""

import sys
import zipfile
from pathlib import Path

import pytest

from truehit.proofs import sources
from truehit.proofs.lift import IntegerDomain, lift_source
from truehit.proofs.sources import ReleaseFiles, SourceError, cache_folder, open_path, open_release


def write_package(root: Path) -> None:
    package = root / "engine" / "core"
    package.mkdir(parents=True)
    (root / "engine" / "__init__.py").write_text("")
    (package / "__init__.py").write_text("raise RuntimeError('never imported')")
    (package / "rule.py").write_text("def rule(a: int) -> int:\n    return a // 3\n")


def test_a_checkout_is_read_and_never_imported(tmp_path: Path) -> None:
    write_package(tmp_path)
    for path in (tmp_path, tmp_path / "engine", tmp_path / "engine" / "core"):
        tree = open_path(path)
        assert set(tree.files) == {
            "engine/__init__.py",
            "engine/core/__init__.py",
            "engine/core/rule.py",
        }
        lifted = lift_source(tree, "engine.core.rule.rule", IntegerDomain())
        assert lifted.domain.evaluate({"a": -1}, lifted.result) == -1
    assert "engine.core" not in sys.modules


def test_a_folder_that_is_not_there() -> None:
    with pytest.raises(SourceError, match="is not a folder"):
        open_path("no/such/folder")


@pytest.mark.parametrize("text", ["vllm", "vllm>=0.3", "--no-deps==x", "vllm==0.1 extra", ""])
def test_what_names_no_release(text: str) -> None:
    with pytest.raises(SourceError, match="write for example"):
        open_release(text)


def test_the_cache_honours_the_users_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder("vllm==0.33.0") == tmp_path / "truehit" / "sources" / "vllm-0.33.0"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder("a==1") == Path.home() / ".cache" / "truehit" / "sources" / "a-1"


def test_without_network_and_cache_the_error_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for name in ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS"):
        monkeypatch.setenv(name, "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    tree = open_release("vllm==0.33.0")
    with pytest.raises(SourceError, match="not in the cache") as caught:
        tree.module("vllm.v1.request")
    assert "\n" not in str(caught.value)


def test_a_cached_release_needs_no_network(tmp_path: Path) -> None:
    write_package(tmp_path)
    (tmp_path / "names.txt").write_text("engine/core/rule.py\nengine/other.py")
    files = ReleaseFiles("engine==1.0", tmp_path)
    assert "a // 3" in files["engine/core/rule.py"]
    assert "engine/absent.py" not in files


def test_a_wheel_on_the_users_disk_is_read_in_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel = tmp_path / "engine-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("engine/rule.py", "def rule(a: int) -> int:\n    return a + 1\n")
        archive.writestr("engine/native.so", "binary")
        metadata = "Metadata-Version: 2.1\nName: engine\nVersion: 1.0\n"
        archive.writestr("engine-1.0.dist-info/METADATA", metadata)
        tag = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        archive.writestr("engine-1.0.dist-info/WHEEL", tag)
        archive.writestr("engine-1.0.dist-info/RECORD", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    tree = open_release("engine==1.0")
    lifted = lift_source(tree, "engine.rule.rule", IntegerDomain())
    assert lifted.domain.evaluate({"a": 4}, lifted.result) == 5
    assert list(tree.files) == ["engine/rule.py"]
    assert not list((tmp_path / "cache").rglob("*.zip"))
    wheel.unlink()
    assert "a + 1" in open_release("engine==1.0").files["engine/rule.py"]


def test_where_ranges_are_refused_the_whole_wheel_is_fetched_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    test_a_wheel_on_the_users_disk_is_read_in_place(tmp_path, monkeypatch)
    with zipfile.ZipFile(tmp_path / "engine-1.0-py3-none-any.whl", "w") as archive:
        archive.writestr("engine/rule.py", "RULE = 1\n")
        metadata = "Metadata-Version: 2.1\nName: engine\nVersion: 1.0\n"
        archive.writestr("engine-1.0.dist-info/METADATA", metadata)
        archive.writestr("engine-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\n")
        archive.writestr("engine-1.0.dist-info/RECORD", "")
    # A server that is not there refuses ranges as surely as one that does not know them.
    monkeypatch.setattr(sources, "find_wheel", lambda _: "http://localhost:9/engine.whl")
    folder = tmp_path / "fresh"
    files = ReleaseFiles("engine==1.0", folder)
    assert files["engine/rule.py"] == "RULE = 1\n"
    assert (folder / "wheel.zip").is_file()


@pytest.mark.network
def test_a_released_wheel_is_read_by_the_file(tmp_path: Path) -> None:
    files = ReleaseFiles("vllm==0.33.0", tmp_path)
    assert "_mamba_block_aligned_split" in files["vllm/v1/core/sched/scheduler.py"]
    kept = sorted(str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*") if p.is_file())
    assert kept == ["names.txt", "vllm/v1/core/sched/scheduler.py"]

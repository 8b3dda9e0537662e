"""Every kind of subject is reachable, knows its version and where that is from, and leaves what it
is made of as it was. Interpreters, pip and git run for real."""

import json
import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path
from typing import Any

import pytest

from truehit.adapters.vllm.environment import Environment
from truehit.adapters.vllm.layout import Layout
from truehit.adapters.vllm.problems import BuildError
from truehit.adapters.vllm.subject import open_subject

METADATA = "Metadata-Version: 2.1\nName: vllm\nVersion: 1.2.3\n"
WHEEL = "Wheel-Version: 1.0\nGenerator: hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
# What a build leaves in a tree; it must be read without being run.
VERSION_FILE = """
from __future__ import annotations
version: str
raise SystemExit("run")
__version__ = version = '1.4.0'
__version_tuple__ = version_tuple = (1, 4, 0)
"""
LOOK = """
import importlib.metadata, json, vllm
print(json.dumps([importlib.metadata.version("vllm"), vllm.__file__]))
"""


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    """A cache whose dependencies are an environment without packages."""
    found = Layout(tmp_path / "cache", "key")
    venv.create(found.dependencies, with_pip=False, symlinks=True)
    return found


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """An environment in which nothing is installed."""
    venv.create(tmp_path / "bare", with_pip=False, symlinks=True)
    return tmp_path / "bare"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A checkout: modules, and neither metadata nor a generated version."""
    return make_tree(tmp_path / "work" / "tree")


def make_tree(folder: Path) -> Path:
    (folder / "vllm" / "v1").mkdir(parents=True)
    for name in ("__init__.py", "v1/__init__.py"):
        (folder / "vllm" / name).write_text("", encoding="utf-8")
    return folder


def open_here(
    layout: Layout,
    text: str | None = "vllm",
    python: Path | None = None,
    source: Path | None = None,
) -> Environment:
    return open_subject(text, lambda line: None, python=python, source=source, layout=layout)


def problem_of(layout: Layout, python: Path | None = None, source: Path | None = None) -> str:
    with pytest.raises(BuildError) as caught:
        open_here(layout, python=python, source=source)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def look(environment: Environment, cwd: Path) -> Any:
    """What a process inside sees: the version that is asked for, and where it imports from."""
    done = subprocess.run(
        [environment.python, "-c", LOOK],
        env=environment.variables(),
        cwd=cwd,
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def git(folder: Path, *arguments: str) -> str:
    who = ("-c", "user.name=tester", "-c", "user.email=tester@example.invalid")
    line = ["git", "-C", str(folder), *who, *arguments]
    return subprocess.run(line, capture_output=True, text=True, check=True).stdout.strip()


def commit(folder: Path) -> str:
    git(folder, "add", "--all")
    git(folder, "commit", "--allow-empty", "--message", "x")
    return git(folder, "rev-parse", "--short", "HEAD")


def files(folder: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*")}


# --- interpreters ---------------------------------------------------------------------------------


def install(environment: Path, folder: Path) -> Path:
    """vLLM 1.2.3, of which an import fails, put there by pip; its package."""
    wheel = folder / "vllm-1.2.3-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as target:
        target.writestr("vllm/__init__.py", "raise RuntimeError('imported')\n")
        for name, text in (("METADATA", METADATA), ("WHEEL", WHEEL), ("RECORD", "")):
            target.writestr(f"vllm-1.2.3.dist-info/{name}", text)
    python = str(environment / "bin" / "python")
    line = [sys.executable, "-m", "pip", "--python", python, "install", "--no-index", str(wheel)]
    subprocess.run(line, capture_output=True, check=True)
    return next(environment.glob("lib/*/site-packages/vllm"))


def test_an_interpreter_brings_its_own_vllm(bare: Path, tmp_path: Path, layout: Layout) -> None:
    package = install(bare, tmp_path)
    python = bare / "bin" / "python"
    made = open_here(layout, python=python)
    assert made.name == f"vllm 1.2.3 (installed) of {python}"
    assert (made.version, made.python, made.package) == ("1.2.3", python, package)
    assert made.path == () and made.bytecode is None
    assert made.variables(tmp_path)["PYTHONPATH"] == str(tmp_path)
    assert open_here(layout, None, python=bare) == made


def test_a_relative_interpreter_is_found_from_anywhere(
    bare: Path, tmp_path: Path, layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(bare, tmp_path)
    monkeypatch.chdir(tmp_path)
    assert open_here(layout, python=Path("bare")).python == bare / "bin" / "python"


def test_an_editable_installation_without_metadata_is_found(
    bare: Path, tree: Path, layout: Layout
) -> None:
    (tree / "vllm" / "_version.py").write_text(VERSION_FILE, encoding="utf-8")
    site = next(bare.glob("lib/*/site-packages"))
    (site / "tree.pth").write_text(f"{tree}\n", encoding="utf-8")
    made = open_here(layout, python=bare)
    assert (made.version, made.package) == ("1.4.0", tree / "vllm")


def test_an_interpreter_without_vllm_is_said(
    bare: Path, tree: Path, layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The folder that a user stands in is not the interpreter's.
    monkeypatch.chdir(tree)
    python = bare / "bin" / "python"
    assert problem_of(layout, python=bare) == (
        f"{python} has no vllm; `{python} -m pip install vllm` brings one"
    )


def test_no_interpreter_is_said(tmp_path: Path, layout: Layout) -> None:
    for path in (tmp_path / "absent", tmp_path):
        assert problem_of(layout, python=path) == (
            f"no interpreter at {path}; name its file or its environment's folder, such as .venv"
        )


@pytest.mark.parametrize(
    ("text", "mode", "said"),
    [
        ("#!/bin/sh\n", 0o644, "cannot be started (Permission denied)"),
        ("#!/bin/sh\n", 0o755, "does not answer as a Python interpreter: it wrote nothing"),
        (
            "#!/bin/sh\necho hello\necho broken >&2\n",
            0o755,
            "does not answer as a Python interpreter: broken",
        ),
        (
            '#!/bin/sh\necho \'{"python": [3, 9], "origin": null, "version": null}\'\n',
            0o755,
            "is Python 3.9; 3.11 or newer is needed",
        ),
    ],
)
def test_what_is_no_fit_interpreter_is_said(
    text: str, mode: int, said: str, tmp_path: Path, layout: Layout
) -> None:
    file = tmp_path / "python"
    file.write_text(text, encoding="utf-8")
    file.chmod(mode)
    assert problem_of(layout, python=file) == f"{file} {said}"


# --- checkouts ------------------------------------------------------------------------------------


def test_a_checkout_comes_first_and_stays_as_it_was(
    tree: Path, tmp_path: Path, layout: Layout
) -> None:
    (tree / "vllm" / "_version.py").write_text(VERSION_FILE, encoding="utf-8")
    # An old installation of the same tree, which says something else.
    (tree / "vllm.egg-info").mkdir()
    (tree / "vllm.egg-info" / "PKG-INFO").write_text(METADATA, encoding="utf-8")
    before = files(tree)
    made = open_here(layout, source=tree)
    assert made.name == f"vllm 1.4.0 (_version.py) in {tree}"
    assert (made.version, made.python, made.package) == ("1.4.0", layout.python, tree / "vllm")
    assert made.path[-1] == tree
    assert look(made, tmp_path) == ["1.4.0", str(tree / "vllm" / "__init__.py")]
    assert files(tree) == before
    assert list(layout.bytecode.rglob("__init__.*.pyc"))


def test_a_checkout_is_opened_again_from_the_cache(tree: Path, layout: Layout) -> None:
    made = open_here(layout, source=tree)
    before = files(layout.root)
    assert open_here(layout, source=tree / "vllm") == made
    assert files(layout.root) == before


def test_a_checkout_that_moves_on_is_another_version_at_the_same_place(
    tree: Path, layout: Layout, tmp_path: Path
) -> None:
    file = tree / "vllm" / "_version.py"
    seen = []
    for version in ("1.4.0", "1.5.0"):
        file.write_text(VERSION_FILE.replace("1.4.0", version), encoding="utf-8")
        seen.append(open_here(layout, source=tree))
        assert look(seen[-1], tmp_path)[0] == version
    assert seen[0].cache == seen[1].cache
    assert seen[0].cache != open_here(layout, source=make_tree(tmp_path / "other")).cache


def test_a_checkout_of_unknown_version_has_one_for_those_who_ask(
    tree: Path, layout: Layout, tmp_path: Path
) -> None:
    made = open_here(layout, source=tree)
    assert made.version is None
    assert made.name == f"vllm of unknown version (no _version.py, no commit) in {tree}"
    assert look(made, tmp_path)[0] == "0.0.0+unknown"


@pytest.mark.parametrize("text", ["version = (", "x = '1'\n", "version = 3\n"])
def test_a_version_file_that_says_nothing_is_passed_over(
    text: str, tree: Path, layout: Layout
) -> None:
    (tree / "vllm" / "_version.py").write_text(text, encoding="utf-8")
    assert open_here(layout, source=tree).version is None


def test_the_version_of_a_commit(tree: Path, layout: Layout) -> None:
    def said() -> tuple[str | None, str]:
        made = open_here(layout, source=tree)
        return made.version, made.name.removesuffix(f" in {tree}")

    git(tree, "init", "--quiet")
    first = commit(tree)
    assert said() == (None, f"vllm of unknown version (commit {first})")
    git(tree, "tag", "v1.4.0rc1")
    git(tree, "tag", "nightly")
    assert said() == ("1.4.0rc1", "vllm 1.4.0rc1 (git)")
    second = commit(tree)
    assert said()[0] == f"1.4.0rc1+1.g{second}"
    (tree / "vllm" / "__init__.py").write_text("x = 1\n", encoding="utf-8")
    before = files(tree)
    assert said()[0] == f"1.4.0rc1+1.g{second}.changed"
    assert files(tree) == before
    git(tree, "tag", "--force", "v1.4.0rc1")
    assert said()[0] == "1.4.0rc1+changed"


def test_another_checkout_around_a_copied_tree_says_nothing(tree: Path, layout: Layout) -> None:
    outer = tree.parent
    git(outer, "init", "--quiet")
    (outer / ".gitignore").write_text("tree\n", encoding="utf-8")
    commit(outer)
    git(outer, "tag", "v9.9.9")
    assert open_here(layout, source=tree).version is None


def test_the_repository_that_a_hook_means_is_not_the_one_asked(
    tree: Path, tmp_path: Path, layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    """git tells its hooks by a variable which repository they are of."""
    for folder, tag in ((tree, "v1.4.0"), (make_tree(tmp_path / "hooked"), "v9.9.9")):
        git(folder, "init", "--quiet")
        commit(folder)
        git(folder, "tag", tag)
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "hooked" / ".git"))
    assert open_here(layout, source=tree).version == "1.4.0"


def test_without_git_the_version_is_unknown(
    tree: Path, layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(tree, "init", "--quiet")
    commit(tree)
    git(tree, "tag", "v1.4.0")
    monkeypatch.setenv("PATH", os.devnull)
    assert open_here(layout, source=tree).version is None


def test_a_folder_without_vllm_is_said(tmp_path: Path, layout: Layout) -> None:
    (tmp_path / "empty" / "vllm").mkdir(parents=True)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "__init__.py").write_text("", encoding="utf-8")
    for name in ("absent", "empty", "empty/vllm", "other"):
        path = tmp_path / name
        assert problem_of(layout, source=path) == (
            f"{path} holds no vllm package; name the folder that holds vllm/__init__.py"
        )


# --- which one is meant ---------------------------------------------------------------------------


def test_a_release_is_built(layout: Layout) -> None:
    layout.release("1.2.3").mkdir()
    made = open_here(layout, "vllm==1.2.3")
    assert (made.name, made.path) == ("vllm==1.2.3", (layout.release("1.2.3"),))


@pytest.mark.parametrize(
    ("text", "python", "source", "named"),
    [
        (None, None, None, "nothing"),
        ("vllm", None, None, "'vllm'"),
        ("0.33.0", None, None, "'0.33.0'"),
        ("vllm==1.2.3", Path("x"), None, "'vllm==1.2.3' with --python x"),
        ("vllm==1.2.3", None, Path("x"), "'vllm==1.2.3' with --source x"),
        ("vllm", Path("x"), Path("y"), "'vllm' with --python x with --source y"),
        (None, Path("x"), Path("y"), "--python x with --source y"),
    ],
)
def test_what_names_no_subject_is_said(
    text: str | None, python: Path | None, source: Path | None, named: str, layout: Layout
) -> None:
    with pytest.raises(BuildError) as caught:
        open_here(layout, text, python, source)
    assert str(caught.value) == (
        f"{named} does not name one subject; write vllm==0.33.0, or --python PATH, or --source PATH"
    )

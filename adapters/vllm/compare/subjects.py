"""What a user calls one side of a comparison: a release, a checkout, or a commit of a checkout.

A commit's files are copied out of git into the user's cache, once; neither the checkout nor its
index is touched, so both sides of one checkout can be compared while somebody works in it.
"""

import os
import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path

from truehit.adapters.vllm.environment import Environment, Progress, made_whole, user_layout
from truehit.adapters.vllm.layout import Layout, short_key
from truehit.adapters.vllm.problems import BuildError
from truehit.adapters.vllm.subject import RELEASE, TAG, open_subject
from truehit.adapters.vllm.unpack import unpack_wheel

LIMIT_SECONDS = 300
PACKAGE = "vllm"
SHOWN_DIGITS = 10


def open_side(text: str, progress: Progress, layout: Layout | None = None) -> Environment:
    """The environment of `vllm==X`, of the checkout at PATH, or of PATH@COMMIT.

    Raises:
        BuildError: it names nothing that can be reached; one line.
    """
    place = layout or user_layout()
    if text.startswith(RELEASE):
        return open_subject(text, progress, layout=place)
    path = Path(text).expanduser()
    if path.exists():
        return replace(open_subject(None, progress, source=path, layout=place), name=text)
    folder, at, commit = text.rpartition("@")
    if not at or not Path(folder).expanduser().is_dir():
        raise BuildError(
            f"{text!r} is neither a release nor a folder; "
            "write vllm==0.33.0, PATH of a checkout, or PATH@COMMIT"
        )
    checkout = _checkout_of(Path(folder).expanduser())
    full = _commit(checkout, commit, folder)
    tree = _tree(checkout, full, folder, place)
    opened = open_subject(None, progress, source=tree, layout=place)
    return replace(opened, name=f"{folder}@{full[:SHOWN_DIGITS]}")


def _checkout_of(folder: Path) -> Path:
    """The folder that holds the package: a user may name the package itself."""
    is_package = folder.name == PACKAGE and (folder / "__init__.py").is_file()
    return folder.parent if is_package else folder


def _commit(checkout: Path, name: str, shown: str) -> str:
    done = _git(checkout, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
    if done.returncode:
        raise BuildError(f"{shown} has no commit {name!r}; `git -C {shown} log` lists some")
    return done.stdout.decode().strip()


def _tree(checkout: Path, commit: str, shown: str, place: Layout) -> Path:
    """The package at a commit, copied out of git unless it has been before."""
    tree = place.root / "commits" / f"{commit}-{short_key(str(checkout.resolve()))}"
    if tree.is_dir():
        return tree
    with made_whole(tree) as folder, tempfile.TemporaryDirectory() as scratch:
        archive = Path(scratch) / "commit.zip"
        done = _git(
            checkout, "archive", "--format=zip", f"--output={archive}", commit, "--", PACKAGE
        )
        if done.returncode:
            raise BuildError(f"{shown}@{commit[:SHOWN_DIGITS]} holds no folder {PACKAGE}")
        unpack_wheel(archive, folder)
        _write_version(checkout, commit, folder)
    return tree


def _write_version(checkout: Path, commit: str, folder: Path) -> None:
    """The file that a build leaves, where the commit has a tag to count from: outside of its
    checkout a tree has no other way to know its version."""
    file = folder / PACKAGE / "_version.py"
    done = _git(checkout, "describe", "--tags", "--long", "--match=v*", commit)
    tag = TAG.fullmatch(done.stdout.decode().strip()) if not done.returncode else None
    if tag is None or file.exists():
        return
    version = tag["release"]
    if tag["commits"] != "0":
        version = f"{version}+{tag['commits']}.{tag['commit']}"
    numbers = tuple(int(part) for part in tag["release"].split(".") if part.isdigit())
    file.write_text(
        f"__version__ = version = {version!r}\n__version_tuple__ = version_tuple = {numbers!r}\n",
        encoding="utf-8",
    )


def _git(folder: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    """What git answers there.

    Raises:
        BuildError: it is not installed, or does not answer.
    """
    variables = {name: text for name, text in os.environ.items() if not name.startswith("GIT_")}
    try:
        return subprocess.run(
            ["git", "-C", str(folder), *arguments],
            env=variables | {"GIT_OPTIONAL_LOCKS": "0"},
            capture_output=True,
            timeout=LIMIT_SECONDS,
            check=False,
        )
    except OSError as problem:
        raise BuildError(f"git cannot be started ({problem.strerror})") from None
    except subprocess.TimeoutExpired:
        raise BuildError(f"git did not answer in {LIMIT_SECONDS} s at {folder}") from None

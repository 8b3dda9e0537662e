"""A Triton to compile with: the installed one, or a release that pip brings once.

A release lies in the user's cache folder and comes first on the import path of the children. It
appears whole or not at all. Packages come from wherever the user's own pip configuration says.
"""

import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

INSTALLED = "installed"
VERSION = re.compile(r"\d+(\.\d+)+[A-Za-z0-9.+_-]*")
PIP_LIMIT_SECONDS = 1800
# What changes how Triton and its tools compile, or where a child imports from.
CLEARED = ("PYTHON", "TRITON", "MLIR_", "LLVM_", "PTXAS", "DISABLE_", "NVPTX_")


class NotBrought(Exception):
    """A Triton that is not here and cannot be brought; one line."""


class NoVersion(Exception):
    """What was asked for cannot be a version; one line."""


@dataclass(frozen=True, slots=True)
class Toolchain:
    """A ready Triton. `path` comes first on the import path; `compiled` keeps what it compiled."""

    version: str
    path: tuple[Path, ...]
    compiled: Path

    def variables(self) -> dict[str, str]:
        """The variables of a child: this Triton, nobody's options, the interpreter off."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(CLEARED)}
        return kept | {
            "PYTHONPATH": os.pathsep.join(str(path) for path in self.path),
            # The folder that a user stands in has a folder named kernels, or even triton.
            "PYTHONSAFEPATH": "1",
            "PYTHONHASHSEED": "0",
            "OMP_NUM_THREADS": "1",
            "TRITON_CACHE_DIR": str(self.compiled),
            "TRITON_DUMP_PTXAS_LOG": "1",
        }


def bring(asked: str, progress: Callable[[str], None]) -> Toolchain:
    """The Triton of a name: `installed`, or a release such as `3.6.0`.

    Raises:
        NoVersion: it is neither.
        NotBrought: it is not here and pip cannot bring it, or the cache cannot be written.
    """
    if asked != INSTALLED and not VERSION.fullmatch(asked):
        raise NoVersion(
            f"{asked!r} is no version of triton; write {INSTALLED} or for example 3.6.0"
        )
    here = installed_version()
    if asked == INSTALLED and here is None:
        raise NotBrought("no triton is installed; `pip install triton` brings one")
    version = here if asked == INSTALLED and here is not None else asked
    compiled = _cache() / "compiled" / f"triton-{version}"
    if version == here:
        return Toolchain(version, (), compiled)
    tag = f"cp{sys.version_info.major}{sys.version_info.minor}"
    folder = _cache() / "environments" / f"triton-{version}-{tag}"
    if not folder.is_dir():
        progress(f"triton {version}: asking pip for it (once, about 650 MB) ...")
        with _made_whole(folder) as scratch:
            _pip_install(version, scratch)
    return Toolchain(version, (folder,), compiled)


def installed_version() -> str | None:
    """Of the environment this runs in."""
    try:
        return importlib.metadata.version("triton")
    except importlib.metadata.PackageNotFoundError:
        return None


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "truehit"


@contextmanager
def _made_whole(target: Path) -> Iterator[Path]:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(prefix=f"{target.name}.", dir=target.parent))
    except OSError as problem:
        raise NotBrought(f"cannot write the cache at {target} ({problem.strerror})") from None
    try:
        yield scratch
        try:
            scratch.rename(target)
        except OSError as problem:
            # Another run was first; its folder is as good as this one.
            if not target.is_dir():
                raise NotBrought(f"cannot write {target} ({problem.strerror})") from None
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _pip_install(version: str, folder: Path) -> None:
    release = f"triton=={version}"
    line = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "install"]
    line += ["--no-deps", "--only-binary", ":all:", "--target", str(folder), release]
    try:
        done = subprocess.run(
            line, capture_output=True, text=True, timeout=PIP_LIMIT_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise NotBrought(f"{release}: pip was not done in {PIP_LIMIT_SECONDS} s") from None
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["it wrote no reason"]
        reason = next((each for each in reversed(lines) if each.startswith("ERROR")), lines[-1])
        reason = reason.removeprefix("ERROR: ")
        raise NotBrought(f"{release} is not in the cache and pip cannot bring it: {reason}")

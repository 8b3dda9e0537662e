"""An environment in which the scheduler of a vLLM can be imported: that of a release, made once.

It has two parts, both in the user's cache folder: the dependencies that the scheduler's modules
need (one environment for all releases), and the Python files of one release, which come first on
the import path. No compiled part of vLLM is kept: the control plane needs none. Both parts appear
whole or not at all. Packages come from wherever the user's own pip configuration says.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from truehit.adapters.vllm.layout import Layout, check_version
from truehit.adapters.vllm.problems import BuildError
from truehit.adapters.vllm.unpack import unpack_wheel

Progress = Callable[[str], None]
PIP_LIMIT_SECONDS = 1800
# Words of pip's own.
OFFERED = re.compile(r"\(from versions: ([^)]+)\)")
UNREACHABLE = "after connection broken by"
# What `import vllm.v1.core.sched.scheduler` needs, found by leaving packages out.
REQUIREMENTS = (
    "torch==2.13.0",
    *("numpy", "pydantic", "regex", "cbor2", "psutil", "pyzmq", "transformers", "huggingface_hub"),
    *("tokenizers", "safetensors", "sentencepiece", "tqdm", "pyyaml", "rich", "aiohttp"),
    *("requests", "openai", "openai-harmony", "pillow", "pybase64", "cachetools", "msgspec"),
    *("cloudpickle", "uvloop", "py-cpuinfo", "prometheus_client", "llguidance", "fastapi"),
    *("partial-json-parser", "setuptools", "blake3", "einops"),
)
# Their own requirements would bring a compiler of 1 GB that no scheduler calls.
REQUIREMENTS_ALONE = ("xgrammar", "apache-tvm-ffi")


@dataclass(frozen=True, slots=True)
class Environment:
    """A ready environment of one vLLM. `package` is the folder of its modules, and `path` what
    comes first on the import path. Compiled Python goes to `bytecode`, or beside its source."""

    name: str
    version: str | None
    python: Path
    package: Path
    path: tuple[Path, ...]
    cache: Path
    bytecode: Path | None = None

    def variables(self, *paths: Path) -> dict[str, str]:
        """The variables of a process inside it: offline, quiet, `paths` importable after vLLM."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        prefix = {} if self.bytecode is None else {"PYTHONPYCACHEPREFIX": str(self.bytecode)}
        return (
            kept
            | prefix
            | {
                "PYTHONPATH": os.pathsep.join(str(path) for path in (*self.path, *paths)),
                # The folder that a user stands in is often a checkout of vLLM.
                "PYTHONSAFEPATH": "1",
                "PYTHONHASHSEED": "0",
                "VLLM_CACHE_ROOT": str(self.cache),
                "VLLM_LOGGING_LEVEL": "ERROR",
                "VLLM_NO_USAGE_STATS": "1",
                "HF_HUB_OFFLINE": "1",
                "TRANSFORMERS_OFFLINE": "1",
            }
        )


def user_layout() -> Layout:
    """Where environments lie for this user, this interpreter and these requirements."""
    return Layout.of_user(REQUIREMENTS + REQUIREMENTS_ALONE)


def build(version: str, progress: Progress, layout: Layout | None = None) -> Environment:
    """The environment of a release such as `0.33.0`; what is missing of it is made first.

    Raises:
        BuildError: not a version, pip is missing, or pip cannot bring a part; one line.
    """
    check_version(version)
    place = layout or user_layout()
    ensure_dependencies(place, progress)
    packages = place.release(version)
    if not packages.is_dir():
        progress(f"vllm {version}: asking pip for its wheel, keeping its Python files ...")
        _check_pip()
        with made_whole(packages) as folder:
            _make_release(version, folder)
    progress(f"vllm {version}: ready")
    return Environment(
        name=f"vllm=={version}",
        version=version,
        python=place.python,
        package=packages / "vllm",
        path=(packages,),
        cache=place.vllm_cache(version),
    )


def ensure_dependencies(place: Layout, progress: Progress) -> None:
    """Make the environment of the dependencies where it is missing.

    Raises:
        BuildError: pip is missing, or cannot bring them; one line.
    """
    if place.dependencies.is_dir():
        return
    progress("dependencies: asking pip for them (once, about 1.5 GB, some minutes) ...")
    _check_pip()
    with made_whole(place.dependencies) as folder:
        _make_dependencies(folder)


def _make_dependencies(folder: Path) -> None:
    venv.create(folder, with_pip=False, symlinks=True)
    inside = ("--python", str(folder / "bin" / "python"))
    what = "the environment of dependencies"
    _pip(what, *inside, "install", "--only-binary", ":all:", *REQUIREMENTS)
    _pip(what, *inside, "install", "--only-binary", ":all:", "--no-deps", *REQUIREMENTS_ALONE)


def _make_release(version: str, folder: Path) -> None:
    release = f"vllm=={version}"
    with tempfile.TemporaryDirectory() as scratch:
        options = ("--no-deps", "--only-binary", ":all:", "--ignore-requires-python")
        _pip(release, "download", "--dest", scratch, *options, release)
        wheel = next(Path(scratch).glob("*.whl"), None)
        if wheel is None:
            raise BuildError(f"{release} has no wheel for this machine")
        unpack_wheel(wheel, folder)


@contextmanager
def made_whole(target: Path) -> Iterator[Path]:
    """A folder beside `target` that takes its place at the end: runs may share the cache.

    Raises:
        BuildError: the cache cannot be written.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(prefix=f"{target.name}.", dir=target.parent))
    except OSError as problem:
        raise BuildError(f"cannot write the cache at {target} ({problem.strerror})") from None
    try:
        yield scratch
        try:
            os.replace(scratch, target)
        except OSError:
            # Another run was first; its folder is as good as this one.
            if not target.is_dir():
                raise
    except OSError as problem:
        raise BuildError(f"cannot write the cache at {target} ({problem.strerror})") from None
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _check_pip() -> None:
    line = [sys.executable, "-m", "pip", "--version"]
    if subprocess.run(line, capture_output=True, check=False).returncode:
        raise BuildError(
            f"{sys.executable} has no pip, and vLLM comes through it; "
            f"`{sys.executable} -m ensurepip` brings one"
        )


def _pip(what: str, *arguments: str) -> None:
    line = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments]
    try:
        done = subprocess.run(
            line, capture_output=True, text=True, timeout=PIP_LIMIT_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise BuildError(f"{what}: pip was not done in {PIP_LIMIT_SECONDS} s") from None
    if done.returncode:
        reason = last_error(done.stderr)
        raise BuildError(f"{what} is not in the cache and pip cannot bring it: {reason}")


def last_error(text: str) -> str:
    """Of what pip wrote, the line that says why it stopped, and which version there is instead."""
    lines = [line for line in text.splitlines() if line.startswith("ERROR")]
    if not lines:
        return "it wrote no reason"
    reason = lines[-1].removeprefix("ERROR: ")
    offered = OFFERED.search(text)
    if offered is None:
        return reason
    if offered[1] != "none":
        return f"{reason}; the newest that it finds is {offered[1].split(', ')[-1]}"
    return "no package index can be reached" if UNREACHABLE in text else reason

"""An environment in which the scheduler of a released vLLM can be imported, made once and kept.

It has two parts, both in the user's cache folder: the dependencies that the scheduler's modules
need (one environment for all releases), and the Python files of one release, which come first on
the import path. No compiled part of vLLM is kept: the control plane needs none. Both parts appear
whole or not at all. Packages come from wherever the user's own pip configuration says.
"""

import os
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
    """A ready environment of one release."""

    version: str
    python: Path
    packages: Path
    cache: Path

    def variables(self, *paths: Path) -> dict[str, str]:
        """The variables of a process inside it: offline, quiet, `paths` importable after vLLM."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        return kept | {
            "PYTHONPATH": os.pathsep.join(str(path) for path in (self.packages, *paths)),
            "PYTHONHASHSEED": "0",
            "VLLM_CACHE_ROOT": str(self.cache),
            "VLLM_LOGGING_LEVEL": "ERROR",
            "VLLM_NO_USAGE_STATS": "1",
            "HF_HUB_OFFLINE": "1",
            "TRANSFORMERS_OFFLINE": "1",
        }


def build(version: str, progress: Progress, layout: Layout | None = None) -> Environment:
    """The environment of a release such as `0.33.0`; what is missing of it is made first.

    Raises:
        BuildError: not a version, pip is missing, or pip cannot bring a part; one line.
    """
    check_version(version)
    place = layout or Layout.of_user(REQUIREMENTS + REQUIREMENTS_ALONE)
    if not place.dependencies.is_dir():
        progress("dependencies: asking pip for them (once, about 1.5 GB, some minutes) ...")
        _check_pip()
        with _made_whole(place.dependencies) as folder:
            _make_dependencies(folder)
    packages = place.release(version)
    if not packages.is_dir():
        progress(f"vllm {version}: asking pip for its wheel, keeping its Python files ...")
        _check_pip()
        with _made_whole(packages) as folder:
            _make_release(version, folder)
    progress(f"vllm {version}: ready")
    return Environment(version, place.python, packages, place.root / "vllm-cache")


def _make_dependencies(folder: Path) -> None:
    venv.create(folder, with_pip=False, symlinks=True)
    inside = ("--python", str(folder / "bin" / "python"))
    what = "the dependencies of vllm"
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
def _made_whole(target: Path) -> Iterator[Path]:
    """A folder beside `target` that takes its place at the end: runs may share the cache."""
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
        raise BuildError(f"{what}: pip cannot bring it: {last_error(done.stderr)}")


def last_error(text: str) -> str:
    """Of what pip wrote, the line that says why it stopped."""
    lines = [line for line in text.splitlines() if line.startswith("ERROR")]
    return lines[-1].removeprefix("ERROR: ") if lines else "it wrote no reason"

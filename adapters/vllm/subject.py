"""What a user calls a subject, made reachable: a release, an interpreter, or a checkout.

A release comes with an environment of its own. An interpreter brings its own vLLM and its own
dependencies; it is asked where they are, and vLLM is not imported for that. A checkout is imported
from where it lies, with the dependencies that the releases share; nothing is written into it:
compiled Python goes to the cache, and so does the metadata that an installation would have.
"""

import ast
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from truehit.adapters.vllm.environment import (
    Environment,
    Progress,
    build,
    ensure_dependencies,
    made_whole,
    user_layout,
)
from truehit.adapters.vllm.layout import Layout, short_key
from truehit.adapters.vllm.problems import BuildError

RELEASE = "vllm=="
ASK_LIMIT_SECONDS = 120
GIT_LIMIT_SECONDS = 60
OLDEST_PYTHON = (3, 11)
# Looking for a package that is not inside another imports nothing.
QUESTION = """
import importlib.metadata, importlib.util, json, sys
spec = importlib.util.find_spec("vllm")
try:
    version = importlib.metadata.version("vllm")
except importlib.metadata.PackageNotFoundError:
    version = None
origin = None if spec is None else spec.origin
print(json.dumps({"python": sys.version_info[:2], "origin": origin, "version": version}))
"""
TAG = re.compile(r"v(?P<release>\d+(?:\.\d+)+\w*)-(?P<commits>\d+)-(?P<commit>g[0-9a-f]+)")
# Metadata need some version; this one is older than any.
UNKNOWN = "0.0.0+unknown"


@dataclass(frozen=True, slots=True)
class Found:
    """A version, and who says so; where none is known, what is known instead."""

    version: str | None
    said_by: str

    @property
    def words(self) -> str:
        return f"vllm {self.version or 'of unknown version'} ({self.said_by})"


@dataclass(frozen=True, slots=True)
class Answer:
    """What an interpreter says about itself and its vLLM."""

    python: tuple[int, int]
    origin: Path | None
    version: str | None


def open_subject(
    text: str | None,
    progress: Progress,
    *,
    python: Path | None = None,
    source: Path | None = None,
    layout: Layout | None = None,
) -> Environment:
    """The environment of `vllm==X`, or, where `text` is only `vllm` or not given, of the vLLM that
    the interpreter `python` has, or of the checkout `source`.

    Raises:
        BuildError: they do not name one subject, or it cannot be reached; one line.
    """
    place = layout or user_layout()
    match text, python, source:
        case str() as release, None, None if release.startswith(RELEASE):
            return build(release.removeprefix(RELEASE), progress, place)
        case None | "vllm", Path() as interpreter, None:
            return _installed(interpreter, place)
        case None | "vllm", None, Path() as folder:
            return _checkout(folder, progress, place)
    named = [repr(text)] if text else []
    named += [f"--python {python}"] if python else []
    named += [f"--source {source}"] if source else []
    raise BuildError(
        f"{' with '.join(named) or 'nothing'} does not name one subject; "
        "write vllm==0.33.0, or --python PATH, or --source PATH"
    )


def _installed(path: Path, place: Layout) -> Environment:
    python = _interpreter(path)
    # Not resolved: the link is what makes an interpreter that of its environment.
    cache = place.vllm_cache(f"python-{short_key(str(python))}")
    blank = Environment("", None, python, python.parent, (), cache)
    answer = _ask(python, blank.variables())
    if answer.python < OLDEST_PYTHON:
        have, need = (".".join(map(str, pair)) for pair in (answer.python, OLDEST_PYTHON))
        raise BuildError(f"{python} is Python {have}; {need} or newer is needed")
    if answer.origin is None:
        raise BuildError(f"{python} has no vllm; `{python} -m pip install vllm` brings one")
    package = answer.origin.parent
    found = Found(answer.version, "installed") if answer.version else _version(package)
    return Environment(f"{found.words} of {python}", found.version, python, package, (), cache)


def _interpreter(path: Path) -> Path:
    names = (path, path / "bin" / "python", path / "Scripts" / "python.exe")
    for name in names:
        if name.is_file():
            return name.absolute()
    raise BuildError(
        f"no interpreter at {path}; name its file or its environment's folder, such as .venv"
    )


def _ask(python: Path, variables: dict[str, str]) -> Answer:
    try:
        done = subprocess.run(
            [str(python), "-"],
            env=variables,
            input=QUESTION,
            capture_output=True,
            text=True,
            timeout=ASK_LIMIT_SECONDS,
            check=False,
        )
    except OSError as problem:
        raise BuildError(f"{python} cannot be started ({problem.strerror})") from None
    except subprocess.TimeoutExpired:
        raise BuildError(f"{python} did not answer in {ASK_LIMIT_SECONDS} s") from None
    try:
        # What runs at an interpreter's start may write lines of its own.
        return TypeAdapter(Answer).validate_json(done.stdout.splitlines()[-1])
    except (IndexError, ValidationError):
        last = (done.stderr.strip().splitlines() or ["it wrote nothing"])[-1]
        raise BuildError(f"{python} does not answer as a Python interpreter: {last}") from None


def _checkout(path: Path, progress: Progress, place: Layout) -> Environment:
    package = _package(path)
    ensure_dependencies(place, progress)
    found = _version(package)
    metadata = place.metadata(short_key(str(package), found.version or UNKNOWN))
    if not metadata.is_dir():
        with made_whole(metadata) as folder:
            _write_metadata(folder, found)
    progress(f"{found.words} in {package.parent}: ready")
    return Environment(
        name=f"{found.words} in {package.parent}",
        version=found.version,
        python=place.python,
        package=package,
        # The metadata come first: a checkout may hold some of an old installation.
        path=(metadata, package.parent),
        cache=place.vllm_cache(f"source-{short_key(str(package))}"),
        bytecode=place.bytecode,
    )


def _package(path: Path) -> Path:
    """The package's folder, from itself or from the checkout that holds it."""
    for folder in (path / "vllm", path):
        if folder.name == "vllm" and (folder / "__init__.py").is_file():
            return folder.resolve()
    raise BuildError(f"{path} holds no vllm package; name the folder that holds vllm/__init__.py")


def _write_metadata(folder: Path, found: Found) -> None:
    version = found.version or UNKNOWN
    text = f"Metadata-Version: 2.1\nName: vllm\nVersion: {version}\n"
    inside = folder / f"vllm-{version}.dist-info"
    inside.mkdir()
    (inside / "METADATA").write_text(text, encoding="utf-8")


def _version(package: Path) -> Found:
    """What a tree says of itself: the file that a build leaves in it, or its commit."""
    file = package / "_version.py"
    if file.is_file() and (written := _written(file)):
        return Found(written, file.name)
    # A tree that was copied into another's checkout has not the other's version.
    if _git(package, "ls-files", "--error-unmatch", "__init__.py") is None:
        return Found(None, "no _version.py, no commit")
    described = _git(package, "describe", "--tags", "--long", "--always", "--match=v*")
    # Not `describe --dirty`: it writes into the checkout.
    changed = _git(package, "status", "--porcelain", "--untracked-files=no")
    return _from_tag(described or "", bool(changed))


def _written(file: Path) -> str | None:
    """The version in a generated file, which is read and not run."""
    try:
        body = ast.parse(file.read_text(encoding="utf-8")).body
    except (SyntaxError, ValueError):
        return None
    for line in body:
        match line:
            case ast.Assign(targets=targets, value=ast.Constant(value=str() as version)):
                names = {target.id for target in targets if isinstance(target, ast.Name)}
                if names & {"version", "__version__"}:
                    return version
    return None


def _from_tag(described: str, is_changed: bool) -> Found:
    """`v0.33.0-12-gabc` is twelve commits after 0.33.0, in a form that packagers can order."""
    changed = ["changed"] if is_changed else []
    tag = TAG.fullmatch(described)
    if tag is None:
        commit = f"commit {described}" if described else "no commit"
        return Found(None, ", ".join([commit, *changed]))
    later = [tag["commits"], tag["commit"]] if tag["commits"] != "0" else []
    local = ".".join([*later, *changed])
    return Found(f"{tag['release']}+{local}" if local else tag["release"], "git")


def _git(folder: Path, *arguments: str) -> str | None:
    """What git answers there; nothing where it refuses, or is not installed."""
    variables = {name: text for name, text in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments],
            # Without its lock, `status` cannot write a fresher index into the checkout.
            env=variables | {"GIT_OPTIONAL_LOCKS": "0"},
            capture_output=True,
            text=True,
            timeout=GIT_LIMIT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None

"""Source trees to lift from: a released wheel, of which only the needed files are read, or a path.

Nothing of a release is imported, installed or kept in the repository. The files land in the user's
cache, so a second run needs no network. Where the wheel lies is asked of pip each time it is
needed, under the user's own pip configuration; no address is written down.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

from remotezip import RemoteZip, RemoteZipError

from truehit.proofs.lift import SourceTree

REQUIREMENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*==[A-Za-z0-9][A-Za-z0-9.+!_-]*")
PIP_LIMIT_SECONDS = 900
NAMES = "names.txt"
WHOLE = "wheel.zip"


class SourceError(Exception):
    """A source tree that cannot be read; one line, for the user."""


def open_release(requirement: str) -> SourceTree:
    """The source of a release such as `vllm==0.33.0`, read lazily and cached.

    Raises:
        SourceError: not of the form `name==version`. Reading a file raises it too, when the file is
            neither cached nor reachable.
    """
    if not REQUIREMENT.fullmatch(requirement):
        raise SourceError(f"{requirement!r} names no release; write for example vllm==0.33.0")
    return SourceTree(requirement, ReleaseFiles(requirement, cache_folder(requirement)))


def open_path(path: str | Path) -> SourceTree:
    """The source of a checkout, or of any folder that packages are imported from.

    Raises:
        SourceError: there is no such folder.
    """
    root = Path(path)
    if not root.is_dir():
        raise SourceError(f"{root} is not a folder; name the one that holds the package")
    while (root / "__init__.py").is_file():
        root = root.parent
    return SourceTree(str(path), FolderFiles(root))


def cache_folder(requirement: str) -> Path:
    """Where the files of a release are kept between runs."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "truehit" / "sources" / requirement.replace("==", "-")


class FolderFiles(Mapping[str, str]):
    """The Python files below a folder."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def __getitem__(self, path: str) -> str:
        file = self._root / path
        if not file.is_file():
            raise KeyError(path)
        return file.read_text(encoding="utf-8")

    def __iter__(self) -> Iterator[str]:
        return (str(p.relative_to(self._root)) for p in sorted(self._root.rglob("*.py")))

    def __len__(self) -> int:
        return sum(1 for _ in self)


class ReleaseFiles(Mapping[str, str]):
    """The Python files of a wheel, each read once over the network and then from the cache."""

    def __init__(self, requirement: str, folder: Path) -> None:
        self._requirement = requirement
        self._folder = folder
        self._names: frozenset[str] | None = None
        self._remote: zipfile.ZipFile | None = None

    def __getitem__(self, path: str) -> str:
        if path not in self._listed():
            raise KeyError(path)
        file = self._folder / path
        if not file.is_file():
            self._fetch(path)
        return file.read_text(encoding="utf-8")

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._listed()))

    def __len__(self) -> int:
        return len(self._listed())

    def _listed(self) -> frozenset[str]:
        if self._names is None:
            listing = self._folder / NAMES
            if not listing.is_file():
                wheel = self._wheel()
                names = [n for n in wheel.namelist() if n.endswith(".py")]
                _store(listing, "\n".join(names).encode())
            self._names = frozenset(listing.read_text(encoding="utf-8").splitlines())
        return self._names

    def _fetch(self, path: str) -> None:
        try:
            content = self._wheel().read(path)
        except (RemoteZipError, OSError, zipfile.BadZipFile) as problem:
            raise SourceError(f"{self._requirement}: cannot read {path} ({problem})") from None
        _store(self._folder / path, content)

    def _wheel(self) -> zipfile.ZipFile:
        """The wheel, opened where it lies; fetched whole only where ranges are refused."""
        kept = self._folder / WHOLE
        if self._remote is None and kept.is_file():
            self._remote = zipfile.ZipFile(kept)
        if self._remote is None:
            address = find_wheel(self._requirement)
            if urlsplit(address).scheme == "file":
                self._remote = zipfile.ZipFile(unquote(urlsplit(address).path))
            else:
                self._remote = _remote(address) or self._whole(kept)
        return self._remote

    def _whole(self, kept: Path) -> zipfile.ZipFile:
        """The whole wheel, its Python files kept in the cache, so that it is fetched only once."""
        with tempfile.TemporaryDirectory() as folder:
            _pip(self._requirement, "download", "--dest", folder)
            wheel = next(Path(folder).glob("*.whl"), None)
            if wheel is None:
                raise SourceError(f"{self._requirement} has no wheel for this machine")
            with zipfile.ZipFile(wheel) as source, tempfile.TemporaryDirectory() as scratch:
                slim = Path(scratch) / "slim.zip"
                with zipfile.ZipFile(slim, "w", zipfile.ZIP_DEFLATED) as target:
                    for name in source.namelist():
                        if name.endswith(".py"):
                            target.writestr(name, source.read(name))
                _store(kept, slim.read_bytes())
        return zipfile.ZipFile(kept)


def find_wheel(requirement: str) -> str:
    """The address pip would install a release's wheel from.

    Raises:
        SourceError: pip finds none, or cannot ask.
    """
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        # fast-deps reads the metadata by range instead of moving the whole wheel.
        _pip(
            requirement,
            *("install", "--dry-run", "--ignore-installed", "--use-feature=fast-deps"),
            *("--report", str(report)),
        )
        found = json.loads(report.read_text(encoding="utf-8"))
    return str(found["install"][0]["download_info"]["url"])


def _pip(requirement: str, command: str, *options: str) -> None:
    common = ("--quiet", "--no-deps", "--only-binary", ":all:", "--ignore-requires-python")
    line = [sys.executable, "-m", "pip", command, *options, *common, requirement]
    try:
        done = subprocess.run(
            line, capture_output=True, text=True, timeout=PIP_LIMIT_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise SourceError(f"{requirement}: pip did not answer in {PIP_LIMIT_SECONDS} s") from None
    if done.returncode:
        lines = [text for text in done.stderr.splitlines() if text.startswith("ERROR")]
        reason = lines[-1].removeprefix("ERROR: ") if lines else f"exit code {done.returncode}"
        raise SourceError(
            f"{requirement} is not in the cache and pip cannot reach it: {reason}; "
            "use --source PATH for a checkout"
        )


def _remote(address: str) -> zipfile.ZipFile | None:
    """The wheel behind range requests, or nothing where the server refuses them."""
    try:
        wheel: zipfile.ZipFile = RemoteZip(address)
    except (RemoteZipError, OSError, zipfile.BadZipFile):
        return None
    return wheel


def _store(file: Path, content: bytes) -> None:
    """Write whole or not at all: several runs may share the cache."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=file.parent, delete=False) as scratch:
            scratch.write(content)
        os.replace(scratch.name, file)
    except OSError as problem:
        raise SourceError(f"cannot write the cache at {file} ({problem.strerror})") from None

"""A package with one file changed: links to everything that is the same, a copy of what is not.

The checkout is never written. Whoever puts the folder first on the path imports the fault; byte
code of the unchanged files is shared, and none is written.
"""

import importlib
import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

PACKAGE = "truehit"


@contextmanager
def overlay(package: Path, changed: Mapping[str, str], within: Path) -> Iterator[Path]:
    """A folder, inside the one given, to import the package from; some files (by path) read
    otherwise. The outer folder is the caller's: a process that is killed removes nothing."""
    with TemporaryDirectory(dir=within) as folder:
        root = Path(folder)
        _mirror(package, root / PACKAGE, {Path(file).parts: text for file, text in changed.items()})
        yield root


def _mirror(source: Path, target: Path, changed: Mapping[tuple[str, ...], str]) -> None:
    target.mkdir()
    for entry in source.iterdir():
        below = {rest[1:]: text for rest, text in changed.items() if rest[0] == entry.name}
        path = target / entry.name
        if () in below:
            path.write_text(below[()], encoding="utf-8")
            # Shared byte code is valid for the time and size of the original only.
            os.utime(path, (0, 0))
        elif below:
            _mirror(entry, path, below)
        elif entry.name == "__init__.py":
            # A real file, so that the package knows where it was imported from.
            shutil.copy2(entry, path)
        else:
            path.symlink_to(entry.resolve())


def reimport(root: Path, parts: tuple[str, ...]) -> None:
    """Forget the named parts of the package in this process; they come from `root` when asked for
    again. For a forked process: there is no way back."""
    sys.dont_write_bytecode = True
    package = sys.modules[PACKAGE]
    for name in list(sys.modules):
        if any(name == part or name.startswith(f"{part}.") for part in parts):
            del sys.modules[name]
    sys.path.insert(0, str(root))
    if PACKAGE not in parts:
        package.__path__.insert(0, str(root / PACKAGE))
        for part in parts:
            _, _, child = part.rpartition(".")
            if hasattr(package, child):
                delattr(package, child)
    importlib.invalidate_caches()


def module_of(file: str) -> str:
    """The dotted name of a file of the package."""
    parts = file.removesuffix(".py").removesuffix("/__init__").split("/")
    return ".".join([PACKAGE, *parts])

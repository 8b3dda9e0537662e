"""Only what Python reads of a wheel: its modules, its metadata, its JSON and its templates."""

import zipfile
from pathlib import Path, PurePosixPath

from truehit.adapters.vllm.problems import BuildError

SUFFIXES = frozenset({".py", ".json", ".jinja"})


def is_kept(name: str) -> bool:
    """Whether a member of the wheel is unpacked: nothing compiled, nothing outside the folder."""
    path = PurePosixPath(name)
    if name.endswith("/") or path.is_absolute() or ".." in path.parts:
        return False
    return path.suffix in SUFFIXES or path.parts[0].endswith(".dist-info")


def unpack_wheel(wheel: Path, folder: Path) -> int:
    """Unpack what is kept and say how many files it was.

    Raises:
        BuildError: not a wheel, or one without a module.
    """
    try:
        with zipfile.ZipFile(wheel) as source:
            names = [name for name in source.namelist() if is_kept(name)]
            source.extractall(folder, names)
    except (OSError, zipfile.BadZipFile) as problem:
        raise BuildError(f"{wheel.name} cannot be unpacked ({problem})") from None
    if not any(name.endswith(".py") for name in names):
        raise BuildError(f"{wheel.name} holds no Python file")
    return len(names)

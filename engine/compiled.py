"""One decorator for the engine's compiled functions: numba, cached on disk, never stale.

numba stamps a cached function with its own file only, although the functions it calls are compiled
into it. Here the stamp covers every file of this room and names the folder of the cache, so an edit
anywhere compiles anew. With NUMBA_DISABLE_JIT=1 the same code runs as plain Python, which is how
faults are planted in it."""

import shutil
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core import config
from numba.core.caching import IndexDataCacheFile

Function = TypeVar("Function", bound=Callable[..., object])
IS_COMPILED = not config.DISABLE_JIT  # type: ignore[attr-defined]


def _room_stamp() -> str:
    """The content of every source file of the room."""
    digest = sha256()
    for file in sorted(Path(__file__).resolve().parent.glob("*.py")):
        digest.update(file.name.encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()


ROOM_STAMP = _room_stamp()
KEPT_FOLDERS = 4
"""Of the folders of earlier sources, so that going back and forth does not compile again."""


def _folder(beside: Path) -> Path:
    """The cache folder of these sources; the oldest ones go when it is new."""
    folder = beside / f"engine-{ROOM_STAMP[:16]}"
    if not folder.is_dir():
        old = sorted(beside.glob("engine-*"), key=lambda path: path.stat().st_mtime)
        for path in old[: -KEPT_FOLDERS + 1]:
            shutil.rmtree(path, ignore_errors=True)
        folder.mkdir(parents=True, exist_ok=True)
    return folder


def compiled(function: Function) -> Function:
    """Compile on first call, or load what an earlier process compiled from the same sources."""
    if not IS_COMPILED:
        return function
    dispatcher = numba.njit(function, cache=True)
    cache = dispatcher._cache
    folder = _folder(Path(cache.cache_path))
    index: Any = IndexDataCacheFile
    cache._cache_file = index(str(folder), cache._impl.filename_base, ROOM_STAMP)
    return cast(Function, dispatcher)

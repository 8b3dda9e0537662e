"""One decorator for the engine's compiled functions: numba, cached on disk, never stale.

numba stamps a cached function with its own file only, although the functions it calls are compiled
into it. Here the stamp covers every file of this room and names the folder of the cache, so an edit
anywhere compiles anew. With NUMBA_DISABLE_JIT=1 the same code runs as plain Python, which is how
faults are planted in it."""

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


def compiled(function: Function) -> Function:
    """Compile on first call, or load what an earlier process compiled from the same sources."""
    if not IS_COMPILED:
        return function
    dispatcher = numba.njit(function, cache=True)
    cache = dispatcher._cache
    folder = Path(cache.cache_path) / f"engine-{ROOM_STAMP[:16]}"
    folder.mkdir(parents=True, exist_ok=True)
    index: Any = IndexDataCacheFile
    cache._cache_file = index(str(folder), cache._impl.filename_base, ROOM_STAMP)
    return cast(Function, dispatcher)

"""Where things lie: the regression tests of a checkout, and the user's cache."""

import os
from pathlib import Path

import truehit


def checkout() -> Path | None:
    """The root of the checkout this package is imported from, or None for an installed wheel."""
    root = Path(truehit.__file__).resolve().parents[2]
    return root if (root / "pyproject.toml").is_file() and (root / "tests").is_dir() else None


def cache() -> Path:
    """The user's cache folder of this project; XDG_CACHE_HOME is respected."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "truehit"


def regressions() -> Path:
    """Where counterexamples are written: the checkout's tests, or the cache for a wheel."""
    root = checkout()
    return root / "tests" / "regressions" if root is not None else cache() / "regressions"

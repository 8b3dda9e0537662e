"""Where the parts of vLLM's environments lie in the user's cache folder."""

import hashlib
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from truehit.adapters.vllm.problems import BuildError

VERSION = re.compile(r"\d+(\.\d+)+[A-Za-z0-9.+_-]*")


@dataclass(frozen=True, slots=True)
class Layout:
    """`root` holds everything; `key` changes with the interpreter and the list of dependencies."""

    root: Path
    key: str

    @classmethod
    def of_user(cls, requirements: Sequence[str]) -> "Layout":
        """Below XDG_CACHE_HOME, or ~/.cache where that is not set."""
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        key = short_key(sys.version, sys.base_prefix, *requirements)
        return cls(Path(base) / "truehit" / "environments", key)

    @property
    def dependencies(self) -> Path:
        """The virtual environment that all releases share."""
        return self.root / f"dependencies-{self.key}"

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.dependencies / "bin" / "python"

    def release(self, version: str) -> Path:
        """The folder of one release's Python files."""
        return self.root / f"vllm-{version}"

    def vllm_cache(self, subject: str) -> Path:
        """What vLLM itself keeps; a subject that shared it would overwrite another's."""
        return self.root / "vllm-cache" / subject

    def metadata(self, subject: str) -> Path:
        """A folder that says which version a checkout is, for those who ask the import path."""
        return self.root / "metadata" / subject

    @property
    def bytecode(self) -> Path:
        """Compiled Python of trees that nothing may be written into."""
        return self.root / "bytecode"


def short_key(*parts: str) -> str:
    """A name for a folder, of what a path or a version may hold."""
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:12]


def check_version(version: str) -> None:
    """Refuse what cannot be a version before pip is asked.

    Raises:
        BuildError: it is none.
    """
    if not VERSION.fullmatch(version):
        raise BuildError(f"{version!r} is no version of vllm; write for example 0.33.0")

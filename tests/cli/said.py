"""What a command line answers, and the type of the fixture that types it."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"


@dataclass(frozen=True, slots=True)
class Said:
    """Exit code, stdout, stderr."""

    code: int
    out: str
    err: str

    @property
    def data(self) -> dict[str, Any]:
        """The one JSON object on stdout."""
        parsed: dict[str, Any] = json.loads(self.out)
        return parsed

    @property
    def words(self) -> str:
        """stdout without line breaks."""
        return " ".join(self.out.split())


Cli = Callable[..., Said]
"""`cli("run", path, "--json")`."""

"""The second solver's answers, by the hash of the text it was asked, with its version."""

import json
from functools import lru_cache
from pathlib import Path

FILE = Path(__file__).resolve().parent.parent / "recorded" / "cvc5.json"


@lru_cache(maxsize=1)
def read() -> dict[str, str]:
    """Verdict by text hash; empty before anything was recorded."""
    if not FILE.is_file():
        return {}
    found: dict[str, str] = json.loads(FILE.read_text(encoding="utf-8"))["answers"]
    return found


def solver_version() -> str:
    """The version that gave the recorded answers; *none* before anything was recorded."""
    if not FILE.is_file():
        return "none"
    return str(json.loads(FILE.read_text(encoding="utf-8"))["version"])


def write(version: str, answers: dict[str, str]) -> None:
    """Replace the record."""
    FILE.parent.mkdir(exist_ok=True)
    content = {"solver": "cvc5", "version": version, "answers": dict(sorted(answers.items()))}
    FILE.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    read.cache_clear()

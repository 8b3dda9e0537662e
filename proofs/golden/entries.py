"""The entries of golden.yaml: figures from five public threads, paraphrased."""

from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import yaml


@dataclass(frozen=True, slots=True)
class Entry:
    """`expected`: key -> value. `derivable` no: the text does not say enough to run it."""

    name: str
    what: str
    derivable: str
    expected: dict[Any, Any]


def load_entries() -> tuple[Entry, ...]:
    """All entries in file order."""
    text = files(__package__).joinpath("golden.yaml").read_text(encoding="utf-8")
    return tuple(_entry(raw) for raw in yaml.safe_load(text)["entries"])


def _entry(raw: dict[str, Any]) -> Entry:
    expected = raw["expected"]
    if isinstance(expected, list):
        expected = {"rows": expected}
    expected.pop("variant", None)  # names the rule set to run, is no result of it
    return Entry(raw["id"], raw["what"], raw["derivable"], expected)


def derivable_entries() -> tuple[Entry, ...]:
    """The entries that must be reproduced or noted."""
    return tuple(entry for entry in load_entries() if entry.derivable != "no")

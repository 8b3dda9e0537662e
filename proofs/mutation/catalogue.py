"""The lists of faults, read from `faults/`, and the reasons why some operator mutants are the same.

A hand-planted list names a source file and its faults. `operators.yaml` gives, by the name of a
mutant, why nothing can notice it.
"""

import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from truehit.proofs.mutation.fault import Fault, Only, Rotten
from truehit.proofs.mutation.generated import Mutant, mutants

PHRASE = re.compile(r"[a-z][a-z -]*: \S.*")
OPERATED = {
    "reference": (
        *("allocate.py", "decide.py", "device.py", "file.py", "find.py", "live.py", "offers.py"),
        *("pool.py", "reasons.py", "run.py", "scheduler.py", "rules/*.py"),
    ),
    "spec": ("laws/*.py", "predicates/*.py"),
}
"""Where operators are applied. Not: assertions (the obligations' own goals, said again), names."""


class _Planted(BaseModel):
    model_config = ConfigDict(extra="forbid")
    what: str
    old: str
    new: str
    says: tuple[str, ...] = ()
    equivalent: str | None = None
    only: Only | None = None


class _List(BaseModel):
    model_config = ConfigDict(extra="forbid")
    file: str
    faults: list[_Planted]


def planted(texts: dict[str, str]) -> list[Fault]:
    """The hand-planted faults of some lists (name -> YAML text).

    Raises:
        Rotten: a list that cannot be read, two faults of one phrase, or a phrase without a room.
    """
    found: list[Fault] = []
    for name, text in sorted(texts.items()):
        for document in yaml.safe_load_all(text):
            try:
                part = _List.model_validate(document)
            except ValidationError as error:
                first = error.errors()[0]
                where = ".".join(str(step) for step in first["loc"])
                raise Rotten(f"{name}: {where}: {first['msg']}") from None
            found += [Fault(part.file, **fault.model_dump()) for fault in part.faults]
    seen: set[str] = set()
    for fault in found:
        if not PHRASE.fullmatch(fault.what):
            raise Rotten(f"{fault.file}: {fault.what!r} names no room; write `room: what breaks`")
        if fault.what in seen:
            raise Rotten(f"{fault.file}: {fault.what!r} is planted twice; once works")
        seen.add(fault.what)
    return found


def planted_here() -> list[Fault]:
    """The lists of this package."""
    folder = files(__package__).joinpath("faults")
    names = sorted(e.name for e in folder.iterdir() if e.name.endswith(".yaml"))
    texts = {n: folder.joinpath(n).read_text(encoding="utf-8") for n in names if n != REASONS}
    return planted(texts)


REASONS = "operators.yaml"


def reasons_here() -> dict[str, str]:
    """Mutant name -> why it is equivalent."""
    text = files(__package__).joinpath("faults").joinpath(REASONS).read_text(encoding="utf-8")
    found: dict[str, str] = {}
    for reason, names in (yaml.safe_load(text) or {}).items():
        found |= dict.fromkeys(names, reason)
    return found


def generated(root: Path, subject: str) -> Iterator[Mutant]:
    """All operator mutants of a subject; `root` is the folder of the package."""
    for pattern in OPERATED.get(subject, ()):
        for path in sorted((root / subject).glob(pattern)):
            file = str(path.relative_to(root))
            yield from mutants(file, path.read_text(encoding="utf-8"))

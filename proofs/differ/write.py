"""A minimal difference as a pytest file: it fails while the subject differs, and passes after."""

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from truehit.proofs.differ.compare import kind_of
from truehit.proofs.differ.minimal import Minimal, minimal
from truehit.proofs.differ.parts import Compared, Found
from truehit.proofs.differ.subject import Subject
from truehit.proofs.differ.text import sentence
from truehit.proofs.regress.text import short_yaml

NAME_CHARACTERS = 8


@dataclass(frozen=True, slots=True)
class Shown:
    """A run that differs, its smallest form, and the test it was written to (None: it was not)."""

    found: Found
    small: Minimal
    path: Path | None


def shrunk(done: Compared, subject: Subject, folder: Path | None) -> Iterator[Shown]:
    """The first difference; with a folder every kind of difference, each written there."""
    for found in done.found if folder is not None else done.found[:1]:
        small = minimal(found, subject)
        yield Shown(found, small, None if folder is None else write(small, folder))


def name_of(found: Minimal) -> str:
    """What differed, and of which run; the same run gets the same name."""
    kinds = "_".join(dict.fromkeys(kind_of(found.difference)))
    subject = found.subject.rpartition(":")[2]
    words = f"{subject}_{kinds}_{found.rules}"
    run = sha256(repr(found.scenario.geometry).encode() + repr(found.scenario).encode())
    return f"{re.sub(r'[^a-z0-9]+', '_', words.lower())}_{run.hexdigest()[:NAME_CHARACTERS]}"


def render(found: Minimal) -> str:
    """The text of the pytest file."""
    environment = Environment(
        loader=PackageLoader("truehit.proofs.differ", "."),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        autoescape=False,
    )
    named = replace(found.scenario, name=name_of(found))
    said = sentence(found.difference)
    return environment.get_template("template.py.jinja").render(
        subject=found.subject,
        rules=found.rules,
        name=name_of(found),
        sentence=textwrap.fill(f"{said[0].upper()}{said[1:]}.", 96),
        requests=len(found.scenario.requests),
        chunks=found.chunks,
        tokens=found.tokens,
        scenario=short_yaml(named),
    )


def write(found: Minimal, folder: Path) -> Path:
    """Write the test file; returns its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"test_{name_of(found)}.py"
    path.write_text(render(found), encoding="utf-8")
    return path

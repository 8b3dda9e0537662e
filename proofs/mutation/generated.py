"""Operator mutants as faults, with a name that survives edits elsewhere in the file, and a sample.

A mutant's name is its file, its function, its operator and the line before and after; a number is
added where one function has several alike. The sample is taken by the hash of the name, so it
changes only where the code does.
"""

import hashlib
from collections import Counter
from dataclasses import dataclass

from truehit.proofs.mutation.fault import Fault
from truehit.proofs.mutation.operators import Edit, edits


@dataclass(frozen=True, slots=True)
class Mutant:
    """`name`: stable; `fault`: what to plant."""

    name: str
    fault: Fault


def mutants(file: str, text: str) -> list[Mutant]:
    """All operator mutants of a file, in order of place."""
    source = text.encode()
    seen: Counter[str] = Counter()
    found: list[Mutant] = []
    for edit in edits(text):
        line, old, new = _lines(source, edit)
        name = f"{file} {edit.function}: {edit.operator}: {_short(old)} -> {_short(new)}"
        seen[name] += 1
        if seen[name] > 1:
            name += f" #{seen[name]}"
        what = f"{_room(file)}: {edit.function}: {edit.operator}"
        found.append(Mutant(name, Fault(file, old, new, what, line=line, operator=edit.operator)))
    return found


def sampled(name: str, per_mille: int) -> bool:
    """Whether a mutant of this name is in the sample of so many in a thousand."""
    return int(hashlib.sha256(name.encode()).hexdigest()[:8], 16) % 1000 < per_mille


def _lines(source: bytes, edit: Edit) -> tuple[int, str, str]:
    """The first line's number and the whole lines before and after the edit."""
    start = source.rfind(b"\n", 0, edit.start) + 1
    end = source.find(b"\n", edit.end)
    end = len(source) if end < 0 else end
    new = source[start : edit.start] + edit.new.encode() + source[edit.end : end]
    return source.count(b"\n", 0, start) + 1, source[start:end].decode(), new.decode()


def _short(lines: str) -> str:
    return " ".join(lines.split())


def _room(file: str) -> str:
    return file.rpartition("/")[2].removesuffix(".py")

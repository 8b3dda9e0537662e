"""A fault is one exact fragment of one source file and what stands there instead.

The fragment has to occur exactly once: when the file has moved on, the fault is rotten and says so,
so that a list of faults cannot quietly stop planting anything.
"""

from dataclasses import dataclass
from typing import Literal

Only = Literal["differential", "unit tests"]


class Rotten(ValueError):
    """A fault that no longer fits its file; one line."""


@dataclass(frozen=True, slots=True)
class Fault:
    """`file`: relative to the import root, as `reference/pool.py`. `what`: `room: what breaks`.
    `says`: laws that must name it with the oracle's assertions off. `equivalent`: why nothing can
    notice it. `only`: the test that alone notices it, asked first when time is short. `line`: of a
    generated fault, whose fragment need not be unique."""

    file: str
    old: str
    new: str
    what: str
    says: tuple[str, ...] = ()
    equivalent: str | None = None
    only: Only | None = None
    line: int | None = None
    operator: str | None = None

    @property
    def room(self) -> str:
        """What part of the house it is in."""
        return self.what.partition(":")[0]

    @property
    def subject(self) -> str:
        """reference, spec or engine."""
        return self.file.partition("/")[0]


def apply(text: str, fault: Fault) -> str:
    """The file's text with the fault in it.

    Raises:
        Rotten: the fragment is not there exactly once, or the replacement changes nothing.
    """
    if fault.line is not None:
        return _apply_at(text, fault, fault.line)
    found = text.count(fault.old)
    if found != 1:
        raise Rotten(f"{fault.file}: {fault.what}: the fragment occurs {found} times; once works")
    changed = text.replace(fault.old, fault.new)
    if changed == text:
        raise Rotten(f"{fault.file}: {fault.what}: the replacement is the fragment itself")
    return changed


def _apply_at(text: str, fault: Fault, line: int) -> str:
    lines = text.split("\n")
    width = fault.old.count("\n") + 1
    if "\n".join(lines[line - 1 : line - 1 + width]) != fault.old:
        raise Rotten(f"{fault.file}:{line}: {fault.what}: the line reads otherwise")
    return "\n".join([*lines[: line - 1], fault.new, *lines[line - 1 + width :]])


def first_line(text: str, fault: Fault) -> int:
    """The line (from 1) on which the fragment begins."""
    if fault.line is not None:
        return fault.line
    start = text.index(fault.old)
    # A fragment may begin with blank lines or indentation; the change itself is what is placed.
    same = 0
    while same < min(len(fault.old), len(fault.new)) and fault.old[same] == fault.new[same]:
        same += 1
    return text.count("\n", 0, start + same) + 1

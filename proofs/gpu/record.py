"""What a measuring process answers: one JSON line a record, each about one planned item.

No library beyond Python's own: a machine with a GPU has torch and Triton, and little else."""

import json
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

LOST = 70
"""The code with which a process ends that answered and can compute nothing any more."""


class Section(StrEnum):
    """In the order of the table."""

    CEILINGS = "ceilings"
    PRECOMPILE = "precompile"
    CORRECTNESS = "correctness"
    NEUTRALITY = "neutrality"
    TIMINGS = "timings"


@dataclass(frozen=True, slots=True)
class Environment:
    """`library`: the version of flash-linear-attention, or why there is none."""

    item: str
    gpu: str
    architecture: str
    python: str
    torch: str
    triton: str
    cuda: str
    library: str


@dataclass(frozen=True, slots=True)
class Ceiling:
    """`figure` in `unit`, median of `rounds`."""

    item: str
    figure: float
    unit: str
    rounds: int


@dataclass(frozen=True, slots=True)
class Compiled:
    """`problem`: empty, or why it does not compile."""

    item: str
    seconds: float
    problem: str


@dataclass(frozen=True, slots=True)
class Checked:
    """A kernel on random inputs. `error`: the largest, relative to the largest expected magnitude,
    infinite if something is not finite; for integers the largest difference. `is_repeatable`: every
    repeat left the same bytes. `is_contained`: no byte outside the pages to be written changed,
    shared pages and the gaps between pages included."""

    item: str
    error: float
    tolerance: float
    repeats: int
    is_repeatable: bool
    is_contained: bool


@dataclass(frozen=True, slots=True)
class Neutral:
    """A scenario on a model. `difference`: of the data plane from what the events say, or empty.
    `largest`: of the differences of logits. `false_reads`: pages read that hold something else;
    `are_expected`: the rules are historic ones that must show some."""

    item: str
    difference: str
    largest: float
    tolerance: float
    false_reads: int
    are_expected: bool


@dataclass(frozen=True, slots=True)
class Timed:
    """`seconds` of one launch, median of `replays` of a graph of `sets` launches, each on inputs of
    its own. `moved_bytes`: what has to be read and written whatever the kernel does."""

    item: str
    seconds: float
    replays: int
    sets: int
    moved_bytes: int


@dataclass(frozen=True, slots=True)
class Unobserved:
    """An item that could not be measured, and why."""

    item: str
    reason: str


@dataclass(frozen=True, slots=True)
class Failed:
    """A kernel or a model that raised where it should have computed."""

    item: str
    problem: str


Record = Environment | Ceiling | Compiled | Checked | Neutral | Timed | Unobserved | Failed
KINDS: dict[str, type[Any]] = {
    kind.__name__: kind
    for kind in (Environment, Ceiling, Compiled, Checked, Neutral, Timed, Unobserved, Failed)
}


def to_line(record: Record) -> str:
    """One line, without its end."""
    return json.dumps({"kind": type(record).__name__, **asdict(record)})


def from_line(line: str) -> Record:
    """ValueError: the line is no record."""
    fields = json.loads(line)
    if not isinstance(fields, dict) or fields.get("kind") not in KINDS:
        raise ValueError(f"not a record: {line[:80]!r}; a line with a known kind would do")
    kind = KINDS[fields.pop("kind")]
    try:
        record: Record = kind(**fields)
    except TypeError as error:
        raise ValueError(f"not a {kind.__name__}: {error}") from None
    return record

"""Our engine and a real one side by side: what each did with the same requests, and the laws on
theirs."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

from truehit.cli.exits import Exit
from truehit.cli.findable import findable_states
from truehit.cli.judging import SHOWN_VIOLATIONS, counts, numbers, print_violations, violation_json
from truehit.cli.miss_words import words
from truehit.cli.output import print_indented, print_line, print_table
from truehit.cli.requests import RequestRow, RequestRows
from truehit.spec.geometry import BlockDrop, Drop, Geometry, Lookahead
from truehit.spec.laws.base import Violation, ViolationClass
from truehit.spec.trace import Event, Header

if TYPE_CHECKING:
    from truehit.adapters.vllm.driver import Driven

JUDGED = frozenset({ViolationClass.CORRUPT, ViolationClass.STALL})
"""What refutes an engine that is not ours, unless somebody asks for more."""
OURS = "truehit"
DIFFERS = "≠"
HEAD = ("request", "send", "engine", "hit", "carve", "stored", "findable", "reason")
COMPARED = ("hit", "carve", "stored", "findable", "reason")


@dataclass(frozen=True, slots=True)
class Pair:
    """One request on both engines, field by field as in `COMPARED`. `theirs` None: the engine ended
    before it came. `why`: their reason in words."""

    name: str
    send: int
    ours: dict[str, Any]
    theirs: dict[str, Any] | None
    why: str

    @property
    def differs(self) -> list[str]:
        """The fields that are not equal."""
        if self.theirs is None:
            return list(COMPARED)
        return [field for field in COMPARED if self.ours[field] != self.theirs[field]]


@dataclass(frozen=True, slots=True)
class Beside:
    """One scenario on both. `ran_with`: where the engine's geometry is not the asked one. The
    violations are those of the engine's trace, in classes as `audit` reads them."""

    scenario: str
    subject: str
    ran_with: tuple[str, ...]
    pairs: tuple[Pair, ...]
    violations: tuple[Violation, ...]
    unordered: int
    facts: dict[str, Any]
    trace: tuple[Event, ...]

    def exit(self, fail_on: frozenset[ViolationClass]) -> Exit:
        """Refuted if the engine breaks a law of these classes; a difference alone is none."""
        broken = any(one.violation_class in fail_on for one in self.violations)
        return Exit.REFUTED if broken else Exit.HOLDS

    def to_json(self) -> dict[str, Any]:
        return {
            "scenario": self.scenario,
            "subject": self.subject,
            "ran_with": list(self.ran_with),
            "facts": self.facts,
            "requests": [
                {
                    "name": pair.name,
                    "send": pair.send,
                    "ours": pair.ours,
                    "theirs": pair.theirs,
                    "differs": pair.differs,
                    "why": pair.why,
                }
                for pair in self.pairs
            ],
            "violations": [violation_json(one) for one in self.violations],
            "unordered": self.unordered,
        }


def beside(ours: Sequence[Event], asked: Geometry, driven: "Driven") -> Beside:
    """What our trace and the driven one say of each request."""
    from truehit.adapters.vllm.audit.reading import symptoms
    from truehit.adapters.vllm.misses import explained

    header = driven.trace[0]
    assert isinstance(header, Header)
    theirs = explained(driven.trace)
    our_rows, their_rows = _rows(ours), _rows(theirs)
    our_states, their_states = findable_states(ours), findable_states(theirs)
    geometry = driven.scenario.geometry
    pairs = []
    for name, row in our_rows.items():
        their = their_rows.get(name)
        fields = None if their is None else _fields(their, their_states)
        why = "it never came" if their is None else _why(geometry, their)
        pairs.append(Pair(name, row.send, _fields(row, our_states), fields, why))
    return Beside(
        scenario=driven.scenario.name,
        subject=header.engine,
        ran_with=tuple(_ran_with(asked, driven)),
        pairs=tuple(pairs),
        violations=tuple(
            Violation(one.law, one.violation_class, one.step, one.request, one.sentence)
            for one in symptoms(driven)
        ),
        unordered=len(driven.unordered),
        facts={name: value for name, value in driven.facts.items() if name not in ("kind", "step")},
        trace=theirs,
    )


def _rows(trace: Iterable[Event]) -> dict[str, RequestRow]:
    rows = RequestRows()
    for event in trace:
        rows.note(event)
    return rows.rows


def _fields(row: RequestRow, findable: dict[str, tuple[int, ...]]) -> dict[str, Any]:
    return {
        "hit": row.hit,
        "carve": row.carve,
        # A key that moves to another block is told again.
        "stored": list(dict.fromkeys(row.stored)),
        "findable": list(findable.get(row.name, ())),
        "reason": row.reason,
    }


def _why(geometry: Geometry, row: RequestRow) -> str:
    if row.hit is None or row.lookup is None:
        return f"refused: {row.message}" if row.message else "it was never scheduled"
    return words(geometry, row.lookup)


def _ran_with(asked: Geometry, driven: "Driven") -> Iterable[str]:
    """What the engine made of the geometry, where that is something else."""
    used = driven.scenario.geometry
    fields = (
        ("hash unit", str(used.hash_unit_tokens), str(asked.hash_unit_tokens)),
        ("fine hits", _switch(used.fine_hits), _switch(asked.fine_hits)),
        ("drop", _drop(used.drop), _drop(asked.drop)),
        # The driver waits for each step.
        ("steps in flight", "1", str(asked.steps_in_flight)),
    )
    for name, value, wish in fields:
        if value != wish:
            yield f"{name} {value}, not {wish}"
    if driven.facts["bridge"] != driven.facts["version"]:
        yield f"the bridges of the newest release: {driven.facts['version']} was not tried"


def _switch(value: bool) -> str:
    return "on" if value else "off"


def _drop(drop: Drop) -> str:
    match drop:
        case BlockDrop(cap):
            return str(cap)
        case Lookahead(tokens):
            return f"lookahead:{tokens}"
        case _:
            return "none"


def print_pairs(screen: Console, one: Beside) -> None:
    """A row a request and engine; what is not equal is marked, and the engine's hits and
    reasons among it are said in words."""
    if one.ran_with:
        print_indented(screen, Text(f"{one.subject} ran with: ", "bold"), "; ".join(one.ran_with))
    cells = [row for pair in one.pairs for row in _cells(pair, one.subject)]
    print_table(screen, HEAD, cells, right=("send", "hit"))
    whys: dict[str, list[str]] = {}
    for pair in one.pairs:
        if {"hit", "reason"} & set(pair.differs):
            whys.setdefault(pair.why, []).append(pair.name)
    if whys:
        screen.print()
    for why, names in whys.items():
        print_indented(screen, Text(f"{one.subject}: {', '.join(names)}: ", "bold"), why)


def _cells(pair: Pair, subject: str) -> Iterable[tuple[str, ...]]:
    yield (pair.name, str(pair.send), OURS, *_texts(pair.ours, ()))
    if pair.theirs is None:
        yield ("", "", subject, f"{DIFFERS} -", *["-"] * (len(COMPARED) - 1))
    else:
        yield ("", "", subject, *_texts(pair.theirs, pair.differs))


def _texts(fields: dict[str, Any], marked: Sequence[str]) -> Iterable[str]:
    for name in COMPARED:
        value = fields[name]
        text = numbers(value) if isinstance(value, list) else "-" if value is None else str(value)
        yield f"{DIFFERS} {text}" if name in marked else text


def print_laws(screen: Console, one: Beside, fail_on: frozenset[ViolationClass]) -> None:
    """What the laws say of the engine's trace, in one line at the end."""
    print_violations(screen, one.violations)
    hidden = len(one.violations) - SHOWN_VIOLATIONS
    if hidden > 0:
        screen.print(f"… {hidden} more")
    if one.unordered:
        print_indented(
            screen,
            Text(f"{one.unordered} times ", "yellow"),
            "operations of two requests meet in a block within a step: what it holds then depends "
            "on the order of kernels",
        )
    differing = [pair.name for pair in one.pairs if pair.differs]
    said = f"{len(differing)} of {len(one.pairs)} requests differ ({DIFFERS})"
    found = counts(one.violations) or "no law is broken"
    style = "bold red" if one.exit(fail_on) is Exit.REFUTED else "bold green"
    print_line(screen, Text(f"{one.subject}: {found}; {said}", style))


def worst(*answers: Exit) -> Exit:
    """Refuted beats unknown, unknown beats holds."""
    order = (Exit.REFUTED, Exit.BAD_INPUT, Exit.UNKNOWN, Exit.HOLDS)
    return min(answers, key=order.index)

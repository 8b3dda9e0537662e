"""A difference in words: where it is, what came before it, both events field by field."""

from dataclasses import dataclass, fields
from typing import Any

from truehit.proofs.differ.compare import (
    DataDiffers,
    Difference,
    Raised,
    StepsDiffer,
    Unequal,
    compare,
)
from truehit.proofs.differ.data_difference import data_sentence
from truehit.proofs.differ.subject import load
from truehit.spec.scenario_file import parse_scenario
from truehit.spec.tokens import Segment
from truehit.spec.trace import Event, GroupReach

NOTHING = "-"
EQUAL = "equal"


@dataclass(frozen=True, slots=True)
class Row:
    """One field on both sides; `-` where that side has no such field, or has ended."""

    field: str
    oracle: str
    subject: str
    differs: bool


def sentence(difference: Difference) -> str:
    """One line: what differs, and where."""
    match difference:
        case Unequal():
            return f"event {difference.index} (step {difference.step}): {_sides(difference)}"
        case StepsDiffer():
            took = f"{difference.subject} steps, the oracle {difference.oracle}"
            return f"equal events, but the subject says that it took {took}"
        case Raised():
            said = f"{difference.error}: {difference.message}".removesuffix(": ")
            return f"the {difference.who} gave up ({said})"
        case DataDiffers(what):
            return f"equal events, but {data_sentence(what)}"


def _sides(difference: Unequal) -> str:
    oracle, subject = difference.oracle, difference.subject
    if subject is None:
        return f"the subject has ended, the oracle has {_name(oracle)}"
    if oracle is None:
        return f"the oracle has ended, the subject has {_name(subject)}"
    if difference.fields:
        return f"{_name(oracle)} differs in {', '.join(difference.fields)}"
    return f"the oracle has {_name(oracle)}, the subject {_name(subject)}"


def _name(event: Event | None) -> str:
    if event is None:
        return "nothing"
    request = getattr(event, "request", None)
    return f"{event.kind} of {request}" if request else event.kind


def rows(difference: Unequal) -> tuple[Row, ...]:
    """The fields of both events side by side, the kind first."""
    left, right = _cells(difference.oracle), _cells(difference.subject)
    names = list(dict.fromkeys((*left, *right)))
    differing = set(difference.fields)
    kinds_differ = not differing
    return tuple(
        Row(
            name,
            left.get(name, NOTHING),
            right.get(name, NOTHING),
            name in differing or (kinds_differ and left.get(name) != right.get(name)),
        )
        for name in names
    )


def _cells(event: Event | None) -> dict[str, str]:
    if event is None:
        return {"kind": NOTHING}
    values = {f.name: getattr(event, f.name) for f in fields(event)}
    return {"kind": event.kind} | {name: _cell(value) for name, value in values.items()}


def _cell(value: Any) -> str:
    """As short as it can be read; another type of number keeps its name."""
    match value:
        case str():
            return str(value) or "''"
        case Segment(name, tokens):
            return f"{name}:{tokens}"
        case GroupReach():
            numbers = (value.match_tokens, value.drop_tokens, value.reach_tokens)
            return f"{value.group} {' '.join(map(_cell, numbers))}"
        case tuple():
            return ", ".join(_cell(v).replace(", ", " ") for v in value) or "none"
        case _:
            return repr(value)


def line(event: Event) -> str:
    """One event in one line."""
    shown = {name: text for name, text in _cells(event).items() if name not in ("kind", "step")}
    return f"{event.step} {event.kind} " + ", ".join(f"{n} {text}" for n, text in shown.items())


def plain(difference: Difference) -> str:
    """The whole, without colours: for a file, a log, an assertion."""
    lines = [sentence(difference)]
    if isinstance(difference, Unequal):
        lines += [f"  before  {line(event)}" for event in difference.before]
        lines += [
            f"{'>' if row.differs else ' '} {row.field}: {row.oracle} | {row.subject}"
            for row in rows(difference)
        ]
    return "\n".join(lines)


def told(text: str, subject: str, rules: str) -> str:
    """Compare a scenario given as YAML: `equal`, or the difference. For the tests that are
    written."""
    done = compare(parse_scenario(text, ".yaml"), rules, load(subject))
    return EQUAL if done.difference is None else plain(done.difference)

"""A differential as JSON: what was compared, the first difference, what was covered."""

from dataclasses import asdict, fields, is_dataclass
from typing import Any

from truehit.proofs.differ.compare import Unequal
from truehit.proofs.differ.coverage import Coverage
from truehit.proofs.differ.parts import Compared
from truehit.proofs.differ.text import sentence
from truehit.proofs.differ.write import Shown
from truehit.proofs.regress.text import short_yaml
from truehit.spec.laws import LAWS
from truehit.spec.trace import Event


def counts(done: Compared) -> dict[str, Any]:
    """The totals, and the same for each source."""
    return {
        **asdict(done.total),
        "sources": {name: asdict(count) for name, count in done.sources.items()},
        "rules": dict(sorted(done.rules.items())),
    }


def coverage_json(coverage: Coverage) -> dict[str, Any]:
    """`runs` by feature; `judged`: of these, by law, those that gave it something to judge."""
    names = sorted(coverage.runs)
    judged = {name: {law.name: coverage.judged[(name, law.name)] for law in LAWS} for name in names}
    return {
        "runs": {name: coverage.runs[name] for name in names},
        "judged": judged,
        "holes": [list(pair) for pair in coverage.holes()],
    }


def difference_json(shown: Shown) -> dict[str, Any]:
    """Where the run was found, and the smallest one with both events. `event` is null if there is
    no event to show; in it, a side is null if its trace has ended."""
    found, small = shown.found, shown.small
    difference = small.difference
    event: dict[str, Any] | None = None
    if isinstance(difference, Unequal):
        event = {
            "index": difference.index,
            "step": difference.step,
            "oracle": event_json(difference.oracle),
            "subject": event_json(difference.subject),
            "before": [event_json(before) for before in difference.before],
            "fields": list(difference.fields),
        }
    return {
        "source": found.source,
        "name": found.name,
        "rules": found.rules,
        "sentence": sentence(difference),
        "event": event,
        "requests": len(small.scenario.requests),
        "chunks": small.chunks,
        "tokens": small.tokens,
        "scenario": short_yaml(small.scenario),
        "file": None if shown.path is None else str(shown.path),
    }


def event_json(event: Event | None) -> dict[str, Any] | None:
    """An event as the engine made it; what JSON has no form for is named by its text."""
    if event is None:
        return None
    return {"kind": event.kind} | _fields(event)


def _fields(record: Any) -> dict[str, Any]:
    return {f.name: _value(getattr(record, f.name)) for f in fields(record)}


def _value(value: Any) -> Any:
    match value:
        case None | bool() | int() | str():
            return value
        case tuple() | list():
            return [_value(item) for item in value]
        case dict():
            return {str(key): _value(item) for key, item in value.items()}
        case _ if is_dataclass(value):
            return _fields(value)
        case _:
            return repr(value)

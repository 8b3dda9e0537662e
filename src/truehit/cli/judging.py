"""A verdict in words and as JSON, the same for `run`, `check` and `predict`."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.text import Text

from truehit.cli.errors import unknown_name
from truehit.cli.exits import Exit
from truehit.cli.output import print_indented, print_table
from truehit.cli.requests import RequestRow, RequestRows
from truehit.spec.laws import LAWS
from truehit.spec.laws.base import Violation, ViolationClass
from truehit.spec.laws.judge import Verdict, check_trace
from truehit.spec.trace import Event

SHOWN_VIOLATIONS = 10
SHOWN_NUMBERS = 6
SEVERITY = tuple(ViolationClass)
EVERY_CLASS = frozenset(ViolationClass)


@dataclass(frozen=True, slots=True)
class Judged:
    """The verdict on a trace and what became of its requests."""

    verdict: Verdict
    rows: tuple[RequestRow, ...]

    def counted(self, fail_on: frozenset[ViolationClass]) -> list[Violation]:
        """The violations whose class refutes."""
        return [v for v in self.verdict.violations if v.violation_class in fail_on]

    def exit(self, fail_on: frozenset[ViolationClass]) -> Exit:
        """Refuted beats unknown; unknown is any law without its planes, or nothing to judge."""
        if self.counted(fail_on):
            return Exit.REFUTED
        if self.verdict.not_observed or not self.rows:
            return Exit.UNKNOWN
        return Exit.HOLDS

    def to_json(self) -> dict[str, Any]:
        return {
            "violations": [violation_json(v) for v in self.verdict.violations],
            "requests": [row.to_json() for row in self.rows],
            "not_observed": [
                {"law": one.law, "missing": list(one.missing)} for one in self.verdict.not_observed
            ],
            "suppressed": self.verdict.suppressed,
            "open": list(self.verdict.open_requests),
        }


def judge(events: Iterable[Event]) -> Judged:
    """One pass over the events."""
    rows = RequestRows()
    verdict = check_trace(rows.watch(events))
    return Judged(verdict, tuple(rows.rows.values()))


def violation_json(violation: Violation) -> dict[str, Any]:
    return {
        "law": violation.law,
        "class": violation.violation_class.value,
        "step": violation.step,
        "sentence": violation.sentence,
    }


def classes_of(text: str) -> frozenset[ViolationClass]:
    """`corrupt,stall` as classes; `none` refutes nothing."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    if names == ["none"]:
        return frozenset()
    known = {one.value: one for one in ViolationClass}
    for name in names:
        if name not in known:
            raise unknown_name("violation class", name, [*known, "none"])
    return frozenset(known[name] for name in names)


def numbers(values: Sequence[int]) -> str:
    """Positions on one line: all of a short list, the ends of a long one and their count."""
    if len(values) <= SHOWN_NUMBERS:
        return " ".join(map(str, values)) or "-"
    shown = [*map(str, values[:2]), "…", *map(str, values[-2:]), f"({len(values)})"]
    return " ".join(shown)


def print_requests(console: Console, rows: Sequence[RequestRow]) -> None:
    """One row a request."""
    head = ("request", "send", "prompt", "hit", "carve", "stored", "reason")
    cells = [
        (
            row.name,
            str(row.send),
            str(row.prompt_tokens),
            "-" if row.hit is None else str(row.hit),
            numbers(row.carve),
            numbers(row.stored),
            row.reason or "-",
        )
        for row in rows
    ]
    print_table(console, head, cells, right=("send", "prompt", "hit"))
    for row in rows:
        if row.message:
            print_indented(console, Text(f"{row.ended} {row.name}: ", "yellow"), row.message)


def print_verdict(console: Console, judged: Judged, fail_on: frozenset[ViolationClass]) -> None:
    """Violations, the worst class first; what was not observed; one line that sums up."""
    verdict = judged.verdict
    print_violations(console, verdict.violations)
    hidden = len(verdict.violations) + verdict.suppressed - SHOWN_VIOLATIONS
    if hidden > 0:
        console.print(f"… {hidden} more")
    for one in verdict.not_observed:
        missing = f" (the trace has no {', '.join(one.missing)} plane)"
        console.print(Text(f"{one.law}: not observed", "yellow") + Text(missing))
    if verdict.open_requests:
        console.print(Text("open: ", "yellow") + Text(", ".join(verdict.open_requests)))
    console.print(summary(judged, fail_on))


def print_violations(console: Console, violations: Sequence[Violation]) -> None:
    """The first ones by class and step: `corrupt provenance: the sentence`."""
    ordered = sorted(violations, key=lambda v: (SEVERITY.index(v.violation_class), v.step))
    for one in ordered[:SHOWN_VIOLATIONS]:
        harm = one.violation_class in (ViolationClass.CORRUPT, ViolationClass.STALL)
        head = Text(f"{one.violation_class} {one.law}: ", "bold red" if harm else "yellow")
        print_indented(console, head, one.sentence)


def counts(violations: Sequence[Violation]) -> str:
    """`4 corrupt, 7 waste`."""
    tally = [(one, sum(v.violation_class is one for v in violations)) for one in SEVERITY]
    return ", ".join(f"{count} {one}" for one, count in tally if count)


def summary(judged: Judged, fail_on: frozenset[ViolationClass]) -> Text:
    """The last line: holds, refuted or unknown, in numbers."""
    found = counts(judged.verdict.violations)
    tolerated = f" (tolerated: {found})" if found else ""
    unobserved = len(judged.verdict.not_observed)
    match judged.exit(fail_on):
        case Exit.REFUTED:
            return Text(f"refuted: {found}", "bold red")
        case Exit.HOLDS:
            held = f"{len(LAWS)} laws over {len(judged.rows)} requests"
            return Text(f"holds: {held}{tolerated}", "bold green")
        case _:
            why = f"{unobserved} of {len(LAWS)} laws were not observed"
            if not judged.rows:
                why = "the trace has no request"
            return Text(f"unknown: {why}{tolerated}", "bold yellow")

"""A picture: timeline, violations and event lines of one trace, ready to be rendered."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from truehit.cli.errors import InputError, unknown_name
from truehit.cli.event_lines import EventLine, event_line
from truehit.cli.judging import SEVERITY, SHOWN_VIOLATIONS, print_violations, violation_json
from truehit.cli.sources import input_errors
from truehit.cli.timeline import Strip, Timeline, build
from truehit.cli.timeline_grid import Grid, grid_of
from truehit.cli.timeline_html import html
from truehit.cli.timeline_markdown import markdown
from truehit.cli.timeline_text import print_events, print_grid, print_legend
from truehit.spec.laws.base import Violation
from truehit.spec.laws.judge import check_trace
from truehit.spec.trace import Event

SHOWN_REQUESTS = 12
SHOWN_FRAMES = 40


@dataclass(frozen=True, slots=True)
class Choice:
    """What to draw: these requests (none named: all), these steps (None: what fits), event lines
    at most."""

    requests: list[str]
    steps: tuple[int, int] | None
    event_lines: int

    def wants(self, event: Event) -> bool:
        """The event belongs to the requests and steps."""
        if self.requests and getattr(event, "request", None) not in self.requests:
            return False
        return self.steps is None or self.steps[0] <= event.step <= self.steps[1]

    def part_of(self, strip: Strip) -> Strip:
        if self.steps is None:
            return strip.around_the_break(SHOWN_FRAMES)
        return strip.within(*self.steps)


def steps_of(text: str) -> tuple[int, int]:
    """`4` or `4-9`."""
    first, dash, last = text.partition("-")
    numbers = (first, last) if dash else (first, first)
    if not all(number.isascii() and number.isdigit() for number in numbers):
        raise InputError(f"--steps '{text}' is no FIRST-LAST; 0-9 works")
    return int(numbers[0]), int(numbers[1])


@dataclass(frozen=True, slots=True)
class Picture:
    """`notes` say what was left out."""

    timeline: Timeline
    grids: list[Grid]
    violations: list[Violation]
    lines: list[EventLine]
    notes: list[str]

    @property
    def title(self) -> str:
        header, timeline = self.timeline.header, self.timeline
        parts = [header.scenario or "trace", header.engine, f"rules {header.rules}"]
        if timeline.group is not None:
            parts.append(f"group {timeline.group}")
            parts.append(f"block {timeline.block_tokens}")
        return " · ".join(parts)

    def print(self, console: Console) -> None:
        """In the terminal."""
        console.print(Text(self.title, "bold"), soft_wrap=True)
        if self.grids:
            print_legend(console, indent="")
        for grid in self.grids:
            console.print()
            console.print(Text(grid.request, "bold"))
            print_grid(console, grid)
        console.print()
        print_violations(console, self.violations)
        for note in self.notes:
            console.print(Text(note, "yellow"))
        console.print()
        print_events(console, self.lines)

    def markdown(self) -> str:
        return markdown(self.title, self.grids, self.violations, self.lines, self.notes)

    def html(self) -> str:
        return html(self.title, self.grids, self.violations, self.lines, self.notes)

    def to_json(self) -> dict[str, Any]:
        """Grids as words, events as lines."""
        return {
            "title": self.title,
            "requests": [
                {
                    "name": grid.request,
                    "rows": {row.label: [word.text for word in row.words] for row in grid.rows},
                }
                for grid in self.grids
            ],
            "violations": [violation_json(v) for v in self.violations],
            "events": [
                {
                    "step": one.step,
                    "order": int(one.order) if one.order else None,
                    "kind": one.kind,
                    "request": one.request,
                    "group": one.group,
                    "what": one.what,
                }
                for one in self.lines
            ],
            "notes": self.notes,
        }


def picture_of(
    source: Path, events: tuple[Event, ...], group: str | None, choice: Choice
) -> Picture:
    """The picture of a trace, as far as it was chosen."""
    only, limit = choice.requests, choice.event_lines
    with input_errors(source):
        verdict = check_trace(events)
        try:
            timeline = build(events, verdict.violations, group)
        except ValueError as error:
            raise InputError(f"--group: {error}") from error
    grids, notes = _grids(timeline, choice)
    lines = [event_line(event) for event in events if choice.wants(event)]
    if len(lines) > limit:
        notes.append(f"the first {limit} of {len(lines)} events; --events {len(lines)} lists all")
    if timeline.group is None:
        notes.append("no recurrent group: there is no state to draw")
    violations = [v for v in verdict.violations if not only or v.request in only]
    violations.sort(key=lambda v: (SEVERITY.index(v.violation_class), v.step))
    if len(violations) > SHOWN_VIOLATIONS:
        hidden = len(violations) - SHOWN_VIOLATIONS
        notes.append(f"{hidden} more violations; truehit check lists them")
    notes += [f"{one.law}: not observed" for one in verdict.not_observed]
    return Picture(timeline, grids, violations[:SHOWN_VIOLATIONS], lines[:limit], notes)


def _grids(timeline: Timeline, choice: Choice) -> tuple[list[Grid], list[str]]:
    only = choice.requests
    strips = {strip.request: strip for strip in timeline.strips}
    for name in only:
        if name not in strips:
            raise unknown_name("request", name, strips)
    chosen = [strip for strip in timeline.strips if not only or strip.request in only]
    notes = []
    if len(chosen) > SHOWN_REQUESTS and not only:
        # Sorting is stable: broken requests first, each kind in order of arrival.
        chosen = sorted(chosen, key=lambda strip: not strip.broken)[:SHOWN_REQUESTS]
        notes.append(
            f"{SHOWN_REQUESTS} of {len(strips)} requests, broken ones first; "
            "--request NAME draws one"
        )
    drawn = []
    for strip in chosen:
        part = choice.part_of(strip)
        if len(part.frames) < len(strip.frames) and choice.steps is None:
            notes.append(
                f"{len(part.frames)} of {len(strip.frames)} columns of {strip.request}; "
                f"--steps {strip.frames[0].first}-{strip.frames[-1].last} draws all"
            )
        if part.frames:
            drawn.append(grid_of(part, timeline.block_tokens))
    return drawn, notes

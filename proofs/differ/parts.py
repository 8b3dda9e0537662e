"""Pieces of a differential: each compares many scenarios in one process and brings its counts."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from truehit.proofs.differ.compare import Comparison, Difference, compare, compare_with, kind_of
from truehit.proofs.differ.coverage import Coverage, covered, summed
from truehit.proofs.differ.data_difference import NO_DATA, DataCount
from truehit.proofs.differ.draw import draw_run
from truehit.proofs.differ.sources import Listed, each_golden_run
from truehit.proofs.differ.subject import Subject, load
from truehit.reference.run import Run
from truehit.spec.scenario import Scenario

KEPT = 8
"""So many kinds of difference are kept, each with its smallest run; the rest are counted."""


@dataclass(frozen=True, slots=True)
class GoldenPart:
    """The runs of these golden entries."""

    entries: tuple[str, ...]
    source: str = "golden"


@dataclass(frozen=True, slots=True)
class ListedPart:
    """Scenarios from files."""

    source: str
    runs: tuple[Listed, ...]


@dataclass(frozen=True, slots=True)
class DrawnPart:
    """Drawn scenarios of these seeds, under one rule set or (None) under all in rotation."""

    first_seed: int
    runs: int
    rules: str | None
    source: str = "drawn"


Part = GoldenPart | ListedPart | DrawnPart


@dataclass(frozen=True, slots=True)
class Found:
    """A run that differs. `size`: the tokens and blocks in it, and the oracle's events."""

    source: str
    name: str
    rules: str
    scenario: Scenario
    difference: Difference
    size: int


def size_of(scenario: Scenario) -> int:
    """Tokens of all requests and blocks: large numbers are slow to shrink."""
    blocks = sum(group.block_tokens for group in scenario.geometry.groups)
    return blocks + sum(request.total_tokens for request in scenario.requests)


@dataclass(frozen=True, slots=True)
class Count:
    """What was compared, in the oracle's numbers; `data`: of the subject's data plane."""

    runs: int = 0
    steps: int = 0
    events: int = 0
    differences: int = 0
    data: DataCount = NO_DATA

    def plus(self, other: "Count") -> "Count":
        return Count(
            self.runs + other.runs,
            self.steps + other.steps,
            self.events + other.events,
            self.differences + other.differences,
            self.data.plus(other.data),
        )


@dataclass(frozen=True, slots=True)
class Compared:
    """The sum of compared runs. `found`: a run for each kind of difference; `rules`: runs by
    rule set."""

    sources: dict[str, Count]
    rules: Counter[str]
    found: tuple[Found, ...]
    coverage: Coverage

    @property
    def total(self) -> Count:
        total = Count()
        for count in self.sources.values():
            total = total.plus(count)
        return total


def one_a_kind(found: Iterable[Found]) -> tuple[Found, ...]:
    """The smallest run of each kind of difference, the kinds in the order they were found."""
    smallest: dict[tuple[str, ...], Found] = {}
    for run in found:
        kind = kind_of(run.difference)
        known = smallest.setdefault(kind, run)
        if run.size < known.size:
            smallest[kind] = run
    return tuple(smallest.values())[:KEPT]


@dataclass(slots=True)
class _Tally:
    """Counts one source while it runs."""

    source: str
    count: Count = Count()
    rules: Counter[str] = field(default_factory=Counter)
    found: list[Found] = field(default_factory=list)

    def add(self, name: str, rules: str, scenario: Scenario, done: Comparison) -> None:
        self.rules[rules] += 1
        differs = done.difference is not None
        self.count = self.count.plus(
            Count(1, done.steps, len(done.events), int(differs), done.data)
        )
        if done.difference is not None:
            size = size_of(scenario) + len(done.events)
            self.found.append(Found(self.source, name, rules, scenario, done.difference, size))

    def result(self, coverage: Coverage) -> Compared:
        found = one_a_kind(self.found)
        return Compared({self.source: self.count}, self.rules, found, coverage)


def compare_part(part: Part, subject_name: str) -> Compared:
    """Compare all runs of a part with the subject of this name."""
    subject = load(subject_name)
    match part:
        case GoldenPart():
            return _golden(part, subject)
        case ListedPart():
            return _listed(part, subject)
        case DrawnPart():
            return _drawn(part, subject)


def _golden(part: GoldenPart, subject: Subject) -> Compared:
    """Every different run once; what differs only in its name is no other run."""
    tally = _Tally(part.source)
    seen: set[tuple[Scenario, str]] = set()

    def see(entry: str, told: Run) -> None:
        if (told.scenario, told.rules.name) in seen:
            return
        seen.add((told.scenario, told.rules.name))
        tally.add(entry, told.rules.name, told.scenario, compare_with(told, subject))

    each_golden_run(part.entries, see)
    return tally.result(summed(()))


def _listed(part: ListedPart, subject: Subject) -> Compared:
    tally = _Tally(part.source)
    for run in part.runs:
        tally.add(run.name, run.rules, run.scenario, compare(run.scenario, run.rules, subject))
    return tally.result(summed(()))


def _drawn(part: DrawnPart, subject: Subject) -> Compared:
    tally = _Tally(part.source)
    coverages: list[Coverage] = []
    for seed in range(part.first_seed, part.first_seed + part.runs):
        drawn = draw_run(seed, part.rules)
        done = compare(drawn.scenario, drawn.rules, subject)
        coverages.append(covered(drawn.on, done.events))
        tally.add(f"seed {seed}", drawn.rules, drawn.scenario, done)
    return tally.result(summed(coverages))


def merged(parts: Iterable[Compared]) -> Compared:
    """The sum, sources and differing runs in the order they came."""
    sources: dict[str, Count] = {}
    rules: Counter[str] = Counter()
    found: list[Found] = []
    coverages: list[Coverage] = []
    for part in parts:
        for source, count in part.sources.items():
            sources[source] = sources.get(source, Count()).plus(count)
        rules.update(part.rules)
        found += part.found
        coverages.append(part.coverage)
    return Compared(sources, rules, one_a_kind(found), summed(coverages))

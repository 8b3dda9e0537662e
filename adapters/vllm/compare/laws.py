"""Laws that one side breaks on the drawn scenarios and the other breaks nowhere on them.

Both sides run the same scenarios, as they are and then with each known defect mended in memory: a
defect that both have would hide whatever breaks the same law behind it. A request that the other
side never schedules proves nothing: it has not come to the place. Scenarios of known defects are
left out, for they are reported by name; so are policies.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from truehit.adapters.vllm.audit.audit import repair_names
from truehit.adapters.vllm.audit.reading import symptoms
from truehit.adapters.vllm.audit.report import FindingRecord
from truehit.adapters.vllm.compare.library import Listed
from truehit.adapters.vllm.compare.report import MatchedFinding
from truehit.adapters.vllm.driver import Driven, Driver
from truehit.spec.laws.base import ViolationClass
from truehit.spec.scenario_file import dump_scenario
from truehit.spec.trace import Schedule

Broken = tuple[str, str]
"""A class and a law."""
FAULT = "fault"


@dataclass(frozen=True, slots=True)
class Shown:
    """A scenario that breaks it, for which request, and how."""

    listed: Listed
    request: str
    sentence: str

    @property
    def where(self) -> tuple[str, str]:
        return self.listed.name, self.request


@dataclass(frozen=True, slots=True)
class Side:
    """What one side breaks, by the scenarios that do, and the requests, with the name of their
    scenario, that it schedules at all."""

    broken: dict[Broken, list[Shown]]
    scheduled: frozenset[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Judged:
    """Both sides under one mask: the names of repairs."""

    mask: tuple[str, ...]
    base: Side
    head: Side


def judge_library(base: Driver, head: Driver, scenarios: Iterable[Listed]) -> list[Judged]:
    """Drive the scenarios under every mask.

    Raises:
        PeerError: an engine does not start; one line.
    """
    drawn = list(scenarios)
    masks: list[tuple[str, ...]] = [(), *((name,) for name in repair_names())]
    return [Judged(mask, _side(base, drawn, mask), _side(head, drawn, mask)) for mask in masks]


def new_and_gone(
    judged: Iterable[Judged], base: list[FindingRecord], head: list[FindingRecord]
) -> tuple[list[MatchedFinding], list[MatchedFinding]]:
    """Broken by the head alone, and by the base alone; what a search found there counts as well."""
    new: dict[Broken, MatchedFinding] = {}
    gone: dict[Broken, MatchedFinding] = {}
    for one in judged:
        for broken, shown in _alone(one.head, one.base, _found(base, one.mask)):
            new.setdefault(broken, _matched(broken, shown, one.mask, "base"))
        for broken, shown in _alone(one.base, one.head, _found(head, one.mask)):
            gone.setdefault(broken, _matched(broken, shown, one.mask, "head"))
    return list(new.values()), list(gone.values())


def _alone(side: Side, other: Side, found: set[Broken]) -> Iterator[tuple[Broken, Shown]]:
    """What only one side breaks, by the first request that the other one schedules too."""
    for broken, all_shown in side.broken.items():
        if broken not in other.broken and broken not in found:
            telling = [one for one in all_shown if one.where in other.scheduled]
            yield from ((broken, shown) for shown in telling[:1])


def _side(driver: Driver, drawn: list[Listed], mask: tuple[str, ...]) -> Side:
    broken: dict[Broken, list[Shown]] = {}
    scheduled: set[tuple[str, str]] = set()
    for listed in drawn:
        driven = driver.run(listed.scenario, {"repairs": list(mask)})
        scheduled |= {(listed.name, request) for request in _scheduled(driven)}
        for symptom in symptoms(driven):
            if symptom.violation_class is not ViolationClass.POLICY and symptom.law != FAULT:
                kind = symptom.violation_class.value, symptom.law
                shown = Shown(listed, symptom.request, symptom.sentence)
                broken.setdefault(kind, []).append(shown)
    return Side(broken, frozenset(scheduled))


def _scheduled(driven: Driven) -> set[str]:
    chunks = (event for event in driven.trace if isinstance(event, Schedule))
    return {chunk.request for chunk in chunks if chunk.end > chunk.start}


def _found(findings: list[FindingRecord], mask: tuple[str, ...]) -> set[Broken]:
    """What a mask mends is not there while it is on."""
    return {(f.violation_class, f.law) for f in findings if f.cause not in mask}


def _matched(broken: Broken, shown: Shown, mask: tuple[str, ...], silent: str) -> MatchedFinding:
    class_, law = broken
    mended = f" with {', '.join(mask)} mended" if mask else ""
    return MatchedFinding(
        violation_class=class_,
        law=law,
        cause="",
        sentence=shown.sentence,
        evidence=f"{shown.listed.name}{mended}; no drawn scenario breaks it so on the {silent}",
        scenario=dump_scenario(shown.listed.scenario),
    )

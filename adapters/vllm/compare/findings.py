"""Which findings are new, gone and unchanged: matched by kind, then replayed on the other side.

A search meets what chance gives it, so a finding of one side alone proves nothing: its scenario is
run on the other side too, and only what is silent there is new or gone.
"""

from collections.abc import Callable
from dataclasses import dataclass

from truehit.adapters.vllm.audit.audit import repair_names
from truehit.adapters.vllm.audit.reading import symptoms
from truehit.adapters.vllm.audit.report import FindingRecord, KnownRecord
from truehit.adapters.vllm.compare.report import DefectChange, MatchedFinding
from truehit.adapters.vllm.driver import Driver
from truehit.adapters.vllm.known.lost_reuse import ALIGNED, RETENTION, STOP
from truehit.adapters.vllm.problems import PeerError
from truehit.spec.laws.base import ViolationClass
from truehit.spec.scenario_file import scenario_from_json

Shows = Callable[[FindingRecord], str | None]
"""Runs a finding's scenario on the other side: why it is silent there, or None if it shows."""

LOST = frozenset({STOP, ALIGNED, RETENTION})
SILENT = "its scenario is silent on the {side}"


@dataclass(frozen=True, slots=True)
class Matched:
    """The findings of two audits."""

    new: list[MatchedFinding]
    gone: list[MatchedFinding]
    unchanged: list[MatchedFinding]


def kind(finding: FindingRecord) -> tuple[str, str, str]:
    """A repair is one mechanism, whatever law shows it; a feature may take part in several."""
    law = "" if finding.cause in repair_names() else finding.law
    return finding.violation_class, law, finding.cause


def match(
    base: list[FindingRecord],
    head: list[FindingRecord],
    on_base: Shows,
    on_head: Shows,
) -> Matched:
    """Found by both searches, or by one and then shown or silent on the other side."""
    known = {kind(finding) for finding in base}
    met = {kind(finding) for finding in head}
    new, unchanged = [], []
    for finding in head:
        if kind(finding) in known:
            unchanged.append(_matched(finding, "found in both"))
        elif (reason := on_base(finding)) is None:
            unchanged.append(_matched(finding, "found in the head, shown on the base"))
        else:
            new.append(_matched(finding, reason))
    gone = []
    for finding in base:
        if kind(finding) in met:
            continue
        if (reason := on_head(finding)) is None:
            unchanged.append(_matched(finding, "found in the base, shown on the head"))
        else:
            gone.append(_matched(finding, reason))
    return Matched(new, gone, unchanged)


def shown_by(driver: Driver, side: str) -> Shows:
    """Replays on one side."""

    def shows(finding: FindingRecord) -> str | None:
        scenario = scenario_from_json(finding.scenario)
        try:
            driven = driver.run(scenario, {"repairs": finding.repairs})
        except PeerError as problem:
            return f"the {side} cannot be asked: {problem}"
        if driven.faults and not driven.facts and finding.law != "fault":
            return f"the {side} does not start with it: {driven.faults[0].message}"
        wanted = finding.law, finding.violation_class
        if any((one.law, one.violation_class) == wanted for one in symptoms(driven)):
            return None
        return SILENT.format(side=side)

    return shows


def changed_defects(base: list[KnownRecord], head: list[KnownRecord]) -> list[DefectChange]:
    """Known defects that do not have one status on both sides."""
    before = {known.defect: known for known in base}
    return [
        DefectChange(
            defect=after.defect,
            violation_class=_class_of(after.defect),
            base=before[after.defect].status,
            head=after.status,
            base_evidence=before[after.defect].evidence,
            head_evidence=after.evidence,
        )
        for after in head
        if after.status != before[after.defect].status
    ]


def _class_of(defect: str) -> str:
    return ViolationClass.WASTE if defect in LOST else ViolationClass.CORRUPT


def _matched(finding: FindingRecord, evidence: str) -> MatchedFinding:
    return MatchedFinding(
        violation_class=finding.violation_class,
        law=finding.law,
        cause=finding.cause,
        sentence=finding.sentence,
        evidence=evidence,
        scenario=finding.scenario,
    )

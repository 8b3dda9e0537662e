"""The record of a comparison, as it is written to JSON."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

RuleVerdict = Literal["proved", "differ", "model finding", "unknown", "checked", "not compared"]
"""`proved`: equal for every input of the domain. `differ`: seen by running both texts. `checked`:
equal in every run of a small scope. `model finding`: a solver's difference that did not replay."""


PRESENT = "present"


class Edge(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class MatchedFinding(Edge):
    """A finding of one side, or of both. `evidence`: what was run to say on which side it is."""

    violation_class: str
    law: str
    cause: str
    sentence: str
    evidence: str
    scenario: dict[str, Any]


class DefectChange(Edge):
    """A known defect whose status is not the same on both sides."""

    defect: str
    violation_class: str
    base: str
    head: str
    base_evidence: str
    head_evidence: str

    @property
    def appears(self) -> bool:
        """The head has it and the base had not."""
        return self.head == PRESENT

    @property
    def vanishes(self) -> bool:
        """The base has it and the head has not."""
        return self.base == PRESENT


class BehaviourChange(Edge):
    """One request of one scenario. `aspect`: carve, stored or hit; of no request: start, fault."""

    scenario: str
    request: str
    aspect: str
    base: str
    head: str


class BehaviourRecord(Edge):
    """The library, driven on both. `refused`: by either, or by both. `changes`: how many requests
    differ in an aspect; `first`: some of them, with the scenarios they are of."""

    scenarios: int
    driven_on_both: int
    requests: int
    refused: dict[str, int]
    changes: dict[str, int]
    first: list[BehaviourChange]
    files: dict[str, dict[str, Any]]


class RuleOutcome(Edge):
    """What a run of a rule answers: a text, because a rule may raise."""

    base: str
    head: str


class RuleRow(Edge):
    """One lifted rule in one domain. `inputs`: the smallest input on which they differ, without
    the words that are zero; `minimal`: no cheaper one at these sizes, or of those that were run."""

    rule: str
    domain: str
    verdict: RuleVerdict
    inputs: dict[str, int]
    outcome: RuleOutcome | None
    minimal: bool
    reason: str


class CompareRecord(Edge):
    """Everything a comparison says. `new_classes`: the classes of what the head has and the base
    has not, known defects included."""

    base: str
    head: str
    seed: int
    scenarios: tuple[int, int]
    steps: tuple[int, int]
    new: list[MatchedFinding]
    gone: list[MatchedFinding]
    unchanged: list[MatchedFinding]
    defects: list[DefectChange]
    behaviour: BehaviourRecord
    rules: list[RuleRow]

    @property
    def new_classes(self) -> frozenset[str]:
        appeared = (change.violation_class for change in self.defects if change.appears)
        return frozenset([*(finding.violation_class for finding in self.new), *appeared])

"""The record of an audit, as it is written to JSON."""

from typing import Any

from pydantic import BaseModel, ConfigDict


class Edge(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class KnownRecord(Edge):
    """A defect of the list and whether this release has it."""

    defect: str
    status: str
    evidence: str


class FindingRecord(Edge):
    """One kind of violation. `cause`: the first repair or feature without which it vanishes;
    `heals`: all of them; `avoid`: switches of the engine that do the same; `scenario_number`: which
    scenario of the search showed it first; `seconds_to_find`: null where the budget is a number of
    scenarios, so that equal searches give equal records; `test`: the written file, if one was
    kept."""

    law: str
    violation_class: str
    sentence: str
    certainty: str
    cause: str
    heals: list[str]
    avoid: list[str]
    repairs: list[str]
    scenario: dict[str, Any]
    story: list[str]
    test: str | None
    scenario_number: int
    seconds_to_find: float | None


class CoverageRow(Edge):
    """A feature, or a near miss, and how many runs had it."""

    feature: str
    runs: int


class AuditRecord(Edge):
    """Everything an audit says."""

    subject: str
    version: str
    bridge: str
    seed: int
    known: list[KnownRecord]
    findings: list[FindingRecord]
    scenarios: int
    steps: int
    laws_broken: dict[str, int]
    coverage: list[CoverageRow]
    lifted: list[dict[str, Any]]

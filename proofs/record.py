"""The record of `truehit verify`: one published JSON schema (docs/record.md), written by one set of
models."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

Verdict = Literal["proved", "refuted", "unknown", "model finding", "checked"]


class Model(BaseModel):
    """Closed: a field that is not in the schema is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Named(Model):
    """A control or a cover point and what came out of it."""

    name: str
    verdict: str


class Lifted(Model):
    """What was lifted: file, first line, and the sha256 of its text."""

    file: str
    line: int
    sha256: str


class Solvers(Model):
    """The answers of both solvers; `cvc5` says *recorded* when it was not asked again."""

    z3: str
    cvc5: str


class ObligationRecord(Model):
    """One obligation. `rlimit`: the solver's resource count, not a time. `inputs`: on which our
    rule fails; empty if it is proved."""

    name: str
    law: str
    domain: str
    verdict: Verdict
    controls: list[Named]
    covers: list[Named]
    havoc: str
    seconds: float
    rlimit: int
    solvers: Solvers
    text_sha256: str
    lifted: list[Lifted]
    inputs: dict[str, int]


class GoldenEntry(Model):
    """One golden number. `status`: passed, noted (our value differs, see docs), failed."""

    id: str
    what: str
    status: Literal["passed", "noted", "failed"]
    detail: str


class GoldenRecord(Model):
    """All golden numbers that can be derived."""

    total: int
    passed: int
    noted: int
    failed: int
    entries: list[GoldenEntry]


class RuleSetRecord(Model):
    """One historic defect: the obligation and the scenario that refute it, with the sentence."""

    name: str
    refuted_by_obligation: str | None
    refuted_by_scenario: str
    law: str
    sentence: str


class AgreementRecord(Model):
    """One comparison of the readings of a rule. `bound`: the scope and its reason."""

    name: str
    cases: int
    differences: int
    bound: str


class SweepRecord(Model):
    """Drawn scenarios under the default rule set and under every historic one. `pairs_covered`: of
    the set that covers the fewest; `refuted`: runs that show the set's own defect."""

    runs: int
    steps: int
    events: int
    pairs_covered: int
    pairs: int
    default_violations: int
    refuted: dict[str, int]


class DifferentialSource(Model):
    """One kind of scenario on the oracle and the engine; `steps` and `events` are the oracle's."""

    runs: int
    steps: int
    events: int
    differences: int


class DifferentialRecord(Model):
    """The engine held to the oracle. `first`: the first difference in one line, empty if there is
    none. `judged`: by feature and law, the drawn runs with the feature in which the law had
    something to judge; `holes`: pairs without one."""

    subject: str
    runs: int
    steps: int
    events: int
    differences: int
    first: str
    sources: dict[str, DifferentialSource]
    judged: dict[str, dict[str, int]]
    holes: list[list[str]]


class ReleaseRow(Model):
    """One obligation about a released rule; `class`: what breaking it means."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, serialize_by_alias=True, validate_by_name=True
    )

    obligation: str
    class_: str = Field(alias="class")
    domain: str
    verdict: str
    inputs: dict[str, int]
    result: int | None
    replayed: bool
    seconds: float
    rlimit: int
    text_sha256: str


class ReleaseRecord(Model):
    """One release; `lifted`: what of its source was read."""

    release: str
    rows: list[ReleaseRow]
    lifted: list[Lifted]


class Record(Model):
    """The whole record. `outcome`: *unknown* if every problem is something that was not found
    out."""

    schema_version: int = 1
    versions: dict[str, str]
    obligations: list[ObligationRecord]
    golden: GoldenRecord
    rulesets: list[RuleSetRecord]
    agreement: list[AgreementRecord]
    sweep: SweepRecord
    differential: DifferentialRecord
    releases: list[ReleaseRecord]
    problems: list[str]
    outcome: Literal["holds", "refuted", "unknown"]
    seconds: float

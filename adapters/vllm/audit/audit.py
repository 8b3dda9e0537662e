"""The whole audit of one subject: its rules, its known defects, what a search finds, and tests."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from truehit.adapters.vllm.audit.certainty import certainty_of
from truehit.adapters.vllm.audit.draw import Supported
from truehit.adapters.vllm.audit.kinds import Finding
from truehit.adapters.vllm.audit.report import (
    AuditRecord,
    CoverageRow,
    FindingRecord,
    KnownRecord,
)
from truehit.adapters.vllm.audit.search import Budget, Minutes, search
from truehit.adapters.vllm.audit.story import story
from truehit.adapters.vllm.audit.toggles import Trial, toggles
from truehit.adapters.vllm.driver import Driver
from truehit.adapters.vllm.environment import Environment
from truehit.adapters.vllm.inside.driver.repairs import REPAIRS, STATE_GRID
from truehit.adapters.vllm.known import judge_known
from truehit.adapters.vllm.write_tests.finding import Staged, UnwritableError, WrittenFinding
from truehit.adapters.vllm.write_tests.keep import Kept, keep
from truehit.adapters.vllm.write_tests.write import write
from truehit.proofs.lift import Unsupported
from truehit.proofs.releases import judge
from truehit.proofs.sources import SourceError, open_path
from truehit.proofs.verify import release_record
from truehit.spec.geometry import Kind as GroupKind
from truehit.spec.laws.base import ViolationClass
from truehit.spec.scenario_file import dump_scenario

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Asked:
    """How to audit. `tests`: a folder for written tests, or None."""

    budget: Budget
    seed: int
    workers: int
    tests: Path | None
    lifts: bool


def repair_names() -> tuple[str, ...]:
    """Every repair the driver knows, the grid first: it is the commonest cause."""
    others = sorted(name for name in REPAIRS if name != STATE_GRID)
    return (STATE_GRID, *others)


def audit(environment: Environment, asked: Asked, progress: Progress) -> AuditRecord:
    """Audit one subject.

    Raises:
        PeerError: the engine does not start; one line.
    """
    lifted = _lifted(environment, progress) if asked.lifts else []
    with Driver(environment) as driver:
        progress("known defects ...")
        known = judge_known(driver)
        facts = driver.facts()
        supported = Supported(
            lookahead=facts["knows_lookahead"],
            checkpoints=facts["observes_checkpoints"],
            # Circular buffers came with the option.
            rings=facts["retention_is_option"],
        )
        progress("search ...")
        budget, seed, workers = asked.budget, asked.seed, asked.workers
        searched = search(environment, budget, seed, workers, repair_names(), supported, progress)
        records = tuple(
            _recorded(finding, number, driver, environment, asked)
            for number, finding in enumerate(searched.findings, 1)
        )
    return AuditRecord(
        subject=environment.name,
        version=environment.version or "unknown",
        bridge=facts["bridge"],
        seed=asked.seed,
        known=[KnownRecord(defect=k.defect, status=k.status, evidence=k.evidence) for k in known],
        findings=list(records),
        scenarios=searched.runs,
        steps=searched.steps,
        laws_broken=dict(sorted(searched.broken.items())),
        coverage=[CoverageRow(feature=f, runs=n) for f, n in sorted(searched.seen.items())],
        lifted=lifted,
    )


def _lifted(environment: Environment, progress: Progress) -> list[dict[str, Any]]:
    """What the solver says of the splitter's own text; what cannot be lifted is said."""
    progress("lifting its rules ...")
    try:
        report = judge(open_path(environment.package), environment.name)
    except (SourceError, Unsupported) as problem:
        return [{"refused": str(problem)}]
    return [row.model_dump(mode="json") for row in release_record(report).rows]


def _recorded(
    finding: Finding, number: int, driver: Driver, environment: Environment, asked: Asked
) -> FindingRecord:
    trial, symptom = finding.trial, finding.symptom
    driven = driver.run(trial.scenario, {"repairs": sorted(trial.repairs)})
    groups = trial.scenario.geometry.groups
    states = frozenset(g.name for g in groups if g.kind is GroupKind.RECURRENT_STATE)
    told = story(driven.trace, symptom, states)
    certainty = certainty_of(symptom, driven)
    by_name = {toggle.name: toggle for toggle in toggles(repair_names())}
    switches = [by_name[name].switch for name in finding.heals if name in by_name]
    test = None
    if asked.tests is not None and finding.kind.violation_class is not ViolationClass.POLICY:
        test = _written(finding, number, told, certainty, environment, asked.tests)
    timed = isinstance(asked.budget, Minutes)
    return FindingRecord(
        law=symptom.law,
        violation_class=symptom.violation_class,
        sentence=symptom.sentence,
        certainty=certainty,
        cause=finding.kind.cause,
        heals=list(finding.heals),
        avoid=[switch for switch in switches if switch is not None],
        repairs=sorted(trial.repairs),
        scenario=dump_scenario(trial.scenario),
        story=list(told),
        test=test,
        scenario_number=(finding.runs - 1) * asked.workers + finding.worker + 1,
        seconds_to_find=round(finding.seconds, 2) if timed else None,
    )


def _written(
    finding: Finding,
    number: int,
    told: tuple[str, ...],
    certainty: str,
    environment: Environment,
    folder: Path,
) -> str | None:
    """The kept file of a finding; None when nothing heals it or no test can show it."""
    healing = next(iter(finding.heals), None)
    toggle = next((t for t in toggles(repair_names()) if t.name == healing), None)
    if toggle is None:
        return None
    trial, symptom = finding.trial, finding.symptom
    healed = toggle.apply(Trial(replace(trial.scenario), trial.repairs))
    violation = symptom.violation
    written = WrittenFinding(
        slug=f"{number:02}-{symptom.law}-{toggle.name}".replace(" ", "-"),
        sentence=symptom.sentence,
        law=symptom.law,
        violation_class=symptom.violation_class,
        certainty=certainty,
        shown=Staged(trial.scenario, trial.repairs),
        healed=Staged(healed.scenario, healed.repairs),
        heal=toggle.name,
        story=told,
        version=environment.version or "unknown",
        request=symptom.request,
        group=violation.group if violation is not None else "",
    )
    try:
        path = write(written, folder)
    except UnwritableError:
        return None
    kept = keep(path, environment)
    return str(kept.path) if isinstance(kept, Kept) else None

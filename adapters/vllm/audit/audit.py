"""The whole audit of one subject: its rules, its known defects, what a search finds, and tests."""

from collections.abc import Callable
from dataclasses import dataclass
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
from truehit.adapters.vllm.audit.toggles import Toggle, toggles
from truehit.adapters.vllm.driver import Driver
from truehit.adapters.vllm.environment import Environment
from truehit.adapters.vllm.inside.driver.historic import HISTORIC
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
NEWEST_TRIED = "0.33.0"
MOST_HEALS = 3
"""Of a finding, as many are tried until its written test passes with one."""


@dataclass(frozen=True, slots=True)
class Asked:
    """How to audit. `tests`: a folder for written tests, or None."""

    budget: Budget
    seed: int
    workers: int
    tests: Path | None
    lifts: bool


def repair_names(bridge: str = NEWEST_TRIED) -> tuple[str, ...]:
    """Every repair that a release may need, the grid first: it is the commonest cause. The newest
    ones are beyond what later releases mended."""
    others = sorted(name for name in REPAIRS if name != STATE_GRID)
    older = () if bridge in (NEWEST_TRIED, "newest") else tuple(sorted(HISTORIC))
    return (STATE_GRID, *older, *others)


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
        names = repair_names(facts["bridge"])
        searched = search(environment, budget, seed, workers, names, supported, progress)
        records = tuple(
            _recorded(finding, number, driver, environment, asked, names)
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
    finding: Finding,
    number: int,
    driver: Driver,
    environment: Environment,
    asked: Asked,
    names: tuple[str, ...],
) -> FindingRecord:
    trial, symptom = finding.trial, finding.symptom
    driven = driver.run(trial.scenario, {"repairs": sorted(trial.repairs)})
    groups = trial.scenario.geometry.groups
    states = frozenset(g.name for g in groups if g.kind is GroupKind.RECURRENT_STATE)
    told = story(driven.trace, symptom, states)
    certainty = certainty_of(symptom, driven)
    by_name = {toggle.name: toggle for toggle in toggles(names)}
    healing = [by_name[name] for name in finding.heals]
    switches = [toggle.switch for toggle in healing]
    test = None
    if asked.tests is not None and finding.kind.violation_class is not ViolationClass.POLICY:
        test = _kept(finding, number, healing, told, certainty, environment, asked.tests)
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


def _kept(
    finding: Finding,
    number: int,
    healing: list[Toggle],
    told: tuple[str, ...],
    certainty: str,
    environment: Environment,
    folder: Path,
) -> str | None:
    """The file of a finding, with the first thing that heals it there too; None when nothing heals
    it or no test can show it."""
    for toggle in healing[:MOST_HEALS]:
        written = _written(finding, number, toggle, told, certainty, environment)
        try:
            path = write(written, folder)
        except UnwritableError:
            return None
        kept = keep(path, environment)
        if isinstance(kept, Kept):
            return str(kept.path)
    return None


def _written(
    finding: Finding,
    number: int,
    toggle: Toggle,
    told: tuple[str, ...],
    certainty: str,
    environment: Environment,
) -> WrittenFinding:
    trial, symptom = finding.trial, finding.symptom
    healed = toggle.apply(trial)
    violation = symptom.violation
    return WrittenFinding(
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

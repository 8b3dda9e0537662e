"""`truehit verify`: run every stage, compose the record, and say what is wrong, if anything is.

Nothing here decides what holds: a stage brings its verdicts, this file adds them up. Zero
obligations, an unknown, a control that is not refuted, a golden failure, a historic rule set that
nothing refutes, a reading that differs, an engine that does, a law broken by default: each is a
problem, and one problem is enough."""

import platform
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version

from truehit import __version__
from truehit.proofs import record as records
from truehit.proofs.agreement import Agreed
from truehit.proofs.differ.parts import Compared
from truehit.proofs.differ.parts import merged as added_up
from truehit.proofs.differ.report import coverage_json
from truehit.proofs.differ.subject import ENGINE
from truehit.proofs.differ.text import sentence
from truehit.proofs.golden import GoldenResult
from truehit.proofs.obligations import recorded
from truehit.proofs.obligations.catalogue import refuters
from truehit.proofs.problems import REFUTED, problems, unknowns
from truehit.proofs.prove import (
    Disagreement,
    ObligationResult,
    renew_record,
    reprove_second,
)
from truehit.proofs.regress.write import Discriminates
from truehit.proofs.releases import ReleaseReport
from truehit.proofs.solve import Answer
from truehit.proofs.stages import Done, run_stages, stages
from truehit.proofs.sweep.features import all_pairs
from truehit.proofs.sweep.run import Sweep, merged, missing_pairs
from truehit.reference.ruleset import DEFAULT, HISTORIC

RELEASE_CLASSES = {
    "range": "corrupt",
    "defined": "corrupt",
    "endalign": "corrupt",
    "midblock": "corrupt",
    "midblock_strict": "policy",
    "oneboundary": "waste",
    "progress": "stall",
}
"""What breaking an obligation about a released splitter means (design, verdict words): a chunk that
passes its block's end where the manager exports a checkpoint is a choice, not a wrong state."""


@dataclass(slots=True)
class Gathered:
    """Payloads as they come in."""

    obligations: list[ObligationResult] = field(default_factory=list)
    golden: list[GoldenResult] = field(default_factory=list)
    sweeps: dict[str, list[Sweep]] = field(default_factory=dict)
    regressions: list[Discriminates] = field(default_factory=list)
    agreements: list[Agreed] = field(default_factory=list)
    compared: list[Compared] = field(default_factory=list)
    releases: list[ReleaseReport] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    disagreements: list[str] = field(default_factory=list)

    def add(self, done: Done) -> None:
        """Sort one payload in; an exception of a stage is a problem, never a silence."""
        match done.payload:
            case ObligationResult():
                self.obligations.append(done.payload)
            case Sweep():
                self.sweeps.setdefault(done.payload.rules, []).append(done.payload)
            case Discriminates():
                self.regressions.append(done.payload)
            case Agreed():
                self.agreements.append(done.payload)
            case Compared():
                self.compared.append(done.payload)
            case ReleaseReport():
                self.releases.append(done.payload)
            case list():
                self.golden.extend(done.payload)
            case Disagreement():
                self.disagreements.append(str(done.payload))
            case Exception():
                self.failures.append(f"{done.kind} {done.name}: {done.payload}")


def verify(
    second_solver: bool, jobs: int, progress: Callable[[int, int, str], None]
) -> records.Record:
    """Run everything. `progress(done, total, name)` is called after each stage."""
    started = time.monotonic()
    gathered = Gathered()
    if second_solver:
        ask_again(gathered, progress)
    work = stages()
    for number, done in enumerate(run_stages(work, jobs), 1):
        gathered.add(done)
        progress(number, len(work), done.name)
    return compose(gathered, time.monotonic() - started)


def ask_again(gathered: Gathered, progress: Callable[[int, int, str], None]) -> None:
    """The second solver answers every text anew, and its record is renewed before it is read."""
    answered: list[str] = []

    def note(name: str, answer: Answer) -> None:
        answered.append(answer.text_sha256)
        progress(len(answered), len(answered) + 1, f"cvc5 {name}")

    try:
        renew_record(reprove_second(progress=note))
    except Disagreement as disagreement:
        gathered.disagreements.append(str(disagreement))


def compose(gathered: Gathered, seconds: float) -> records.Record:
    """The record of what was gathered, with every problem in words."""
    obligations = [obligation_record(o) for o in sorted(gathered.obligations, key=lambda o: o.name)]
    rulesets = _rulesets(gathered)
    swept = _sweep(gathered)
    golden = _golden(gathered.golden)
    releases = [release_record(r) for r in sorted(gathered.releases, key=lambda r: r.release)]
    agreement = [
        records.AgreementRecord(
            name=a.name, cases=a.cases, differences=a.differences, bound=a.bound
        )
        for a in sorted(gathered.agreements, key=lambda a: a.name)
    ]
    found = records.Record(
        outcome="holds",
        versions=versions(),
        obligations=obligations,
        golden=golden,
        rulesets=rulesets,
        agreement=agreement,
        sweep=swept,
        differential=differential_record(added_up(gathered.compared)),
        releases=releases,
        problems=[],
        seconds=round(seconds, 1),
    )
    wrong = [f"second solver: {text}" for text in gathered.disagreements]
    wrong += [
        f"regression {kept.rules}: it no longer tells the rules apart"
        for kept in gathered.regressions
        if not kept.good
    ]
    wrong += [
        f"sweep default: {b.law} at seed {b.seed}: {b.sentence}"
        for part in gathered.sweeps.get(DEFAULT.name, [])
        for b in part.first
    ]
    wrong += problems(found)
    unknown = [*gathered.failures, *unknowns(found)]
    if not wrong and not unknown:
        return found
    outcome = "refuted" if wrong else "unknown"
    return found.model_copy(update={"problems": [*wrong, *unknown], "outcome": outcome})


def versions() -> dict[str, str]:
    """Of what took part."""
    found = {"truehit": __version__, "python": platform.python_version()}
    for package in ("z3-solver", "cvc5"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found | {"cvc5, recorded": recorded.solver_version()}


def obligation_record(o: ObligationResult) -> records.ObligationRecord:
    """One obligation in the words of the record."""
    return records.ObligationRecord(
        name=o.name,
        law=o.law,
        domain=o.domain,
        verdict=o.verdict,
        controls=[records.Named(name=n, verdict=v) for n, v in o.controls],
        covers=[records.Named(name=n, verdict=v) for n, v in o.covers],
        havoc=o.havoc,
        seconds=round(o.seconds, 3),
        rlimit=o.rlimit,
        solvers=records.Solvers(z3=o.solvers["z3"], cvc5=o.solvers["cvc5"]),
        text_sha256=o.text_sha256,
        lifted=[records.Lifted(file=f, line=n, sha256=h) for f, n, h in o.lifted],
        inputs={name: int(value) for name, value in o.inputs.items()},
    )


def _golden(results: list[GoldenResult]) -> records.GoldenRecord:
    entries = [
        records.GoldenEntry(id=r.id, what=r.what, status=r.status, detail=r.detail) for r in results
    ]
    count = {s: sum(1 for e in entries if e.status == s) for s in ("passed", "noted", "failed")}
    return records.GoldenRecord(total=len(entries), entries=entries, **count)


def _rulesets(gathered: Gathered) -> list[records.RuleSetRecord]:
    by_scenario = {r.rules: r for r in gathered.regressions}
    controls = {o.name: o.controls for o in gathered.obligations}
    found: list[records.RuleSetRecord] = []
    for rules in HISTORIC:
        kept = by_scenario.get(rules.name)
        refuting = [
            obligation.name
            for obligation, _ in refuters(rules.name)
            if (rules.name, REFUTED) in controls.get(obligation.name, ())
        ]
        found.append(
            records.RuleSetRecord(
                name=rules.name,
                refuted_by_obligation=next(iter(refuting), None),
                refuted_by_scenario=f"tests/regressions/{kept.file}" if kept else "",
                law=kept.law if kept else "",
                sentence=(kept.sentence or "") if kept else "",
            )
        )
    return found


def _sweep(gathered: Gathered) -> records.SweepRecord:
    totals = {rules: merged(parts) for rules, parts in gathered.sweeps.items()}
    default = totals.get(DEFAULT.name)
    covered = [len(all_pairs()) - len(missing_pairs(total)) for total in totals.values()]
    return records.SweepRecord(
        runs=sum(t.runs for t in totals.values()),
        steps=sum(t.steps for t in totals.values()),
        events=sum(t.events for t in totals.values()),
        pairs=len(all_pairs()),
        pairs_covered=min(covered, default=0),
        default_violations=sum(count for _, count in default.laws) if default else 0,
        refuted={r.name: totals[r.name].shown if r.name in totals else 0 for r in HISTORIC},
    )


def differential_record(done: Compared) -> records.DifferentialRecord:
    """The engine's differential in the words of the record."""
    total, first = done.total, next(iter(done.found), None)
    said = coverage_json(done.coverage)
    where = ""
    if first is not None:
        where = f"{first.source} {first.name} under {first.rules}: {sentence(first.difference)}"
    return records.DifferentialRecord(
        subject=ENGINE,
        runs=total.runs,
        steps=total.steps,
        events=total.events,
        differences=total.differences,
        first=where,
        sources={
            name: records.DifferentialSource(
                runs=count.runs,
                steps=count.steps,
                events=count.events,
                differences=count.differences,
            )
            for name, count in sorted(done.sources.items())
        },
        judged=said["judged"],
        holes=said["holes"],
    )


def release_record(report: ReleaseReport) -> records.ReleaseRecord:
    """One release in the words of the record."""
    return records.ReleaseRecord(
        release=report.release,
        rows=[
            records.ReleaseRow(
                obligation=row.obligation,
                class_=RELEASE_CLASSES[row.obligation],
                domain=row.domain,
                verdict=row.verdict,
                inputs=row.inputs,
                result=row.result,
                replayed=row.replayed,
                seconds=round(row.seconds, 3),
                rlimit=row.rlimit,
                text_sha256=row.text_sha256,
            )
            for row in report.rows
        ],
        lifted=[records.Lifted(file=p.file, line=p.line, sha256=p.sha256) for p in report.lifted],
    )

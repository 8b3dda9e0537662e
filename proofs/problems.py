"""What keeps a record from being green: everything that is wrong, and everything not found out."""

from truehit.proofs.agreement import AGREEMENTS
from truehit.proofs.golden.entries import derivable_entries
from truehit.proofs.record import DifferentialRecord, ObligationRecord, Record
from truehit.proofs.releases import RELEASES

DIFFERENTIAL_SOURCES = ("golden", "regressions", "cases", "drawn")
REFUTED = "refuted"
PROVED = "proved"


def obligation_problems(o: ObligationRecord) -> list[str]:
    """What keeps one obligation from being green."""
    wrong: list[str] = []
    if o.verdict not in (PROVED, "unknown"):
        wrong.append(f"obligation {o.name}: {o.verdict}")
    wrong += [
        f"obligation {o.name}: control {c.name} is {c.verdict}, not refuted"
        for c in o.controls
        if c.verdict != REFUTED
    ]
    wrong += [
        f"obligation {o.name}: case {c.name} is {c.verdict}"
        for c in o.covers
        if c.verdict != "satisfied"
    ]
    if o.havoc != REFUTED:
        wrong.append(f"obligation {o.name}: a free result is {o.havoc}, not refuted")
    if "not recorded" in o.solvers.cvc5:
        wrong.append(
            f"obligation {o.name}: the second solver's answer is missing ({o.solvers.cvc5}); "
            "`make verify-full` records it"
        )
    return wrong


def problems(found: Record) -> list[str]:
    """Everything that is wrong."""
    wrong: list[str] = []
    if not found.obligations:
        wrong.append("no obligation was asked")
    for o in found.obligations:
        wrong += obligation_problems(o)
    wrong += [f"golden {e.id}: {e.detail}" for e in found.golden.entries if e.status == "failed"]
    for name, broken in found.sweep.refuted.items():
        if broken == 0:
            wrong.append(f"sweep {name}: its defect showed in no run")
    if found.sweep.pairs_covered < found.sweep.pairs:
        wrong.append(f"sweep: {found.sweep.pairs - found.sweep.pairs_covered} pairs were not drawn")
    wrong += [
        f"agreement {a.name}: {a.differences} of {a.cases} cases differ"
        for a in found.agreement
        if a.differences or not a.cases
    ]
    held = found.differential
    if held.differences:
        runs = f"{held.differences} of {held.runs} runs differ"
        wrong.append(f"differential {held.subject}: {runs}; first {held.first}")
    return wrong


def unknowns(found: Record) -> list[str]:
    """Everything that was not found out; never green either."""
    wrong = [f"obligation {o.name}: unknown" for o in found.obligations if o.verdict == "unknown"]
    uncounted = len(derivable_entries()) - found.golden.total
    if uncounted:
        wrong.append(f"golden: {uncounted} entries were not computed")
    for rules in found.rulesets:
        if rules.refuted_by_obligation is None:
            wrong.append(f"rule set {rules.name}: no obligation refutes it")
        if not rules.sentence:
            wrong.append(f"rule set {rules.name}: no scenario refutes it")
    absent = set(AGREEMENTS) - {a.name for a in found.agreement}
    wrong += [f"agreement {name}: its readings were not compared" for name in sorted(absent)]
    wrong += differential_unknowns(found.differential)
    missing = set(RELEASES) - {r.release for r in found.releases}
    wrong += [f"release {release}: its source was not judged" for release in sorted(missing)]
    for release in found.releases:
        wrong += [
            f"release {release.release}: {row.obligation} at {row.domain} is {row.verdict}"
            for row in release.rows
            if row.verdict in ("unknown", "model finding")
        ]
    return wrong


def differential_unknowns(held: DifferentialRecord) -> list[str]:
    """A source of which nothing was compared, and laws that a feature gave nothing to judge."""
    steps = {name: source.steps for name, source in held.sources.items()}
    wrong = [
        f"differential {held.subject}: no step of the {source} runs was compared"
        for source in DIFFERENTIAL_SOURCES
        if not steps.get(source)
    ]
    if steps.get("drawn"):
        wrong += [
            f"differential {held.subject}: {feature} gave {law} nothing to judge"
            for feature, law in held.holes
        ]
    return wrong

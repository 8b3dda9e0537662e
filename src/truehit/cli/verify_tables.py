"""The sections of what `verify` and `prove` print."""

from collections import Counter

from rich.console import Console
from rich.text import Text

from truehit.cli.output import print_line, print_paragraph, print_table
from truehit.proofs.record import ObligationRecord, Record, ReleaseRecord

OBLIGATION_HEAD = ("law", "obligation", "verdict", "controls", "cases", "havoc", "z3", "cvc5")


def _head(screen: Console, text: str) -> None:
    print_line(screen, Text(text, "bold"))


def print_obligations(screen: Console, found: Record) -> None:
    """One line an obligation: verdict, controls refuted, cases covered, both solvers."""
    count = Counter(o.verdict for o in found.obligations)
    words = ", ".join(f"{number} {verdict}" for verdict, number in count.items()) or "none"
    _head(screen, f"Obligations about our own rules: {words}")
    rows = [obligation_row(o) for o in found.obligations]
    print_table(screen, OBLIGATION_HEAD, rows)


def obligation_row(o: ObligationRecord) -> tuple[str, ...]:
    """The cells of one obligation."""
    refuted = sum(1 for c in o.controls if c.verdict == "refuted")
    covered = sum(1 for c in o.covers if c.verdict == "satisfied")
    return (
        o.law,
        o.name,
        o.verdict,
        f"{refuted}/{len(o.controls)} refuted",
        f"{covered}/{len(o.covers)}",
        o.havoc,
        o.solvers.z3,
        o.solvers.cvc5,
    )


def print_rulesets(screen: Console, found: Record) -> None:
    """One line a historic defect, and its smallest run's sentence."""
    _head(screen, f"Historic defects, each refuted: {len(found.rulesets)}")
    for rules in found.rulesets:
        by = rules.refuted_by_obligation or "by scenario only: no arithmetic of a rule"
        print_line(screen, Text(f"{rules.name}  [{by}]"))
        print_line(screen, Text(f"    {rules.law}: {rules.sentence}", "dim"))
    sweep = found.sweep
    print_paragraph(
        screen,
        f"Drawn runs: {sweep.runs:,} ({sweep.steps:,} steps, {sweep.events:,} events); "
        f"{sweep.pairs_covered} of {sweep.pairs} pairs of features; laws broken by the default "
        f"rules: {sweep.default_violations}; every historic set shows its "
        f"defect in {min(sweep.refuted.values(), default=0)} runs or more.",
    )


def print_golden(screen: Console, found: Record) -> None:
    """The golden numbers, and which carry a note."""
    golden = found.golden
    noted = ", ".join(e.id for e in golden.entries if e.status == "noted")
    _head(
        screen,
        f"Golden numbers: {golden.passed} of {golden.total} reproduced, {golden.noted} noted, "
        f"{golden.failed} failed",
    )
    if noted:
        print_paragraph(screen, f"Noted, with derivations in docs/golden-notes.md: {noted}.")


def print_agreement(screen: Console, found: Record) -> None:
    """How many cases the readings of the rules agreed on."""
    cases = sum(a.cases for a in found.agreement)
    differences = sum(a.differences for a in found.agreement)
    _head(
        screen,
        f"Readings (executed, lifted, judged): {len(found.agreement)} rules, {cases:,} cases, "
        f"{differences} differences",
    )


def print_differential(screen: Console, found: Record) -> None:
    """What was compared with the oracle, by source; features by laws are in the JSON."""
    held = found.differential
    _head(
        screen,
        f"{held.subject} against the oracle: {held.runs:,} runs, {held.steps:,} steps, "
        f"{held.events:,} events, {held.differences:,} differ",
    )
    sources = ", ".join(f"{name} {s.runs:,}" for name, s in held.sources.items())
    cells = sum(1 for laws in held.judged.values() for count in laws.values() if count)
    print_paragraph(
        screen,
        f"Runs: {sources}. Features x laws with something to judge: {cells}; holes: "
        f"{len(held.holes)}.",
    )


def print_releases(screen: Console, found: Record) -> None:
    """Release by obligation: P proved, R refuted and replayed, in each scope."""
    _head(screen, "Splitters of released engines, lifted from their source")
    print_release_table(screen, found.releases)


LETTERS = {"proved": "P", "refuted locally": "R", "checked": "c", "model finding": "m"}


def print_release_table(screen: Console, releases: list[ReleaseRecord]) -> None:
    """One table a scope; ? is unknown, m a model that did not replay."""
    scopes = list(dict.fromkeys(row.domain for r in releases for row in r.rows))
    for scope in scopes:
        print_paragraph(screen, f"{scope}:")
        names = list(
            dict.fromkeys(row.obligation for r in releases for row in r.rows if row.domain == scope)
        )
        rows = []
        for release in releases:
            cells = {row.obligation: row for row in release.rows if row.domain == scope}
            letters = [
                LETTERS.get(cells[name].verdict, "?") if name in cells else "-" for name in names
            ]
            rows.append((release.release, *letters))
        print_table(screen, ("release", *names), rows)
    print_paragraph(screen, "P proved, R refuted and replayed on the release's own text.")

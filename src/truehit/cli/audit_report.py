"""An audit in words: the known row, one paragraph a finding, and what was exercised."""

from collections import Counter

from rich.console import Console
from rich.text import Text

from truehit.adapters.vllm.audit.report import AuditRecord, FindingRecord
from truehit.cli.output import print_indented, print_line, print_table

STYLE = {"corrupt": "bold red", "stall": "bold yellow", "waste": "bold", "policy": "dim"}


def print_audit(screen: Console, record: AuditRecord) -> None:
    """Everything, gravest first."""
    print_line(
        screen, Text(f"{record.subject}: {record.scenarios} scenarios, {record.steps} steps")
    )
    screen.print()
    rows = [[known.defect, known.status, known.evidence] for known in record.known]
    print_table(screen, ("known defect", "status", "evidence"), rows)
    _print_lifted(screen, record)
    for number, finding in enumerate(record.findings, 1):
        screen.print()
        _print_finding(screen, number, finding)
    screen.print()
    counted = Counter(finding.violation_class for finding in record.findings)
    said = ", ".join(f"{counted[name]} {name}" for name in STYLE if counted[name]) or "nothing"
    print_line(screen, Text(f"found: {said}", "bold"))


def _print_lifted(screen: Console, record: AuditRecord) -> None:
    counted = Counter(row.get("verdict", "not lifted") for row in record.lifted)
    if counted:
        screen.print()
        said = ", ".join(f"{count} {verdict}" for verdict, count in sorted(counted.items()))
        print_line(
            screen, Text(f"its splitter, lifted: {said} (truehit prove --source shows them)")
        )


def _print_finding(screen: Console, number: int, finding: FindingRecord) -> None:
    head = Text(
        f"{number}. {finding.violation_class}, {finding.law}: ", STYLE[finding.violation_class]
    )
    print_indented(screen, head, finding.sentence)
    cause = finding.cause or "nothing tried heals it"
    print_indented(screen, Text("   needs: ", "bold"), cause, "     ")
    for line in finding.story:
        print_indented(screen, Text("   "), line, "     ")
    print_indented(screen, Text("   certainty: ", "bold"), finding.certainty, "     ")
    if finding.avoid:
        print_indented(screen, Text("   avoided by: ", "bold"), ", ".join(finding.avoid), "     ")
    if finding.test is not None:
        print_indented(screen, Text("   test: ", "bold"), finding.test, "     ")

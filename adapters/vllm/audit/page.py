"""`python -m truehit.adapters.vllm.audit.page RECORD.json`: an audit as a page of the docs."""

import json
import sys
from collections import Counter
from pathlib import Path

from truehit.adapters.vllm.audit.report import AuditRecord, FindingRecord

SILENT = "policy"


def page(record: AuditRecord, command: str) -> str:
    """Markdown, ends with a newline."""
    counted = Counter(finding.violation_class for finding in record.findings)
    severe = [finding for finding in record.findings if finding.violation_class != SILENT]
    said = ", ".join(f"{count} {name}" for name, count in counted.items())
    parts = [
        f"# Audit of {record.subject}",
        "",
        f"`{command}`, seed {record.seed}: {record.scenarios:,} scenarios, {record.steps:,} steps "
        f"of the real scheduler; {said}. What the words mean: [audit](audit.md).",
        "",
        "## Known defects",
        "",
        *[f"* **{known.defect}**: {known.status}. {known.evidence}" for known in record.known],
        "",
        "## Findings",
        "",
        "| found after | class | law | needs |",
        "|---|---|---|---|",
        *[_row(finding) for finding in severe],
        "",
    ]
    for number, finding in enumerate(severe, 1):
        parts += [*_finding(number, finding), ""]
    parts += ["## Policy", "", *[f"* {f.law}: {f.sentence}" for f in _policies(record)], ""]
    parts += _coverage(record)
    return "\n".join(parts) + "\n"


def _policies(record: AuditRecord) -> list[FindingRecord]:
    return [finding for finding in record.findings if finding.violation_class == SILENT]


def _when(finding: FindingRecord) -> str:
    if finding.seconds_to_find is None:
        return f"scenario {finding.scenario_number}"
    return f"{finding.seconds_to_find:g} s"


def _row(finding: FindingRecord) -> str:
    cause = finding.cause or "nothing tried heals it"
    return f"| {_when(finding)} | {finding.violation_class} | {finding.law} | {cause} |"


def _finding(number: int, finding: FindingRecord) -> list[str]:
    said = [
        f"### {number}. {finding.violation_class}, {finding.law}",
        "",
        f"{finding.sentence}.",
        "",
        *[f"* {line}" for line in finding.story],
        "",
        f"Certainty: {finding.certainty}. Vanishes without any one of: {', '.join(finding.heals)}."
        if finding.heals
        else f"Certainty: {finding.certainty}. Nothing that was tried makes it vanish.",
    ]
    if finding.repairs:
        said.append(f"Found with these mended: {', '.join(finding.repairs)}.")
    if finding.avoid:
        said.append(f"Avoided by: {', '.join(finding.avoid)}.")
    return said


def _coverage(record: AuditRecord) -> list[str]:
    broken = ", ".join(f"{law} {count:,}" for law, count in record.laws_broken.items())
    return [
        "## What the search exercised",
        "",
        f"Sentences a law, policies included: {broken}.",
        "",
        "| feature or near miss | runs |",
        "|---|---|",
        *[f"| {row.feature} | {row.runs:,} |" for row in record.coverage],
        "",
        "Not exercised: steps in flight, encoder inputs, KV connectors.",
    ]


if __name__ == "__main__":
    found = AuditRecord.model_validate(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
    sys.stdout.write(page(found, sys.argv[2]))

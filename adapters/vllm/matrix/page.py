"""The page of the matrix, from the records of the audits."""

from collections import Counter
from collections.abc import Sequence

from truehit.adapters.vllm.audit.report import AuditRecord, FindingRecord

DEFECTS = {
    "S0": "an unwritten scratch block under an internal checkpoint's key",
    "S1-grid": "chunks end on the smallest block of the groups instead of the state's",
    "S1-stop": "an aligned chunk passes state blocks whose states are never stored",
    "S2": "a prompt that ends on a block hits nothing on its second send",
    "S3": "retention 0 keeps a boundary that no dropped lookup can offer",
    "S4": "a chunk ends inside a block beyond the last cacheable position",
}
CLASSES = ("corrupt", "stall", "waste", "policy")
FOLDER = "build/audit"
"""Where the records lie."""


def page(records: Sequence[AuditRecord]) -> str:
    """Markdown, ends with a newline."""
    parts = [
        "# Releases of vLLM, audited",
        "",
        "`make audit-all` wrote this page: the real scheduler of each release was driven on a CPU, "
        "its doings were judged by the laws. What each word means: [audit](audit.md).",
        "",
        "## Known defects",
        "",
        *_known(records),
        "",
        *[f"* **{name}**: {what}." for name, what in DEFECTS.items()],
        "",
        "`opt-in`: only with an option that is not the default. `refuses`: the release rejects the "
        "geometry.",
        "",
        "## What the search found",
        "",
        *_found(records),
    ]
    for record in records:
        parts += ["", *_release(record)]
    return "\n".join(parts) + "\n"


def _known(records: Sequence[AuditRecord]) -> list[str]:
    rows = [f"| release | {' | '.join(DEFECTS)} |", f"|---{'|---' * len(DEFECTS)}|"]
    for record in records:
        status = {known.defect: known.status for known in record.known}
        cells = " | ".join(status.get(defect, "not run") for defect in DEFECTS)
        rows.append(f"| {record.version} | {cells} |")
    return rows


def _found(records: Sequence[AuditRecord]) -> list[str]:
    head = f"| release | scenarios | steps | {' | '.join(CLASSES)} | reproduce |"
    rows = [head, f"|---|---|---|{'---|' * len(CLASSES)}---|"]
    for record in records:
        counted = Counter(finding.violation_class for finding in record.findings)
        cells = " | ".join(str(counted[name]) for name in CLASSES)
        line = f"`truehit audit vllm=={record.version} --scenarios {record.scenarios}`"
        rows.append(
            f"| {record.version} | {record.scenarios:,} | {record.steps:,} | {cells} | {line} |"
        )
    return rows


def _release(record: AuditRecord) -> list[str]:
    said = [f"## {record.version}", ""]
    said += [f"* {known.defect}: {known.status}. {known.evidence}" for known in record.known]
    severe = [one for one in record.findings if one.violation_class != "policy"]
    if severe:
        said += ["", "| class | law | needs | sentence |", "|---|---|---|---|"]
        said += [_row(finding) for finding in severe]
    return said


def _row(finding: FindingRecord) -> str:
    cause = finding.cause or "nothing tried heals it"
    sentence = finding.sentence.replace("|", "\\|")
    return f"| {finding.violation_class} | {finding.law} | {cause} | {sentence} |"

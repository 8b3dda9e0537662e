"""The page of field cases speaks of every report once and names every case file."""

import re
from pathlib import Path

from truehit.proofs.cases import DATA, load_cases, load_refusals

PAGE = Path(__file__).parents[2] / "docs" / "field-cases.md"
ROW = re.compile(r"^\| (R\d\d) \| (.*?) \| (.*) \|$", re.MULTILINE)
REPORTS = 49

ROWS = ROW.findall(PAGE.read_text(encoding="utf-8"))


def test_every_report_has_one_row_in_order() -> None:
    reports = [report for report, _, _ in ROWS]
    assert len(reports) == REPORTS
    assert reports == sorted(set(reports))


def test_every_row_names_exactly_the_files_of_its_report() -> None:
    written = {report: re.findall(r"`([^`]+)`", files) for report, files, _ in ROWS}
    there: dict[str, list[str]] = {report: [] for report in written}
    for case in load_cases():
        there[case.report].append(case.name)
    for refusal in load_refusals():
        there[refusal.report].append(f"refused/{refusal.name}")
    assert {report: sorted(files) for report, files in written.items()} == there


def test_a_report_without_a_case_has_a_reason() -> None:
    without = [(files, why) for _, files, why in ROWS if "`" not in files]
    assert [files for files, _ in without] == ["none"] * 6
    assert all(len(why) > 40 for _, why in without)


def test_a_file_is_called_by_its_report() -> None:
    named = [(case.name, case.report) for case in load_cases()]
    named += [(refusal.name, refusal.report) for refusal in load_refusals()]
    assert [name for name, report in named if not name.startswith(f"{report.lower()}_")] == []
    assert len(named) == sum(1 for path in DATA.rglob("*") if path.is_file())

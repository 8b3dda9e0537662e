"""The audit of real releases: it finds what is there, and finds it again."""

import json
from pathlib import Path

import pytest

from truehit.adapters.vllm.audit.audit import Asked, audit
from truehit.adapters.vllm.audit.report import AuditRecord
from truehit.adapters.vllm.audit.search import Scenarios
from truehit.adapters.vllm.environment import build
from truehit.cli.app import invoke
from truehit.spec.scenario_file import scenario_from_json

pytestmark = [pytest.mark.releases, pytest.mark.timeout(1800)]
COUNT = 24


def quiet(line: str) -> None:
    """No progress is wanted."""


def audited(version: str, seed: int = 1) -> AuditRecord:
    asked = Asked(Scenarios(COUNT), seed, 2, None, lifts=False)
    return audit(build(version, quiet), asked, quiet)


@pytest.fixture(scope="module")
def newest() -> AuditRecord:
    return audited("0.33.0")


def test_the_search_finds_the_wrong_grid_by_itself(newest: AuditRecord) -> None:
    found = {finding.cause: finding for finding in newest.findings}
    grid = found["state-grid"]
    assert grid.violation_class == "corrupt"
    assert "but holds" in grid.sentence
    assert "equal block sizes" in grid.avoid
    assert len(grid.story) <= 10


def test_every_scenario_of_a_finding_is_one_that_a_file_may_hold(newest: AuditRecord) -> None:
    assert newest.findings
    for finding in newest.findings:
        scenario_from_json(finding.scenario)


def test_equal_searches_give_equal_records(newest: AuditRecord) -> None:
    again = audited("0.33.0")
    assert again.model_dump_json() == newest.model_dump_json()


def test_another_seed_draws_other_scenarios(newest: AuditRecord) -> None:
    assert audited("0.33.0", seed=2).coverage != newest.coverage


def test_the_command_tells_known_defects_apart(tmp_path: Path) -> None:
    target = tmp_path / "audit.json"
    line = ["audit", "vllm==0.26.0", "--scenarios", "6", "--jobs", "1", "--json", str(target)]
    assert invoke(line) == 1
    record = AuditRecord.model_validate(json.loads(target.read_text(encoding="utf-8")))
    assert {known.defect: known.status for known in record.known} == {
        "S0": "clean",
        "S1-grid": "refuses",
        "S1-stop": "present",
        "S2": "present",
        "S3": "opt-in",
        "S4": "present",
    }
    assert record.version == "0.26.0"
    assert record.lifted

"""The runtime audit is silent about the design and names what poisons a cache."""

import re

import pytest

from truehit.engine.audit import Audit
from truehit.engine.run import Runner
from truehit.proofs.sweep.draw import draw
from truehit.proofs.sweep.run import feature_sets

SETS = feature_sets("default")
POISONS = {
    "aligned-below-last": "provenance",
    "minimum-block-grid": "provenance",
    "scratch-left": "provenance",
    "seed-minimum-block": "seed",
    "schedule-time-keys": "ownership",
}
"""Rule sets that write or read wrong states, and a law that the audit must name."""


def audited(seed: int, rules: str) -> list[str]:
    """The findings on one drawn scenario."""
    sets = feature_sets(rules)
    runner = Runner(draw(seed, sets[seed % len(sets)]), rules)
    audit = Audit(runner.host)
    runner.run()
    return audit.findings()


def test_the_default_gives_no_finding_whatever_is_switched_on() -> None:
    """Twice over the feature sets that cover every compatible pair."""
    found = {seed: audited(seed, "default") for seed in range(2 * len(SETS))}
    assert {seed: findings for seed, findings in found.items() if findings} == {}


@pytest.mark.parametrize("rules", POISONS)
def test_a_poisoning_rule_set_is_found(rules: str) -> None:
    findings = [finding for seed in range(len(SETS)) for finding in audited(seed, rules)]
    assert any(finding.startswith(POISONS[rules]) for finding in findings)


def test_a_finding_names_request_block_claim_and_truth() -> None:
    findings = [finding for seed in range(40) for finding in audited(seed, "aligned-below-last")]
    form = r"provenance: request \d+: block \d+ of state is published at (\d+) but holds what (\d+)"
    read = [match for finding in findings if (match := re.match(form, finding))]
    assert read
    assert all(int(match[1]) > int(match[2]) for match in read)


def test_an_audit_decides_nothing() -> None:
    """The trace is the same with and without it."""
    for seed in range(40):
        scenario = draw(seed, SETS[seed % len(SETS)])
        watched = Runner(scenario, "default")
        Audit(watched.host)
        assert watched.run().events == Runner(scenario, "default").run().events


def test_it_cannot_be_attached_to_an_engine_that_serves() -> None:
    """It would not know what the blocks hold."""
    runner = Runner(draw(1, SETS[1]), "default")
    runner._arrive()
    assert runner.host.slots
    with pytest.raises(ValueError, match="requests are live; 0 works"):
        Audit(runner.host)


def test_many_findings_are_counted_and_the_first_are_kept() -> None:
    runner = Runner(draw(0, SETS[0]), "schedule-time-keys")
    audit = Audit(runner.host)
    runner.run()
    assert audit.count > len(audit.findings()) - 1
    assert 0 < len(audit.findings()) <= 64

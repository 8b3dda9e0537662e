"""The engine is held to the oracle: a little of every source; `truehit diff` does the rest."""

import pytest

from truehit.proofs.differ.compare import compare
from truehit.proofs.differ.draw import draw_run
from truehit.proofs.differ.parts import Compared, GoldenPart, ListedPart, compare_part
from truehit.proofs.differ.sources import golden_entries, regression_runs
from truehit.proofs.differ.subject import ENGINE, load
from truehit.proofs.differ.text import plain
from truehit.reference.ruleset import RULE_SETS

EVERY = 6


def equal(done: Compared) -> bool:
    assert [plain(found.difference) for found in done.found] == []
    return done.total.differences == 0 < done.total.steps


def test_the_engine_equals_the_oracle_on_golden_runs() -> None:
    assert equal(compare_part(GoldenPart(golden_entries()[::EVERY]), ENGINE))


def test_the_engine_equals_the_oracle_on_every_regression() -> None:
    assert equal(compare_part(ListedPart("regressions", regression_runs()), ENGINE))


@pytest.mark.parametrize("rules", sorted(RULE_SETS))
def test_the_engine_equals_the_oracle_under_every_rule_set(rules: str) -> None:
    subject = load(ENGINE)
    first = 10 * sorted(RULE_SETS).index(rules)
    for seed in range(first, first + 4):
        drawn = draw_run(seed, rules)
        done = compare(drawn.scenario, rules, subject)
        assert done.difference is None, plain(done.difference)

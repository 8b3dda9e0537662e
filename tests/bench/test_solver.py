"""What the solver takes: the smallest counterexample of each historic defect, the dearest proofs.

The count of work (`rlimit`) is the same on every machine; the seconds are not.
"""

import time

import pytest

from truehit.proofs.prove import prove_one, refute
from truehit.reference.ruleset import HISTORIC

from .measured import Measured

pytestmark = pytest.mark.benchmark(timer=time.process_time)
DEAREST = ("splitter-coverage", "table-composed", "reach-later")
CHEAP = ("admit-pages",)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """The dearest obligations are proved when they are measured; `make verify` proves all."""
    if "obligation" in metafunc.fixturenames:
        whole = metafunc.config.getoption("benchmark_only")
        metafunc.parametrize("obligation", DEAREST if whole else CHEAP)


@pytest.mark.parametrize("rules", [rules.name for rules in HISTORIC])
def test_the_counterexample_of_a_historic_defect(measured: Measured, rules: str) -> None:
    found = measured.of(refute, rules, rounds=3)
    assert found is not None
    assert found.rule_set == rules
    measured.note(obligation=found.obligation, solver_seconds=round(found.solver_seconds, 3))


def test_an_obligation(measured: Measured, obligation: str) -> None:
    result = measured.of(prove_one, obligation, rounds=1)
    assert result.holds
    measured.note(rlimit=result.rlimit, solver_seconds=round(result.seconds, 3))

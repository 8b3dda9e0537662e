"""Each historic rule set is refuted by an obligation, on small numbers, by CPython."""

import pytest

from truehit.proofs.obligations.ask import run
from truehit.proofs.obligations.catalogue import BY_NAME, refuters
from truehit.proofs.obligations.obligation import Control
from truehit.proofs.prove import refute
from truehit.reference.ruleset import HISTORIC

NAMES = [rules.name for rules in HISTORIC]
MOST_TOKENS = {"margin-state-block": 300, "seed-minimum-block": 20}
"""The sum of all inputs. margin-state-block needs an alignment that is no multiple of the block."""


@pytest.mark.parametrize("name", NAMES)
def test_historic_rule_set_is_refuted_on_small_numbers(name: str) -> None:
    found = refute(name)
    assert found is not None and found.rule_set == name
    assert sum(int(value) for value in found.inputs.values()) <= MOST_TOKENS.get(name, 25)
    assert found.solver_seconds < 1


@pytest.mark.parametrize("name", NAMES)
def test_default_holds_where_the_historic_one_fails(name: str) -> None:
    found = refute(name)
    assert found is not None
    obligation = BY_NAME[found.obligation]
    control = next(c for o, c in refuters(name) if o is obligation)
    inputs = dict(found.inputs)
    broken = run(obligation, control, inputs)
    assert broken.premise and not broken.goal
    ours = run(obligation, Control("ours"), inputs)
    assert not ours.refutes


def test_the_default_has_no_refuter() -> None:
    assert refute("default") is None

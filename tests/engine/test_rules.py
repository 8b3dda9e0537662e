"""The engine knows the rule sets of the oracle by the same names, and follows each of them."""

import pytest

from truehit.engine.api import Engine
from truehit.engine.rules import RULES
from truehit.reference.ruleset import RULE_SETS

from .room import Device, hybrid, serve


def test_the_names_are_those_of_the_oracle() -> None:
    assert sorted(RULES) == sorted(RULE_SETS)


def test_every_name_is_another_rule_set() -> None:
    by_rules: dict[str, list[str]] = {}
    for name, rules in RULES.items():
        by_rules.setdefault(repr(rules), []).append(name)
    assert [names for names in by_rules.values() if len(names) > 1] == []


@pytest.mark.parametrize("rules", RULES)
def test_every_rule_set_serves(rules: str) -> None:
    device = Device(Engine(hybrid(), rules))
    for _ in range(2):
        serve(device, list(range(50)), output=9)
    statistics = device.engine.statistics()
    assert (statistics.running, statistics.waiting) == (0, 0)
    assert statistics.free_blocks == 199
    assert statistics.published_keys > 0

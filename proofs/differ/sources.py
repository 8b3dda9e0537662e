"""Where scenarios come from, besides the drawn ones: golden numbers, field cases,
regressions, files.

Each is named, and runs under the rule set it was made for; regressions also under those that have
to hold."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from truehit.proofs.cases import load_cases
from truehit.proofs.golden import runs as golden_runs
from truehit.proofs.golden.results import all_cases
from truehit.proofs.places import regressions
from truehit.proofs.regress.targets import TARGETS
from truehit.proofs.regress.write import file_name, scenario_text
from truehit.reference.ruleset import DEFAULT, RuleSet
from truehit.reference.run import Run
from truehit.spec.scenario import Scenario
from truehit.spec.scenario_file import parse_scenario


@dataclass(frozen=True, slots=True)
class Listed:
    """One scenario under one rule set."""

    name: str
    scenario: Scenario
    rules: str


def regression_runs() -> tuple[Listed, ...]:
    """Every committed counterexample under its own rule set and under those that hold."""
    folder = regressions()
    found: list[Listed] = []
    for target in TARGETS:
        path = folder / file_name(target.rules)
        if not path.is_file():
            continue
        scenario = parse_scenario(scenario_text(path), ".yaml")
        rule_sets = (target.rules, DEFAULT.name, *target.holding)
        found += [Listed(target.rules, scenario, rules) for rules in rule_sets]
    return tuple(found)


def case_runs() -> tuple[Listed, ...]:
    """Every field case under the default and under the historic sets that get it wrong."""
    found: list[Listed] = []
    for case in load_cases():
        rule_sets = dict.fromkeys((case.scenario.rules, *(wrong.rules for wrong in case.wrong)))
        found += [Listed(case.name, case.scenario, rules) for rules in rule_sets]
    return tuple(found)


def golden_entries() -> tuple[str, ...]:
    """The golden entries, by name."""
    return tuple(all_cases())


def each_golden_run(entries: tuple[str, ...], see: Callable[[str, Run], None]) -> None:
    """Compute golden entries, and show every different run that the oracle makes for them.

    A case computes numbers and hands no scenario out, so the one function through which all of
    them run the oracle is watched while they compute."""
    cases = all_cases()
    for entry in entries:
        with _watched(partial(see, entry)):
            cases[entry].actual()


@contextmanager
def _watched(see: Callable[[Run], None]) -> Iterator[None]:
    names = vars(golden_runs)
    real = names["run"]

    def watching(scenario: Scenario, rules: RuleSet | None = None) -> Run:
        told: Run = real(scenario, rules)
        see(told)
        return told

    names["run"] = watching
    try:
        yield
    finally:
        names["run"] = real

"""Every field case has its right values on every engine, and every control shows its wrong ones."""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest

from truehit.engine import run as engine
from truehit.proofs.cases import FACETS, Case, Control, differences, load_cases
from truehit.reference.run import rules_named
from truehit.reference.run import run as run_oracle
from truehit.spec.laws.judge import Verdict, check_trace
from truehit.spec.scenario import Scenario
from truehit.spec.scenario_file import dump_scenario, scenario_from_json
from truehit.spec.trace import Event

Engine = Callable[[Scenario, str], tuple[Event, ...]]


def reference(scenario: Scenario, rules: str) -> tuple[Event, ...]:
    """The oracle."""
    return run_oracle(scenario, rules_named(rules)).events


def fast(scenario: Scenario, rules: str) -> tuple[Event, ...]:
    """The engine's trace."""
    return engine.run(scenario, rules).events


ENGINES: dict[str, Engine] = {"reference": reference, "engine": fast}

CASES = {case.name: case for case in load_cases()}
CONTROLS = {
    f"{case.name}-{control.rules}": (case, control)
    for case in CASES.values()
    for control in case.wrong
}


@cache
def events(engine: str, name: str, rules: str) -> tuple[Event, ...]:
    return ENGINES[engine](CASES[name].scenario, rules)


def shown(control: Control, trace: tuple[Event, ...]) -> list[str]:
    """What of the control's wrong values and violations the trace does not show."""
    broken = {violation.law for violation in check_trace(trace).violations}
    missing = [f"{law}: is not broken" for law in control.breaks if law not in broken]
    return [*differences(control.expect, trace), *missing]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", CASES)
def test_right_values(engine: str, name: str) -> None:
    assert differences(CASES[name].expect, events(engine, name, "default")) == []


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", CASES)
def test_all_laws_hold(engine: str, name: str) -> None:
    verdict: Verdict = check_trace(events(engine, name, "default"))
    assert [violation.sentence for violation in verdict.violations] == []
    assert verdict.not_observed == ()
    assert verdict.open_requests == ()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", CONTROLS)
def test_control_shows_what_is_wrong_and_the_default_does_not(engine: str, name: str) -> None:
    case, control = CONTROLS[name]
    assert shown(control, events(engine, case.name, control.rules)) == []
    right = events(engine, case.name, "default")
    if control.expect:
        assert differences(control.expect, right) != []
    assert {v.law for v in check_trace(right).violations} & set(control.breaks) == set()


def changed(value: Any) -> Iterator[Any]:
    """The value with exactly one leaf changed, once for every leaf; numbers by one, both ways."""
    match value:
        case dict() if value:
            for key, item in value.items():
                yield from ({**value, key: other} for other in changed(item))
        case list() if value:
            yield value[:-1]
            for index, item in enumerate(value):
                for other in changed(item):
                    yield [*value[:index], other, *value[index + 1 :]]
        case int():
            yield value + 1
            yield value - 1
        case str():
            yield value + "?"
        case list() | dict():
            yield [0]
        case _:
            yield 0


@pytest.mark.parametrize("name", CASES)
def test_every_expected_value_matters(name: str) -> None:
    trace = events("reference", name, "default")
    tried = 0
    for facet, values in CASES[name].expect.items():
        for other in changed(values):
            assert differences({facet: other}, trace) != [], (facet, other)
            tried += 1
    assert tried >= 2


@pytest.mark.parametrize("name", CONTROLS)
def test_every_wrong_value_matters(name: str) -> None:
    case, control = CONTROLS[name]
    trace = events("reference", case.name, control.rules)
    for facet, values in control.expect.items():
        for other in changed(values):
            assert differences({facet: other}, trace) != [], (facet, other)
    other_law = Control(control.rules, {}, ("conservation",))
    assert shown(other_law, trace) == ["conservation: is not broken"]


def test_every_facet_is_asked_by_some_case() -> None:
    assert {facet for case in CASES.values() for facet in case.expect} == set(FACETS)


def test_a_request_that_is_not_there_is_a_difference() -> None:
    trace = events("reference", "r02_replay_boundary", "default")
    assert differences({"hits": {"p30": 0}}, trace) == ["hits.p30: expected 0, nothing was seen"]


@pytest.mark.parametrize("case", CASES.values(), ids=lambda case: case.name)
def test_a_case_runs_from_its_file_form(case: Case) -> None:
    """So that it can be handed to any engine as a scenario file."""
    assert scenario_from_json(dump_scenario(case.scenario)) == case.scenario
    assert case.scenario.rules == "default"

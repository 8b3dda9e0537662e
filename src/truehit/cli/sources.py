"""Scenarios, traces and rule sets by name; everything wrong with one is an InputError."""

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from truehit.cli.errors import InputError, one_line, unknown_name
from truehit.cli.output import open_with_progress, unwritable
from truehit.reference.ruleset import RULE_SETS, RuleSet
from truehit.reference.run import Run, run
from truehit.spec.geometry_checks import GeometryError
from truehit.spec.ledger import LedgerError
from truehit.spec.scenario import Scenario
from truehit.spec.scenario_file import ScenarioError, load_scenario
from truehit.spec.trace import Event
from truehit.spec.trace_file import TraceError, read_events, write_events

STDIN = Path("-")
SCENARIO_SUFFIXES = (".yaml", ".yml")
_FIRST_LINE_CHARACTERS = 1 << 20


@contextmanager
def input_errors(source: object) -> Iterator[None]:
    """Whatever the readers and the ledger refuse becomes one line with the source in front."""
    try:
        yield
    except ScenarioError as error:
        line = one_line(error)
        raise InputError(line if error.source else f"{source}: {line}") from error
    except (TraceError, LedgerError, GeometryError) as error:
        raise InputError(f"{source}: {one_line(error)}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{source}: byte {error.start} is no text; UTF-8 works") from error
    except OSError as error:
        why = (error.strerror or "unreadable").lower()
        raise InputError(f"{source}: {why}; a readable file works") from error


def scenario_of(path: Path) -> Scenario:
    """The scenario in a file."""
    if path.exists() and begins_a_trace(path):
        raise InputError(f"{path}: is a trace, not a scenario; truehit check {path} works")
    with input_errors(path):
        return load_scenario(path)


def rules_of(name: str | None, scenario: Scenario) -> RuleSet:
    """The rule set of this name, or the one that the scenario names."""
    return rules_named(scenario.rules if name is None else name)


def rules_named(name: str) -> RuleSet:
    """The rule set of this name; the nearest one is named otherwise."""
    if name not in RULE_SETS:
        raise unknown_name("rule set", name, RULE_SETS)
    return RULE_SETS[name]


def events_of(path: Path) -> Iterator[Event]:
    """The events of a trace, one by one; `-` is standard input."""
    with input_errors("stdin" if path == STDIN else path):
        if path.suffix in SCENARIO_SUFFIXES and path.is_file():
            raise InputError(f"{path}: is a scenario, not a trace; truehit run {path} works")
        if path == STDIN:
            yield from read_events(sys.stdin)
            return
        with open_with_progress(path) as file:
            yield from read_events(file)


def begins_a_trace(path: Path) -> bool:
    """The first line is a JSON object with a kind."""
    with input_errors(path), path.open(encoding="utf-8") as file:
        try:
            first = json.loads(file.readline(_FIRST_LINE_CHARACTERS))
        except ValueError:
            return False
    return isinstance(first, dict) and "kind" in first


def is_trace(path: Path) -> bool:
    """By its first line, or else by its suffix: what could be a scenario is one."""
    if path == STDIN:
        return True
    return begins_a_trace(path) or path.suffix not in (*SCENARIO_SUFFIXES, ".json")


def run_file(path: Path, rules: str | None) -> Run:
    """Run a scenario file on the oracle."""
    scenario = scenario_of(path)
    return run(scenario, rules_of(rules, scenario))


@dataclass(frozen=True, slots=True)
class Played:
    """A scenario on an engine: the rule set it ran under, its trace, its steps."""

    scenario: Scenario
    rules: str
    events: tuple[Event, ...]
    steps: int


def _on_reference(scenario: Scenario, rules: str) -> Played:
    told = run(scenario, RULE_SETS[rules])
    return Played(scenario, rules, told.events, told.steps)


def _on_engine(scenario: Scenario, rules: str) -> Played:
    # Loading numba takes half a second that the other engine need not pay.
    from truehit.engine.run import run as run_fast

    traced = run_fast(scenario, rules)
    return Played(scenario, rules, traced.events, traced.steps)


ENGINES: dict[str, Callable[[Scenario, str], Played]] = {
    "reference": _on_reference,
    "engine": _on_engine,
}


def play_file(path: Path, rules: str | None, engine: str) -> Played:
    """Run a scenario file on a named engine."""
    if engine not in ENGINES:
        raise unknown_name("engine", engine, ENGINES)
    scenario = scenario_of(path)
    return ENGINES[engine](scenario, rules_of(rules, scenario).name)


def write_trace(events: Iterable[Event], path: Path) -> None:
    """Write a trace; InputError if that is not possible."""
    try:
        with path.open("w", encoding="utf-8") as file:
            write_events(file, events)
    except OSError as error:
        raise unwritable(path, error) from error

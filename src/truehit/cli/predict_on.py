"""A prediction with a real engine beside it: what it does with the same prompts."""

from pathlib import Path

from truehit.cli.beside import beside, print_laws, print_pairs, worst
from truehit.cli.exits import Exit
from truehit.cli.forecast import Forecast
from truehit.cli.output import console, write_json
from truehit.cli.prediction import report as report_ours
from truehit.cli.prediction import to_json
from truehit.cli.subject import CouldNotRun, drive, tell
from truehit.reference.ruleset import RuleSet
from truehit.reference.run import run
from truehit.spec.geometry import Geometry
from truehit.spec.laws.base import ViolationClass


def report(
    on: str,
    geometry: Geometry,
    rules: RuleSet,
    forecasts: list[Forecast],
    classes: frozenset[ViolationClass],
    as_json: bool,
    target: Path | None,
) -> Exit:
    """The prediction, then both engines a prompt. `on`: what the user calls the engine."""
    scenarios = [forecast.scenario for forecast in forecasts]
    try:
        driven = drive(on, scenarios)
    except CouldNotRun as problem:
        tell(f"truehit: {problem}")
        return Exit.UNKNOWN
    both = [
        beside(run(scenario, rules).events, scenario.geometry, one)
        for scenario, one in zip(scenarios, driven, strict=True)
    ]
    broken = any(forecast.judged.counted(classes) for forecast in forecasts)
    answer = worst(Exit.REFUTED if broken else Exit.HOLDS, *(one.exit(classes) for one in both))
    if as_json:
        ours = to_json(geometry, rules.name, forecasts)
        write_json({**ours, "on": [one.to_json() for one in both]}, target)
        return answer
    report_ours(geometry, rules.name, forecasts, classes, as_json, target)
    screen = console()
    for one in both:
        screen.print()
        print_pairs(screen, one)
        screen.print()
        print_laws(screen, one, classes)
    return answer

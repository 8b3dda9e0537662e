"""A prediction in words: the sheet, a row a request, a reason a miss; and as JSON."""

from pathlib import Path
from typing import Any

import yaml
from rich.console import Console
from rich.text import Text

from truehit.cli.errors import InputError
from truehit.cli.exits import Exit
from truehit.cli.explain import explain
from truehit.cli.forecast import Forecast
from truehit.cli.judging import numbers, print_violations, violation_json
from truehit.cli.output import console, print_indented, print_table, write_json, write_text
from truehit.cli.sheet import sheet_json, sheet_lines
from truehit.spec.geometry import Geometry
from truehit.spec.laws.base import ViolationClass
from truehit.spec.scenario_file import dump_scenario

HEAD = ("request", "send", "hit", "by formula", "carve", "stored", "reason")


def report(
    geometry: Geometry,
    rules: str,
    forecasts: list[Forecast],
    classes: frozenset[ViolationClass],
    as_json: bool,
    target: Path | None,
) -> Exit:
    """Print it; refuted if a law of one of the classes is broken on the way."""
    if as_json:
        write_json(to_json(geometry, rules, forecasts), target)
    else:
        _print(console(), geometry, rules, forecasts)
    broken = any(forecast.judged.counted(classes) for forecast in forecasts)
    return Exit.REFUTED if broken else Exit.HOLDS


def to_json(geometry: Geometry, rules: str, forecasts: list[Forecast]) -> dict[str, Any]:
    """`requests[]` as in run and check; `expected[]` puts formula and reason beside each."""
    rows = [(forecast, row) for forecast in forecasts for row in forecast.rows]
    return {
        "rules": rules,
        "geometry": sheet_json(geometry),
        "requests": [row.to_json() for _, row in rows],
        "expected": [
            {
                "name": row.name,
                "formula": forecast.expected[row.name].formula,
                "tokens": forecast.expected[row.name].tokens,
                "why": explain(geometry, row, forecast.expected[row.name]),
            }
            for forecast, row in rows
        ],
        "violations": [
            violation_json(one)
            for forecast in forecasts
            for one in forecast.judged.verdict.violations
        ],
    }


def _print(screen: Console, geometry: Geometry, rules: str, forecasts: list[Forecast]) -> None:
    for title, text in sheet_lines(geometry):
        print_indented(screen, Text(f"{title:<15} ", "bold"), text, indent=" " * 16)
    for forecast in forecasts:
        screen.print()
        _print_rows(screen, forecast)
        screen.print()
        whys: dict[str, list[str]] = {}
        for row in forecast.rows:
            why = explain(geometry, row, forecast.expected[row.name])
            whys.setdefault(why, []).append(row.name)
        for why, names in whys.items():
            print_indented(screen, Text(f"{', '.join(names)}: ", "bold"), why)
        if forecast.judged.verdict.violations:
            screen.print()
            screen.print(f"rules {rules} break laws here:")
            print_violations(screen, forecast.judged.verdict.violations)


def _print_rows(screen: Console, forecast: Forecast) -> None:
    cells = []
    for row in forecast.rows:
        expected = forecast.expected[row.name]
        formula = f"{expected.tokens} {expected.formula}" if expected.shared_tokens else "-"
        cells.append(
            (
                row.name,
                str(row.send),
                "-" if row.hit is None else str(row.hit),
                formula,
                numbers(row.carve),
                numbers(row.stored),
                row.reason or "-",
            )
        )
    print_table(screen, HEAD, cells, right=("send", "hit"))


def save_scenario(forecasts: list[Forecast], path: Path) -> None:
    """The scenario file of a prediction of one prompt."""
    if len(forecasts) != 1:
        raise InputError(f"--save writes one scenario, not {len(forecasts)}; one --prompt works")
    if path.suffix not in (".yaml", ".yml"):
        raise InputError(f"--save writes YAML, not '{path}'; {path.with_suffix('.yaml')} works")
    data = dump_scenario(forecasts[0].scenario)
    write_text(yaml.safe_dump(data, sort_keys=False, default_flow_style=None, width=100), path)

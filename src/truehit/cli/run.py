"""`run`: a scenario on the oracle or on the fast engine, judged by the laws."""

from pathlib import Path
from typing import Annotated

import typer

from truehit.cli.exits import Exit
from truehit.cli.options import AsJson, Out, Rules


def command(
    scenario: Annotated[Path, typer.Argument(metavar="SCENARIO", help="YAML or JSON file.")],
    out: Out = None,
    rules: Rules = None,
    trace: Annotated[
        Path | None, typer.Option("--trace", metavar="FILE", help="Write the trace (JSON Lines).")
    ] = None,
    engine: Annotated[
        str, typer.Option("--engine", metavar="NAME", help="reference or engine (the fast one).")
    ] = "reference",
    as_json: AsJson = False,
) -> Exit:
    """Run a scenario on the reference engine, or on the fast one, and judge it by the laws."""
    from truehit.cli.judging import EVERY_CLASS, judge, print_requests, print_verdict
    from truehit.cli.output import console, json_target, write_json
    from truehit.cli.sources import input_errors, play_file, write_trace

    target = json_target(out, as_json)
    result = play_file(scenario, rules, engine)
    if trace is not None:
        write_trace(result.events, trace)
    with input_errors(scenario):
        judged = judge(result.events)
    if as_json:
        write_json(judged.to_json(), target)
        return judged.exit(EVERY_CLASS)
    screen = console()
    name, steps = result.scenario.name, result.steps
    screen.print(f"{name} under rules {result.rules}: {steps} steps")
    screen.print()
    print_requests(screen, judged.rows)
    screen.print()
    print_verdict(screen, judged, EVERY_CLASS)
    return judged.exit(EVERY_CLASS)

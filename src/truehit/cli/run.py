"""`run`: a scenario on the oracle or on the fast engine, judged by the laws; a real engine beside
them if one is asked for."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from truehit.cli.exits import Exit
from truehit.cli.options import AsJson, On, Out, Rules

if TYPE_CHECKING:
    from truehit.cli.judging import Judged
    from truehit.cli.sources import Played


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
    on: On = None,
    as_json: AsJson = False,
) -> Exit:
    """Run a scenario on the reference engine, or on the fast one, and judge it by the laws."""
    from truehit.cli.judging import EVERY_CLASS, judge, print_requests, print_verdict
    from truehit.cli.output import console, json_target, write_json
    from truehit.cli.sources import input_errors, play_file, write_trace

    target = json_target(out, as_json)
    result = play_file(scenario, rules, engine)
    if trace is not None and on is None:
        write_trace(result.events, trace)
    with input_errors(scenario):
        judged = judge(result.events)
    if on is not None:
        return _beside(on, result, judged, trace, as_json, target)
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


def _beside(
    on: str,
    result: "Played",
    judged: "Judged",
    trace: Path | None,
    as_json: bool,
    target: Path | None,
) -> Exit:
    """The same on a real engine. It is judged as others are; the trace that is written is its."""
    from truehit.cli.beside import JUDGED, beside, print_laws, print_pairs, worst
    from truehit.cli.judging import EVERY_CLASS, print_verdict
    from truehit.cli.output import console, write_json
    from truehit.cli.sources import write_trace
    from truehit.cli.subject import CouldNotRun, drive, tell

    try:
        (driven,) = drive(on, [result.scenario])
    except CouldNotRun as problem:
        tell(f"truehit: {problem}")
        return Exit.UNKNOWN
    one = beside(result.events, result.scenario.geometry, driven)
    if trace is not None:
        write_trace(one.trace, trace)
    answer = worst(judged.exit(EVERY_CLASS), one.exit(JUDGED))
    if as_json:
        write_json({**judged.to_json(), "on": [one.to_json()]}, target)
        return answer
    screen = console()
    screen.print(f"{result.scenario.name}: truehit under rules {result.rules}, and {one.subject}")
    screen.print()
    print_pairs(screen, one)
    screen.print()
    print_verdict(screen, judged, EVERY_CLASS)
    screen.print()
    print_laws(screen, one, JUDGED)
    return answer

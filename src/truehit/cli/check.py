"""`check`: any trace, from any engine, judged by the laws."""

from pathlib import Path
from typing import Annotated

import typer

from truehit.cli.exits import Exit
from truehit.cli.options import AsJson, FailOn, Out


def command(
    trace: Annotated[Path, typer.Argument(metavar="TRACE", help="JSON Lines, or - for stdin.")],
    out: Out = None,
    fail_on: FailOn = "corrupt,stall",
    as_json: AsJson = False,
) -> Exit:
    """Judge a trace by the laws. A law whose planes were not captured is never green."""
    from truehit.cli.judging import classes_of, judge, print_requests, print_verdict
    from truehit.cli.output import console, json_target, write_json
    from truehit.cli.sources import events_of, input_errors

    target, classes = json_target(out, as_json), classes_of(fail_on)
    with input_errors(trace):
        judged = judge(events_of(trace))
    if as_json:
        write_json(judged.to_json(), target)
        return judged.exit(classes)
    screen = console()
    print_requests(screen, judged.rows)
    screen.print()
    print_verdict(screen, judged, classes)
    return judged.exit(classes)

"""`show`: the timeline of a trace, or of a scenario run on the oracle."""

from pathlib import Path
from typing import Annotated

import typer

from truehit.cli.exits import Exit
from truehit.cli.options import AsJson, Out, Rules


def command(
    source: Annotated[
        Path, typer.Argument(metavar="TRACE|SCENARIO", help="A file, or - for a trace.")
    ],
    out: Out = None,
    rules: Rules = None,
    request: Annotated[
        list[str] | None,
        typer.Option("--request", metavar="NAME", help="Only this request (may be repeated)."),
    ] = None,
    group: Annotated[
        str | None, typer.Option("--group", metavar="NAME", help="State group (default: first).")
    ] = None,
    steps: Annotated[
        str | None, typer.Option("--steps", metavar="FIRST-LAST", help="Only these steps.")
    ] = None,
    events: Annotated[
        int, typer.Option("--events", metavar="N", min=0, help="Event lines at most.")
    ] = 200,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown.")] = False,
    as_html: Annotated[bool, typer.Option("--html", help="Print one HTML page.")] = False,
    output: Annotated[
        Path | None, typer.Option("--output", metavar="FILE", help="Write to a file instead.")
    ] = None,
    as_json: AsJson = False,
) -> Exit:
    """Draw block tables by steps, mark violations, list events. Draws, does not judge: exits 0."""
    from truehit.cli.errors import InputError
    from truehit.cli.output import console, json_target, write_json, write_text
    from truehit.cli.picture import Choice, picture_of, steps_of
    from truehit.cli.sources import events_of, is_trace, run_file

    if as_markdown + as_html + as_json > 1:
        raise InputError("--markdown, --html and --json exclude each other; one of them works")
    target = json_target(out, as_json)
    trace = is_trace(source)
    if trace and rules is not None:
        raise InputError("--rules belongs to a scenario; a trace already has its rules")
    stream = tuple(events_of(source)) if trace else run_file(source, rules).events
    choice = Choice(request or [], None if steps is None else steps_of(steps), events)
    picture = picture_of(source, stream, group, choice)
    if as_json:
        write_json(picture.to_json(), target or output)
        return Exit.HOLDS
    if not (as_markdown or as_html) and output is None:
        picture.print(console())
        return Exit.HOLDS
    html = as_html or (output is not None and output.suffix == ".html" and not as_markdown)
    text = picture.html() if html else picture.markdown()
    if output is None:
        print(text)
    else:
        write_text(text + "\n", output)
    return Exit.HOLDS

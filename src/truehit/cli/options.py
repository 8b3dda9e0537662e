"""Options that several verbs share, in one wording."""

from pathlib import Path
from typing import Annotated

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
Out = Annotated[
    Path | None,
    typer.Argument(metavar="[OUT.json]", help="With --json: write it to this file."),
]
Rules = Annotated[
    str | None,
    typer.Option("--rules", metavar="NAME", help="Rule set (default: the scenario's own)."),
]
FailOn = Annotated[
    str,
    typer.Option(
        "--fail-on",
        metavar="CLASSES",
        help="Violation classes that refute: corrupt, stall, waste, policy, or none.",
    ),
]
On = Annotated[
    str | None,
    typer.Option("--on", metavar="SUBJECT", help="A real engine beside ours: vllm==0.33.0."),
]

"""The options of `predict`: the prompts, then the fields of a geometry under shorter names."""

from pathlib import Path
from typing import Annotated, Any

import typer


def _option(name: str, metavar: str, text: str, at_least: int | None = None) -> Any:
    return typer.Option(name, metavar=metavar, help=text, min=at_least)


Prompts = Annotated[list[int] | None, _option("--prompt", "TOKENS", "Prompt length (repeatable).")]
Sends = Annotated[int, _option("--sends", "N", "How often each prompt is sent.", at_least=1)]
Siblings = Annotated[
    list[str] | None,
    _option("--sibling", "SHARED[:TOTAL]", "A later prompt that shares only the beginning."),
]
Longer = Annotated[
    list[int] | None,
    _option("--longer", "TOKENS", "A later prompt: all of it and so many more."),
]
Output = Annotated[int, _option("--output", "TOKENS", "What each request generates.", at_least=1)]
StateBlock = Annotated[
    list[int] | None, _option("--state-block", "TOKENS", "State grid of a recurrent group.")
]
AttentionBlock = Annotated[
    list[int] | None,
    _option("--attention-block", "TOKENS", "Block of a full-attention group (repeatable)."),
]
DraftedBlock = Annotated[
    list[int] | None,
    _option("--drafted-block", "TOKENS", "The same with draft layers: only these drop."),
]
Window = Annotated[
    list[str] | None, _option("--window", "BLOCK:WINDOW", "A sliding-window group (repeatable).")
]
HashUnit = Annotated[int | None, _option("--hash-unit", "TOKENS", "Default: gcd of all blocks.")]
Fine = Annotated[bool, typer.Option("--fine", help="Hits are multiples of the hash unit.")]
Drafts = Annotated[int, _option("--drafts", "N", "Draft tokens a decode step.")]
Drop = Annotated[str, _option("--drop", "MODE", "none, clamped, margin or lookahead:L.")]
Retention = Annotated[str, _option("--retention", "WHAT", "dense, 0, or an interval in tokens.")]
Budget = Annotated[int, _option("--budget", "TOKENS", "What a step can schedule.")]
Threshold = Annotated[int | None, _option("--threshold", "TOKENS", "Long-prefill threshold.")]
Pool = Annotated[int | None, _option("--pool", "BLOCKS", "Default: nothing is evicted.")]
MaxModel = Annotated[int, _option("--max-model", "TOKENS", "Longest request.")]
CheckpointAlignment = Annotated[
    int | None,
    _option("--checkpoint-alignment", "TOKENS", "Chunks export states at multiples of it."),
]
KernelChunk = Annotated[int, _option("--kernel-chunk", "TOKENS", "Step of the state kernel.")]
InFlight = Annotated[int, _option("--in-flight", "N", "Steps in flight.")]
RuleName = Annotated[str, _option("--rules", "NAME", "Rule set.")]
Save = Annotated[Path | None, _option("--save", "FILE.yaml", "Write the scenario, for run, show.")]

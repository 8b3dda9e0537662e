"""`sweep`: many drawn scenarios under a rule set, judged by all laws; `make fuzz` runs it long."""

import os
from typing import Annotated

import typer
from rich.text import Text

from truehit.cli.errors import unknown_name
from truehit.cli.exits import Exit
from truehit.cli.options import AsJson, Out

SLICE_RUNS = 250


def command(
    out: Out = None,
    rules: Annotated[str, typer.Option("--rules", metavar="NAME", help="Rule set.")] = "default",
    runs: Annotated[int, typer.Option("--runs", min=1, help="How many.")] = 2000,
    first_seed: Annotated[int, typer.Option("--first-seed", min=0)] = 0,
    jobs: Annotated[int, typer.Option("--jobs", min=1, help="Processes.")] = os.cpu_count() or 1,
    as_json: AsJson = False,
) -> Exit:
    """Draw small scenarios that cover all pairs of features, run and judge them; say what broke."""
    from joblib import Parallel, delayed

    from truehit.cli.output import console, json_target, print_paragraph, write_json
    from truehit.cli.progress import Steps
    from truehit.proofs.sweep.run import merged, missing_pairs, sweep
    from truehit.reference.ruleset import RULE_SETS

    if rules not in RULE_SETS:
        raise unknown_name("rule set", rules, RULE_SETS)
    target = json_target(out, as_json)
    firsts = range(first_seed, first_seed + runs, SLICE_RUNS)
    counts = [min(SLICE_RUNS, first_seed + runs - first) for first in firsts]
    parallel = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)
    work = (delayed(sweep)(rules, f, n) for f, n in zip(firsts, counts, strict=True))
    parts = []
    with Steps("sweep") as steps:
        for part in parallel(work):
            parts.append(part)
            steps.advance(len(parts), len(counts), "sweep")
    total = merged(parts)
    if as_json:
        broken = [
            {"seed": b.seed, "features": list(b.features), "law": b.law, "sentence": b.sentence}
            for b in total.first
        ]
        payload = {"rules": rules, "runs": total.runs, "steps": total.steps, "first": broken}
        write_json(payload | {"laws": dict(total.laws)}, target)
    else:
        screen = console()
        print_paragraph(
            screen,
            f"{total.runs:,} runs, {total.steps:,} steps, {total.events:,} events under {rules}; "
            f"{len(missing_pairs(total))} pairs of features not drawn.",
        )
        for law, count in total.laws:
            screen.print(Text(f"{law}: broken in {count} runs"))
        for case in total.first:
            print_paragraph(screen, f"seed {case.seed}: {case.law}: {case.sentence}")
    return Exit.REFUTED if total.laws else Exit.HOLDS

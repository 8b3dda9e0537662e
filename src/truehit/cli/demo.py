"""`demo`: two prompts share a step, one page is poisoned, a law names it, another rule heals it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from truehit.cli.errors import InputError
from truehit.cli.exits import Exit
from truehit.cli.options import AsJson, Out

if TYPE_CHECKING:
    from rich.console import Console

    from truehit.cli.judging import Judged
    from truehit.reference.run import Run
    from truehit.spec.scenario import Scenario

BROKEN_RULES = "aligned-below-last"
HEALING_RULES = "default"
DRAWN = ("ask", "again")

OPENING = (
    "A hybrid model keeps one state per request and overwrites it in place. To reuse a prompt, the "
    "engine saves that state and publishes it under the prefix it stands for: that is a claim."
)
ARRIVAL = (
    'Two prompts arrive together. A step has {budget} tokens: "neighbour" takes {first}, so "ask" '
    "({prompt} tokens) gets {share} now and the rest in the next step. States are saved every "
    '{block} tokens. Later "again" asks one more question about the document of "ask".'
)
HARM = (
    'No exception, no log line. "again" hits {hit} tokens and goes on from a state that never saw '
    "tokens {share} to {block}: a fluent answer about a document with a hole."
)
HEALED = (
    "Healed: a chunk that starts inside a block stops at the end of that block, so the state is "
    'saved exactly where its key says. "again" still hits {hit} tokens, and now they are true.'
)
NEXT = """\
Next: truehit demo --model
      truehit predict --state-block 1600 --attention-block 16 --prompt 6400
      truehit law provenance
      truehit --help"""


def command(
    out: Out = None,
    model: Annotated[
        bool,
        typer.Option("--model", help="With real states: a small model answers from the pages."),
    ] = False,
    as_json: AsJson = False,
) -> Exit:
    """The sixty-second story: one poisoned page, the law that names it, the rule that heals it."""
    from truehit.cli.judging import judge
    from truehit.cli.output import console, json_target, write_json
    from truehit.reference.ruleset import RULE_SETS
    from truehit.reference.run import run

    target = json_target(out, as_json)
    if model:
        return _on_model(target, as_json)
    scenario = story()
    runs = [run(scenario, RULE_SETS[name]) for name in (BROKEN_RULES, HEALING_RULES)]
    broken, healed = [judge(one.events) for one in runs]
    poisons = broken.verdict.of_law("provenance")
    told = bool(poisons) and not healed.verdict.violations
    if as_json:
        judged = {BROKEN_RULES: broken.to_json(), HEALING_RULES: healed.to_json()}
        write_json({"runs": judged}, target)
    else:
        tell(console(), scenario, runs, broken, healed)
    return Exit.HOLDS if told else Exit.REFUTED


def _on_model(target: Path | None, as_json: bool) -> Exit:
    try:
        import torch
    except ImportError as error:
        raise InputError(f"--model: {error}; pip install 'truehit[engine]' works") from error
    from truehit.cli.demo_model import demonstrate

    torch.set_num_threads(1)
    return demonstrate(target, as_json)


def story() -> "Scenario":
    """Attention pages of 16 tokens, states every 1600, one draft token: a common deployment."""
    from truehit.spec.geometry import BlockDrop, DropCap, Geometry, Group, Kind
    from truehit.spec.scenario import After, Request, Scenario
    from truehit.spec.tokens import Segment

    attention = Group("attention", Kind.FULL_ATTENTION, 16, drafted=True)
    state = Group("state", Kind.RECURRENT_STATE, 1600)
    geometry = Geometry(
        groups=(attention, state),
        hash_unit_tokens=16,
        drafts=1,
        drop=BlockDrop(DropCap.MARGIN),
        budget_tokens=3072,
    )
    document = Segment("document", 2500)
    again = (document, Segment("question", 300))
    requests = (
        Request("neighbour", (Segment("chat", 2708),)),
        Request("ask", (document,)),
        Request("again", again, arrival=After("ask")),
    )
    return Scenario("demo", geometry, requests)


def tell(
    screen: "Console",
    scenario: "Scenario",
    runs: "list[Run]",
    broken: "Judged",
    healed: "Judged",
) -> None:
    """The story in the terminal; every number comes from the scenario or its runs."""
    from truehit.cli.judging import EVERY_CLASS, print_violations, summary
    from truehit.cli.output import print_paragraph
    from truehit.cli.timeline_text import print_legend

    requests = {request.name: request for request in scenario.requests}
    share = runs[0].served[1].carve[0]
    block = scenario.geometry.grid_tokens
    print_paragraph(screen, OPENING)
    screen.print()
    arrival = ARRIVAL.format(
        budget=scenario.geometry.budget_tokens,
        first=requests["neighbour"].prompt_tokens,
        prompt=requests["ask"].prompt_tokens,
        share=share,
        block=block,
    )
    print_paragraph(screen, arrival)
    screen.print()
    screen.print(f"[bold]1. The rules of an old release ({BROKEN_RULES})[/bold]")
    print_legend(screen)
    draw(screen, runs[0], broken)
    screen.print()
    print_violations(screen, broken.verdict.of_law("provenance"))
    harm = HARM.format(hit=runs[0].served[2].hit, share=share, block=block)
    print_paragraph(screen, harm)
    screen.print()
    screen.print(f"[bold]2. The same requests under the rules of truehit ({HEALING_RULES})[/bold]")
    draw(screen, runs[1], healed)
    screen.print()
    screen.print(summary(healed, EVERY_CLASS))
    print_paragraph(screen, HEALED.format(hit=runs[1].served[2].hit))
    screen.print()
    screen.print(NEXT)


def draw(screen: "Console", run: "Run", judged: "Judged") -> None:
    """The two requests that share the document."""
    from rich.text import Text

    from truehit.cli.timeline import build
    from truehit.cli.timeline_grid import grid_of
    from truehit.cli.timeline_text import print_grid

    timeline = build(run.events, judged.verdict.of_law("provenance"), None)
    for strip in timeline.strips:
        if strip.request in DRAWN:
            screen.print(Text(f"  {strip.request}", "bold"))
            print_grid(screen, grid_of(strip, timeline.block_tokens), indent="    ")

"""`demo --model`: the same story with real states, and what each historic defect does to answers.

A small hybrid model of random weights runs on the engine's tables in float64. Wrong pages are named
by the ghosts that travel in them, and by the law that the defect breaks."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from truehit.cli.exits import Exit

if TYPE_CHECKING:
    from rich.console import Console

    from truehit.proofs.harm.answer import Answer
    from truehit.proofs.harm.measure import Harm

BROKEN_RULES = "aligned-below-last"
HEALING_RULES = "default"
OPENING = (
    "A small hybrid model of random weights (gated delta nets and attention, float64) serves three "
    'prompts on the tables of the engine: "neighbour" and "ask" arrive together and share a step '
    'of {budget} tokens; then "again" asks one more question about the document of "ask". States '
    "are saved every {block} tokens."
)
GARBAGE = (
    '"again" hits {hit} tokens. Its logits are up to {moved:.2f} away from those of the same '
    "tokens computed alone, and {wrong} of {count} tokens of its answer are others. Nothing "
    "raised. The page says what it holds, and the law says since when:"
)
HEALED = (
    '"again" still hits {hit} tokens, and its answer is the one computed alone; logits differ by '
    "{moved:.0e}, which is the order of sums."
)
TABLE = (
    "Every historic defect on the same model, each in the smallest run found that shows what it "
    "does to who is served. Garbage: a token was computed from a page that holds something else "
    "(inf: from one that nobody had written, which is filled with what is no number). Lost hits: "
    "the same answers cost more tokens. Waiting: a request is served late or never. Hits too far: "
    "a hit keeps what a draft model's own layers would have had to give back. Other tokens: "
    "positions after which another token would be chosen."
)
NEXT = """\
Next: truehit diff --back-end torch
      truehit law neutrality
      docs/model.md"""


def demonstrate(target: Path | None, as_json: bool) -> Exit:
    """Tell the story and the table; refuted when it is not what it should be."""
    from truehit.cli.output import console, write_json
    from truehit.cli.progress import Steps
    from truehit.proofs.harm.answer import answer, answer_alone, small_model
    from truehit.proofs.harm.cases import KINDS, scenario_of
    from truehit.proofs.harm.measure import measure
    from truehit.proofs.harm.story import ANSWER_TOKENS, model_story, waves_of

    scenario = model_story()
    geometry, waves = scenario.geometry, waves_of(scenario)
    model = small_model(geometry)
    with Steps("demo") as bar:
        alone = answer_alone(model, geometry, waves[-1][0][1], ANSWER_TOKENS)
        broken, healed = (
            answer(model, geometry, rules, waves, ANSWER_TOKENS)
            for rules in (BROKEN_RULES, HEALING_RULES)
        )
        harms: list[Harm] = []
        for rules in KINDS:
            bar.advance(len(harms), len(KINDS), rules)
            harms.append(measure(scenario_of(rules), rules))
    if as_json:
        write_json(_payload(alone, broken, healed, harms), target)
    else:
        _tell(console(), alone, broken, healed, harms)
    return Exit.HOLDS if _is_told(alone, broken, healed, harms) else Exit.REFUTED


def _is_told(
    alone: Sequence[int], broken: "Answer", healed: "Answer", harms: Sequence["Harm"]
) -> bool:
    """The defect answers garbage and is caught, the default does not; every harm shows."""
    from truehit.proofs.harm.cases import KINDS
    from truehit.proofs.harm.find import shows
    from truehit.proofs.harm.measure import NOISE

    garbled = broken.tokens != tuple(alone) and broken.false_read is not None
    right = healed.tokens == tuple(alone) and healed.false_read is None and healed.moved < NOISE
    return garbled and right and all(shows(harm, KINDS[harm.rules]) for harm in harms)


def _tell(
    screen: "Console",
    alone: Sequence[int],
    broken: "Answer",
    healed: "Answer",
    harms: Sequence["Harm"],
) -> None:
    from truehit.cli.output import print_paragraph
    from truehit.proofs.harm.story import model_story

    geometry = model_story().geometry
    opening = OPENING.format(budget=geometry.budget_tokens, block=geometry.grid_tokens)
    print_paragraph(screen, opening)
    screen.print()
    screen.print('[bold]The answer to "again", computed alone[/bold]')
    screen.print(_words(alone))
    screen.print()
    screen.print(f"[bold]1. The rules of an old release ({BROKEN_RULES})[/bold]")
    screen.print(_words(broken.tokens))
    wrong = sum(a != b for a, b in zip(broken.tokens, alone, strict=True))
    print_paragraph(
        screen,
        GARBAGE.format(hit=broken.hit_tokens, moved=broken.moved, wrong=wrong, count=len(alone)),
    )
    print_paragraph(screen, f"ghost: {broken.false_read}")
    print_paragraph(screen, f"law: {_law_of_story()}")
    screen.print()
    screen.print(f"[bold]2. The same under the rules of truehit ({HEALING_RULES})[/bold]")
    screen.print(_words(healed.tokens))
    print_paragraph(screen, HEALED.format(hit=healed.hit_tokens, moved=healed.moved))
    screen.print()
    print_paragraph(screen, TABLE)
    screen.print()
    _print_harms(screen, harms)
    screen.print()
    screen.print(NEXT)


def _words(tokens: Sequence[int]) -> str:
    return "  " + " ".join(str(token) for token in tokens)


def _law_of_story() -> str:
    from truehit.proofs.harm.story import model_story
    from truehit.proofs.regress.judged import judged

    _, verdict = judged(model_story(), BROKEN_RULES)
    return verdict.of_law("provenance")[0].sentence


def _print_harms(screen: "Console", harms: Sequence["Harm"]) -> None:
    """A table of numbers, and under it each defect's own page and law."""
    from rich.text import Text

    from truehit.cli.output import print_indented, print_table
    from truehit.proofs.harm.cases import KINDS

    head = ("rule set", "harm", "logits moved", "other tokens", "lost tokens", "waiting")
    rows = [
        (
            harm.rules,
            KINDS[harm.rules].value,
            f"{harm.broken.answers.moved:.1e}",
            f"{harm.broken.answers.wrong} of {harm.broken.answers.compared}",
            str(max(harm.lost_tokens, 0)),
            ", ".join(harm.waits) or "-",
        )
        for harm in harms
    ]
    print_table(screen, head, rows, right=head[2:5])
    screen.print()
    for harm in harms:
        parts = [harm.broken.law]
        if harm.broken.false_read is not None:
            parts.append(f"ghost: {harm.broken.false_read}")
        for number, part in enumerate(parts):
            name = f"{harm.rules}: " if number == 0 else "  "
            print_indented(screen, Text(name, "bold"), part, indent="    ")


def _payload(
    alone: Sequence[int], broken: "Answer", healed: "Answer", harms: Sequence["Harm"]
) -> dict[str, Any]:
    from dataclasses import asdict

    from truehit.proofs.harm.cases import KINDS

    return {
        "alone": list(alone),
        "answers": {BROKEN_RULES: asdict(broken), HEALING_RULES: asdict(healed)},
        "harms": [
            {
                "rules": harm.rules,
                "harm": KINDS[harm.rules].value,
                "law": harm.broken.law,
                "false_read": harm.broken.false_read,
                "answers": asdict(harm.broken.answers),
                "lost_tokens": harm.lost_tokens,
                "waiting": list(harm.waits),
            }
            for harm in harms
        ],
    }

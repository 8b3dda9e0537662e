"""Find a run that breaks a law under a rule set and holds by default, and shrink it.

First the solver's own inputs, completed to scenarios; then drawn scenarios with the features
without which the defect cannot show, by seed, up to a bound."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from truehit.proofs.regress.judged import chunks_if_discriminating, first_of, judged
from truehit.proofs.regress.targets import Target
from truehit.proofs.shrink import is_valid, shrink
from truehit.proofs.sweep.draw import draw
from truehit.spec.scenario import Scenario

SEEDS = 4000
"""More than ten times what the rarest defect needs (scratch-left)."""
STARTS = 4
"""Shrinking is greedy: the best of several starts is kept."""


class NotFound(Exception):
    """No scenario was found within the bound."""


@dataclass(frozen=True, slots=True)
class Counterexample:
    """A minimal scenario with the sentence of the law it breaks."""

    rules: str
    law: str
    scenario: Scenario
    sentence: str
    chunks: int


def candidates(target: Target, completed: Iterable[Scenario]) -> Iterator[Scenario]:
    """Completed solver models first, then drawn scenarios."""
    yield from completed
    for seed in range(SEEDS):
        yield draw(seed, target.features)


def find(target: Target, completed: Iterable[Scenario] = ()) -> Counterexample:
    """The smallest counterexample found for a target; NotFound if there is none in the bound."""

    def chunks(scenario: Scenario) -> int | None:
        return chunks_if_discriminating(scenario, target)

    best: Counterexample | None = None
    started = 0
    for scenario in candidates(target, completed):
        if not is_valid(scenario) or chunks(scenario) is None:
            continue
        small = shrink(scenario, chunks)
        taken = chunks(small)
        violation = first_of(judged(small, target.rules)[1], target.law, target.saying)
        if taken is None or violation is None:
            continue
        found = Counterexample(target.rules, target.law, small, violation.sentence, taken)
        if best is None or size(found) < size(best):
            best = found
        started += 1
        if started == STARTS:
            break
    if best is None:
        raise NotFound(
            f"{target.rules}: no scenario among {SEEDS} breaks {target.law}; a wider search may"
        )
    return best


def size(found: Counterexample) -> tuple[int, int, int, int]:
    """Requests, chunks, tokens, block tokens."""
    scenario = found.scenario
    tokens = sum(r.prompt_tokens + r.output_tokens for r in scenario.requests)
    blocks = sum(g.block_tokens for g in scenario.geometry.groups)
    return (len(scenario.requests), found.chunks, tokens, blocks)

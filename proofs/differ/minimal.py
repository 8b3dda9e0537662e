"""The smallest run found that shows the same difference, under plain names."""

from dataclasses import dataclass, replace

from truehit.proofs.differ.compare import Comparison, Difference, Unequal, compare, kind_of
from truehit.proofs.differ.parts import Found
from truehit.proofs.differ.scale import scaled_down
from truehit.proofs.differ.subject import Subject
from truehit.proofs.regress.text import renamed
from truehit.proofs.shrink import is_valid, shrink
from truehit.spec.scenario import Scenario

TRIES = 4000
"""Ten times what most differences take: a run of golden size costs a tenth of a second a try."""
STEPS_AFTER = 8
"""While it shrinks a run may show the difference so many steps later than before."""


@dataclass(frozen=True, slots=True)
class Minimal:
    """`difference` is what `scenario` shows; `chunks`: prefill chunks of the oracle's run."""

    rules: str
    subject: str
    scenario: Scenario
    difference: Difference
    chunks: int

    @property
    def tokens(self) -> int:
        return sum(request.total_tokens for request in self.scenario.requests)


def minimal(found: Found, subject: Subject) -> Minimal:
    """Shrink a run that differs while the first difference is of the same kind.

    ValueError if it does not differ here: the subject is not the same from run to run."""
    wanted = kind_of(found.difference)

    def same(scenario: Scenario) -> Comparison | None:
        done = compare(scenario, found.rules, subject)
        if done.difference is None or kind_of(done.difference) != wanted:
            return None
        return done

    def chunks_if_same(scenario: Scenario) -> int | None:
        done = same(scenario)
        return None if done is None else done.chunks

    small = found.scenario
    if is_valid(small):
        short = _cut_short(found)
        smaller = (s for s in scaled_down(short) if is_valid(s) and same(s) is not None)
        small = shrink(next(smaller, short), chunks_if_same, TRIES)
    whole = replace(small, max_steps=found.scenario.max_steps, note="")
    for candidate in (renamed(whole, "difference"), whole, small):
        done = same(candidate)
        if done is not None and done.difference is not None:
            return Minimal(found.rules, subject.name, candidate, done.difference, done.chunks)
    raise ValueError(f"{found.name} differed once, and no longer does")


def _cut_short(found: Found) -> Scenario:
    """Nothing after the difference can have caused it, and every try costs its steps."""
    match found.difference:
        case Unequal(step=step):
            steps = min(found.scenario.max_steps, step + STEPS_AFTER)
            return replace(found.scenario, max_steps=steps)
        case _:
            return found.scenario

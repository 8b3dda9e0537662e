"""Find the smallest run that shows the harm of each historic defect, and keep it as data.

    python -m truehit.proofs.harm.find [RULES ...]

Drawn scenarios with the features without which the defect cannot show, by seed; the first that
breaks its law, holds by default and shows the wanted harm on the model is shrunk while it does."""

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace

from truehit.proofs.harm.cases import DATA, KINDS, Kind
from truehit.proofs.harm.measure import (
    NOISE,
    Harm,
    computed_tokens,
    finished_steps,
    late,
    measure,
)
from truehit.proofs.regress.judged import chunks_if_discriminating, first_of, judged
from truehit.proofs.regress.targets import TARGETS, Target, target_of
from truehit.proofs.regress.text import renamed, short_yaml
from truehit.proofs.shrink import is_valid, shrink
from truehit.proofs.sweep.draw import draw
from truehit.proofs.sweep.features import Feature
from truehit.reference.ruleset import DEFAULT
from truehit.spec.scenario import Pressure, Scenario

SEEDS = 2000
MOVED = 0.1
PRESSED_STEPS = 3
ALSO = {"schedule-time-keys": frozenset({Feature.FAILED_STEP})}
"""What brings the harm out, beyond what breaks the law: a key is read whose write never ran."""


def shows(harm: Harm, kind: Kind) -> bool:
    """The harm is of the kind, and the default does none."""
    clean = harm.default.false_read is None and harm.default.answers.moved < NOISE
    match kind:
        case Kind.GARBAGE:
            return clean and harm.is_garbage and harm.broken.answers.moved > MOVED
        case Kind.LOST_HITS:
            return clean and harm.lost_tokens > 0
        case Kind.WAITING:
            return clean and bool(harm.waits)
        case Kind.TOO_FAR:
            return clean and harm.lost_tokens < 0


def promises(scenario: Scenario, rules: str, kind: Kind) -> bool:
    """The same by the events alone, which cost a hundredth of a model's run."""
    broken, verdict = judged(scenario, rules)
    default, _ = judged(scenario, DEFAULT.name)
    match kind:
        case Kind.GARBAGE:
            return bool(verdict.of_law("neutrality"))
        case Kind.LOST_HITS:
            return computed_tokens(broken.events) > computed_tokens(default.events)
        case Kind.WAITING:
            return bool(late(finished_steps(broken.events), finished_steps(default.events)))
        case Kind.TOO_FAR:
            return computed_tokens(broken.events) < computed_tokens(default.events)


def candidates(target: Target, kind: Kind) -> Iterator[Scenario]:
    """Drawn scenarios. To wait, somebody has to be one block short in the step in which the law is
    broken: there the pool is pressed to every size."""
    features = target.features | ALSO.get(target.rules, frozenset())
    for seed in range(SEEDS):
        scenario = draw(seed, features)
        if kind is not Kind.WAITING or not is_valid(scenario):
            yield scenario
            continue
        violation = first_of(judged(scenario, target.rules)[1], target.law)
        if violation is None:
            continue
        for blocks in range(1, scenario.geometry.pool_blocks):
            pressure = Pressure(violation.step, blocks, PRESSED_STEPS)
            yield replace(scenario, actions=(*scenario.actions, pressure))


def find(target: Target, kind: Kind) -> Scenario:
    """LookupError: none of the drawn scenarios shows it."""

    def chunks(scenario: Scenario) -> int | None:
        taken = chunks_if_discriminating(scenario, target)
        return taken if taken and promises(scenario, target.rules, kind) else None

    for scenario in candidates(target, kind):
        if not is_valid(scenario) or chunks(scenario) is None:
            continue
        for small in (renamed(shrink(scenario, chunks), target.rules), scenario):
            if chunks(small) is not None and shows(measure(small, target.rules), kind):
                return small
    raise LookupError(f"{target.rules}: no scenario among {SEEDS} shows {kind.value}")


def write(rules: str, say: Callable[[str], None]) -> None:
    """Find the run of one rule set and keep it."""
    kind = KINDS[rules]
    scenario = find(target_of(rules), kind)
    (DATA / f"{rules}.yaml").write_text(short_yaml(scenario))
    tokens = sum(request.total_tokens for request in scenario.requests)
    say(f"{rules}: {kind.value}, {len(scenario.requests)} requests, {tokens} tokens")


if __name__ == "__main__":
    for name in sys.argv[1:] or [target.rules for target in TARGETS]:
        write(name, print)

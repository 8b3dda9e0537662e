"""Sweep: drawn scenarios under a rule set, judged by all laws, counted.

Bounds: blocks of at most 16 tokens and prompts of at most 90, because every rule is about
remainders of a block; six features a run, because pairs are then covered by 81 sets. `truehit sweep
--runs` is wider."""

from collections import Counter
from dataclasses import dataclass
from itertools import combinations

from truehit.proofs.regress.judged import first_of, judged
from truehit.proofs.regress.targets import TARGETS
from truehit.proofs.sweep.draw import draw
from truehit.proofs.sweep.features import Feature, all_pairs, covering_sets
from truehit.reference.ruleset import DEFAULT

SET_SIZE = 6
COVERING_SEED = 1


@dataclass(frozen=True, slots=True)
class Broken:
    """A drawn scenario on which a law was broken: redraw it by seed and features."""

    seed: int
    features: tuple[str, ...]
    law: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Sweep:
    """Counts of a sweep. `laws`: runs in which a law was broken; `shown`: runs that show the rule
    set's own defect, in the words of its target; `first`: the first few broken runs."""

    rules: str
    runs: int
    steps: int
    events: int
    open_runs: int
    laws: tuple[tuple[str, int], ...]
    shown: int
    pairs: frozenset[frozenset[str]]
    first: tuple[Broken, ...]


def feature_sets(rules: str) -> list[frozenset[Feature]]:
    """By default the sets that cover all pairs; for a historic set also what its defect needs."""
    sets = covering_sets(COVERING_SEED, SET_SIZE)
    if rules == DEFAULT.name:
        return sets
    targeted = [target.features for target in TARGETS if target.rules == rules]
    return [chosen for pair in zip(sets, targeted * len(sets), strict=False) for chosen in pair]


def sweep(rules: str, first_seed: int, runs: int) -> Sweep:
    """Draw and judge `runs` scenarios from `first_seed` on."""
    sets = feature_sets(rules)
    laws: Counter[str] = Counter()
    pairs: set[frozenset[str]] = set()
    first: list[Broken] = []
    steps = events = opened = shown = 0
    targets = [target for target in TARGETS if target.rules == rules]
    for seed in range(first_seed, first_seed + runs):
        features = sets[seed % len(sets)]
        result, verdict = judged(draw(seed, features), rules)
        steps += result.steps
        events += len(result.events)
        opened += 1 if verdict.open_requests else 0
        pairs.update(frozenset(pair) for pair in combinations(sorted(features), 2))
        by_law = {violation.law: violation for violation in reversed(verdict.violations)}
        laws.update(by_law.keys())
        shown += any(first_of(verdict, t.law, t.saying) is not None for t in targets)
        for law, violation in by_law.items():
            if len(first) < 5:
                first.append(Broken(seed, tuple(sorted(features)), law, violation.sentence))
    ranked = tuple(laws.most_common())
    return Sweep(rules, runs, steps, events, opened, ranked, shown, frozenset(pairs), tuple(first))


def merged(parts: list[Sweep]) -> Sweep:
    """The sum of sweeps under one rule set."""
    laws: Counter[str] = Counter()
    for part in parts:
        laws.update(dict(part.laws))
    return Sweep(
        rules=parts[0].rules,
        runs=sum(p.runs for p in parts),
        steps=sum(p.steps for p in parts),
        events=sum(p.events for p in parts),
        open_runs=sum(p.open_runs for p in parts),
        laws=tuple(laws.most_common()),
        shown=sum(p.shown for p in parts),
        pairs=frozenset().union(*(p.pairs for p in parts)),
        first=tuple(broken for p in parts for broken in p.first)[:5],
    )


def missing_pairs(done: Sweep) -> list[tuple[str, str]]:
    """Compatible pairs of features that no run switched on together."""
    wanted = {frozenset(str(f) for f in pair) for pair in all_pairs()}
    have = {frozenset(str(f) for f in pair) for pair in done.pairs}
    left = sorted(tuple(sorted(pair)) for pair in wanted - have)
    return [(a, b) for a, b in left]

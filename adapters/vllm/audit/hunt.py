"""One worker of the search: draw, run, judge; a new symptom is made small and told from the others.

What was found is masked in most of the runs that follow, by its repair or by leaving out the
feature it needs: otherwise the commonest defect is all one ever sees. Everything follows from the
seed and the number of runs; the clock only ends the search.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from random import Random
from time import monotonic

from truehit.adapters.vllm.audit.draw import Supported, can_start, draw
from truehit.adapters.vllm.audit.examine import Run, has_shape, smallest, trimmed
from truehit.adapters.vllm.audit.features import features, pairs
from truehit.adapters.vllm.audit.kinds import Finding, Kind, kind_of, plainer, worst
from truehit.adapters.vllm.audit.mutate import mutate
from truehit.adapters.vllm.audit.reading import Symptom, is_judged, steps_of, symptoms
from truehit.adapters.vllm.audit.toggles import Toggle, Trial, toggles
from truehit.adapters.vllm.driver import Driven, Driver
from truehit.spec.laws.base import ViolationClass
from truehit.spec.scenario import Scenario
from truehit.spec.trace import Event

MUTATED = 0.35
UNMASKED = 0.25
CORPUS_LIMIT = 200
LOOKS = 6
"""How often a symptom of one shape is looked into under one set of masks."""


@dataclass(slots=True)
class Progress:
    """What a worker did. `seen`: features met, with the runs that met them."""

    runs: int = 0
    steps: int = 0
    seen: Counter[str] = field(default_factory=Counter)
    broken: Counter[str] = field(default_factory=Counter)


class Hunt:
    """The search of one worker. `findings` grows while it runs."""

    def __init__(
        self, driver: Driver, seed: int, worker: int, repairs: tuple[str, ...], supported: Supported
    ) -> None:
        self._driver = driver
        self._seed = f"{seed}:{worker}"
        self._worker = worker
        self._supported = supported
        self._toggles = toggles(repairs)
        self._repairs = repairs
        self._corpus: list[Scenario] = []
        self._pairs: set[tuple[str, str]] = set()
        self._looks: Counter[tuple[str, str, frozenset[str]]] = Counter()
        self._started = monotonic()
        self.findings: dict[Kind, Finding] = {}
        self.progress = Progress()

    def warm_up(self) -> None:
        """Start the engine's process; its imports are no part of the search."""
        self._driver.run(draw(Random(self._seed), self._supported))
        self._started = monotonic()

    def run(self) -> tuple[Finding, ...]:
        """One scenario; the findings that are new with it."""
        self.progress.runs += 1
        random = Random(f"{self._seed}:{self.progress.runs}")
        trial = self._masked(random, self._drawn(random))
        trace, found = self._observe(trial)
        self._remember(trial, trace)
        for symptom in found:
            self.progress.broken[symptom.law] += 1
        return tuple(self._look_into(trial, worst(found)))

    def _drawn(self, random: Random) -> Scenario:
        if self._corpus and random.random() < MUTATED:
            return mutate(random, random.choice(self._corpus), self._supported)
        return draw(random, self._supported)

    def _masked(self, random: Random, scenario: Scenario) -> Trial:
        """The findings so far are switched off, all of them or each by chance."""
        trial = Trial(scenario)
        if random.random() < UNMASKED:
            return trial
        for toggle in self._masks():
            if toggle.is_repair or random.random() < 0.5:
                masked = toggle.apply(trial)
                if can_start(masked.scenario):
                    trial = masked
        return trial

    def _masks(self) -> tuple[Toggle, ...]:
        causes = {kind.cause for kind in self.findings}
        return tuple(toggle for toggle in self._toggles if toggle.name in causes)

    def _drive(self, trial: Trial) -> Driven:
        driven = self._driver.run(trial.scenario, {"repairs": sorted(trial.repairs)})
        self.progress.steps += steps_of(driven.trace)
        return driven

    def _observe(self, trial: Trial) -> tuple[tuple[Event, ...], tuple[Symptom, ...]]:
        driven = self._drive(trial)
        return driven.trace, symptoms(driven)

    def _remember(self, trial: Trial, trace: tuple[Event, ...]) -> None:
        names = features(trial.scenario, trace)
        self.progress.seen.update(names)
        fresh = pairs(names) - self._pairs
        if fresh:
            self._pairs |= fresh
            self._corpus.append(trial.scenario)
            del self._corpus[:-CORPUS_LIMIT]

    def _look_into(self, trial: Trial, found: tuple[Symptom, ...]) -> Iterator[Finding]:
        """Trim first: much that is in a large scenario heals a symptom by accident."""
        for symptom in found:
            looks = (symptom.violation_class, symptom.shape, trial.repairs)
            if self._looks[looks] >= LOOKS:
                continue
            self._looks[looks] += 1
            scenario = trimmed(trial.scenario, symptom, self._runner(trial.repairs))
            small = Trial(scenario, trial.repairs)
            finding = self._finding(small, symptom)
            first = self.findings.get(finding.kind)
            if first is None:
                yield finding
            self.findings[finding.kind] = plainer(first, finding)

    def _runner(self, repairs: frozenset[str]) -> Run:
        return lambda scenario: self._observe(Trial(scenario, repairs))

    def _finding(self, trial: Trial, symptom: Symptom) -> Finding:
        heals = self.heals(trial, symptom)
        seconds = monotonic() - self._started
        kind = kind_of(symptom, heals)
        names = tuple(toggle.name for toggle in heals)
        return Finding(kind, symptom, trial, names, self.progress.runs, self._worker, seconds)

    def made_small(self, first: Finding) -> Finding | None:
        """A finding by its smallest scenario, from which its kind is told again; None if it does
        not show in this process. Policies stay as they are."""
        if first.kind.violation_class is ViolationClass.POLICY:
            return first
        repairs, symptom = first.trial.repairs, first.symptom
        if self._shown(first.trial, symptom) is None:
            return None
        scenario = smallest(first.trial.scenario, symptom, self._runner(repairs))
        small = Trial(scenario, repairs)
        shown = self._shown(small, symptom)
        if shown is None:
            return None
        heals = self.heals(small, shown)
        names = tuple(toggle.name for toggle in heals)
        return replace(first, kind=kind_of(shown, heals), symptom=shown, trial=small, heals=names)

    def _shown(self, trial: Trial, symptom: Symptom) -> Symptom | None:
        """The symptom of this shape and class that a run shows."""
        shape, class_ = symptom.shape, symptom.violation_class
        found = self._observe(trial)[1]
        return next((one for one in found if has_shape((one,), shape, class_)), None)

    def heals(self, trial: Trial, symptom: Symptom) -> tuple[Toggle, ...]:
        """Every toggle that alone makes the symptom vanish."""
        return tuple(toggle for toggle in self._toggles if self._heals(toggle, trial, symptom))

    def _heals(self, toggle: Toggle, trial: Trial, symptom: Symptom) -> bool:
        changed = toggle.apply(trial)
        if changed == trial or not can_start(changed.scenario):
            return False
        driven = self._drive(changed)
        return is_judged(driven) and not any(
            one.law == symptom.law and one.violation_class == symptom.violation_class
            for one in symptoms(driven)
        )

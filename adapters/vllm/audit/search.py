"""The search over all workers: the same seed and number of scenarios give the same findings.

Worker w of n takes every n-th scenario of the budget with its own stream of chance, so nothing
depends on which worker is faster. A budget of minutes ends by the clock, and says how many
scenarios it reached.
"""

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from time import monotonic

from truehit.adapters.vllm.audit.draw import Supported
from truehit.adapters.vllm.audit.hunt import Hunt
from truehit.adapters.vllm.audit.kinds import SEVERITY, Finding, Kind
from truehit.adapters.vllm.driver import Driver
from truehit.adapters.vllm.environment import Environment


@dataclass(frozen=True, slots=True)
class Scenarios:
    """So many scenarios, whatever the time."""

    count: int


@dataclass(frozen=True, slots=True)
class Minutes:
    """As many scenarios as the time allows. Making findings small afterwards is not counted."""

    minutes: float


Budget = Scenarios | Minutes


@dataclass(frozen=True, slots=True)
class Part:
    """What one worker brings home."""

    findings: tuple[Finding, ...]
    runs: int
    steps: int
    looked: int
    seen: Counter[str]
    broken: Counter[str]


@dataclass(frozen=True, slots=True)
class Searched:
    """What all workers found together, the gravest kinds first."""

    findings: tuple[Finding, ...]
    runs: int
    steps: int
    seen: Counter[str]
    broken: Counter[str]


def search(
    environment: Environment,
    budget: Budget,
    seed: int,
    workers: int,
    repairs: tuple[str, ...],
    supported: Supported,
    progress: Callable[[str], None],
) -> Searched:
    """Hunt in `workers` processes, each with a driver of its own."""
    with ProcessPoolExecutor(workers) as pool:
        futures = [
            pool.submit(_hunt, environment, budget, seed, w, workers, repairs, supported)
            for w in range(workers)
        ]
        parts = []
        for future in futures:
            part = future.result()
            parts.append(part)
            progress(f"{part.runs} scenarios, {part.steps} steps, {len(part.findings)} findings")
    return merged(parts)


def merged(parts: list[Part]) -> Searched:
    """One finding a kind, the first one by the number of its scenario."""
    found: dict[Kind, Finding] = {}
    everything = [finding for part in parts for finding in part.findings]
    for finding in sorted(everything, key=lambda f: (f.runs, f.worker)):
        found.setdefault(finding.kind, finding)
    ordered = sorted(
        found.values(), key=lambda f: (SEVERITY.index(f.kind.violation_class), f.runs, f.worker)
    )
    return Searched(
        tuple(ordered),
        sum(part.runs for part in parts),
        sum(part.steps for part in parts),
        sum((part.seen for part in parts), Counter[str]()),
        sum((part.broken for part in parts), Counter[str]()),
    )


def _hunt(
    environment: Environment,
    budget: Budget,
    seed: int,
    worker: int,
    workers: int,
    repairs: tuple[str, ...],
    supported: Supported,
) -> Part:
    with Driver(environment) as driver:
        hunt = Hunt(driver, seed, worker, repairs, supported)
        match budget:
            case Scenarios(count):
                for _ in range(worker, count, workers):
                    hunt.run()
            case Minutes(minutes):
                hunt.warm_up()
                ends = monotonic() + 60 * minutes
                while monotonic() < ends:
                    hunt.run()
        findings = hunt.finish()
    done = hunt.progress
    return Part(findings, done.runs, done.steps, done.looked, done.seen, done.broken)

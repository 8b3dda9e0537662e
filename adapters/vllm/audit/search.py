"""The search over all workers: the same seed and number of scenarios give the same findings.

Worker w of n takes every n-th scenario of the budget with its own stream of chance, so nothing
depends on which worker is faster. A budget of minutes ends by the clock, and says how many
scenarios it reached.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from time import monotonic

from truehit.adapters.vllm.audit.draw import Supported
from truehit.adapters.vllm.audit.hunt import Hunt
from truehit.adapters.vllm.audit.kinds import SEVERITY, Finding, Kind, plainer
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
        parts = [future.result() for future in futures]
        whole = merged(parts)
        progress(f"{whole.runs} scenarios, {whole.steps} steps; making the findings small ...")
        shares = [whole.findings[w::workers] for w in range(workers)]
        smaller = [
            pool.submit(_make_small, environment, share, repairs, supported) for share in shares
        ]
        small = [finding for future in smaller for finding in future.result()]
        lost = len(whole.findings) - len(small)
        if lost:
            progress(f"{lost} of them did not show again in a fresh process, and are left out")
    return replace(whole, findings=distinct(small))


def distinct(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """One finding a kind, found when the first one was; the gravest first. What one repair heals is
    one mechanism: it is shown by the gravest."""
    found: dict[Kind | str, Finding] = {}
    for finding in sorted(findings, key=_gravest):
        key = finding.kind.cause if finding.kind.is_repair else finding.kind
        first = found.get(key)
        if first is None or first.kind == finding.kind:
            found[key] = plainer(first, finding)
    return tuple(sorted(found.values(), key=_gravest))


def _gravest(finding: Finding) -> tuple[int, int, int]:
    return SEVERITY.index(finding.kind.violation_class), finding.runs, finding.worker


def merged(parts: list[Part]) -> Searched:
    """What all workers brought home."""
    return Searched(
        distinct(finding for part in parts for finding in part.findings),
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
        findings = tuple(hunt.findings.values())
    done = hunt.progress
    return Part(findings, done.runs, done.steps, done.seen, done.broken)


def _make_small(
    environment: Environment,
    findings: tuple[Finding, ...],
    repairs: tuple[str, ...],
    supported: Supported,
) -> list[Finding]:
    if not findings:
        return []
    with Driver(environment) as driver:
        hunt = Hunt(driver, 0, 0, repairs, supported)
        made = (hunt.made_small(finding) for finding in findings)
        return [finding for finding in made if finding is not None]

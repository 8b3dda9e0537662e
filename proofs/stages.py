"""The stages of `truehit verify`: independent pieces of work, run side by side, each with a
name."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from joblib import Parallel, delayed

from truehit.proofs.agreement import AGREEMENTS, agree
from truehit.proofs.differ.parts import DrawnPart, GoldenPart, Part, compare_part
from truehit.proofs.differ.run import known_parts
from truehit.proofs.differ.sources import golden_entries
from truehit.proofs.differ.subject import ENGINE
from truehit.proofs.golden import run_golden
from truehit.proofs.obligations.catalogue import BY_NAME
from truehit.proofs.places import regressions
from truehit.proofs.prove import prove_one
from truehit.proofs.regress.keep import keep
from truehit.proofs.regress.targets import TARGETS
from truehit.proofs.releases import RELEASES, judge_release
from truehit.proofs.sweep.run import sweep
from truehit.reference.ruleset import DEFAULT, HISTORIC

DEFAULT_RUNS = 6000
"""Every compatible pair of features meets at least 70 times."""
HISTORIC_RUNS = 300
"""The rarest defect shows in the first 100 of its own draws; three times that is the margin."""
SLICE_RUNS = 500
DIFFERENTIAL_RUNS = 175
"""About 20,000 steps: 25 runs more than it takes until every feature gave every law something to
judge."""
DIFFERENTIAL_SLICE = 35
GOLDEN_SHARE = 2
"""Every second golden entry: one of the others makes 2,251 runs that differ in a length only, and
`truehit diff` has all of them."""


@dataclass(frozen=True, slots=True)
class Stage:
    """`run(*arguments)` gives the payload of `kind`."""

    kind: str
    name: str
    run: Callable[..., Any]
    arguments: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Done:
    """The payload of a stage."""

    kind: str
    name: str
    payload: Any


def stages() -> list[Stage]:
    """All stages, the long ones first."""
    work = [Stage("obligation", name, prove_one, (name,)) for name in BY_NAME]
    work += [Stage("release", release, judge_release, (release,)) for release in RELEASES]
    work.append(Stage("golden", "golden numbers", run_golden, ()))
    for first in range(0, DEFAULT_RUNS, SLICE_RUNS):
        name = f"sweep from {first}"
        work.append(Stage("sweep", name, sweep, (DEFAULT.name, first, SLICE_RUNS)))
    for rules in HISTORIC:
        work.append(Stage("sweep", f"sweep {rules.name}", sweep, (rules.name, 0, HISTORIC_RUNS)))
    work += differential_stages()
    folder = regressions()
    work += [Stage("regression", t.rules, keep, (t.rules, folder)) for t in TARGETS]
    work += [Stage("agreement", name, agree, (name,)) for name in AGREEMENTS]
    return work


def differential_stages() -> list[Stage]:
    """The engine held to the oracle, with a fixed budget."""
    listed = [part for part in known_parts() if not isinstance(part, GoldenPart)]
    golden = GoldenPart(golden_entries()[::GOLDEN_SHARE])
    seeds = range(0, DIFFERENTIAL_RUNS, DIFFERENTIAL_SLICE)
    drawn = [DrawnPart(first, DIFFERENTIAL_SLICE, None) for first in seeds]
    parts: list[Part] = [golden, *listed, *drawn]
    return [
        Stage("differential", f"diff {part.source}", compare_part, (part, ENGINE)) for part in parts
    ]


def _run(stage: Stage) -> Done:
    """A stage that raises hands its exception on: one failure must not hide the other answers."""
    try:
        payload = stage.run(*stage.arguments)
    except Exception as error:
        payload = error
    return Done(stage.kind, stage.name, payload)


def run_stages(work: list[Stage], jobs: int) -> Iterator[Done]:
    """Results as they come."""
    parallel = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)
    yield from parallel(delayed(_run)(stage) for stage in work)

"""One run of the gate: the control first, then every kernel, with every Triton asked for.

The first Triton judges. The others are measured beside it, and what they show is told.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from truehit.kernels.gate.judge import (
    BLOCKING,
    Finding,
    Verdict,
    compare,
    is_refuted_by_spills,
    judge,
    worst,
)
from truehit.kernels.gate.measurement import Found, Job, Lost, Problem, Taken
from truehit.kernels.gate.registers import Registers
from truehit.kernels.gate.toolchain import Toolchain
from truehit.kernels.gate.worker import Benches, started

CONTROLS = tuple(
    Job("truehit.kernels.gate.spiller", "spiller", "fp32", architecture)
    for architecture in sorted(BLOCKING)
)
Each = TypeVar("Each", Job, Problem)


class NoKernel(Exception):
    """Nothing would be judged; one line."""


@dataclass(frozen=True, slots=True)
class Measurements:
    """Of one Triton. `whole`: of every kernel of the package."""

    triton: str
    controls: tuple[Taken, ...]
    kernels: tuple[Taken, ...]
    problems: tuple[Problem, ...]
    whole: bool


@dataclass(frozen=True, slots=True)
class Judged:
    """One compilation, what was recorded of it, and what is wrong with it."""

    taken: Taken
    recorded_registers: int | None
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """A judged run. `beside`: of the other Tritons."""

    measurements: Measurements
    judged: tuple[Judged, ...]
    beside: tuple[Measurements, ...]
    verdict: Verdict


def measured(
    toolchain: Toolchain, only: Sequence[str], told: Callable[[str], None]
) -> Measurements:
    """Compile the control and the kernels.

    Raises:
        NoKernel: none is there, or none is named so.
        ChildLost: no child starts.
    """
    with started(toolchain) as benches:
        found = benches.found()
        jobs = chosen(found.jobs, only, lambda job: (job.kernel, job.name, _last(job.module)))
        problems = chosen(found.problems, only, lambda problem: (_last(problem.module),))
        if not jobs and not problems:
            raise NoKernel(_nothing(found, only))
        controls = tuple(benches.take(CONTROLS))
        return Measurements(
            triton=found.triton,
            controls=controls,
            kernels=tuple(_told(benches, jobs, told)),
            problems=problems,
            whole=not only,
        )


def chosen(
    each: Iterable[Each], only: Sequence[str], names: Callable[[Each], tuple[str, ...]]
) -> tuple[Each, ...]:
    """Those with one of the names; all where no name is given."""
    return tuple(one for one in each if not only or set(only) & set(names(one)))


def judged(measurements: Measurements, beside: Iterable[Measurements], table: Registers) -> Outcome:
    """Every verdict of a run, and their worst."""
    kernels = []
    for taken in measurements.kernels:
        recorded = table.of(measurements.triton, taken.job)
        kernels.append(Judged(taken, recorded, judge(taken) + compare(taken, recorded)))
    verdicts = [
        *(finding.verdict for one in kernels for finding in one.findings if finding.blocks),
        *(Verdict.REFUTED for _ in measurements.problems),
        *(control_verdict(taken) for taken in measurements.controls),
    ]
    return Outcome(measurements, tuple(kernels), tuple(beside), worst(verdicts))


def control_verdict(taken: Taken) -> Verdict:
    """A control that passes refutes the gate; one that was lost leaves it unknown."""
    if is_refuted_by_spills(taken):
        return Verdict.HOLDS
    return Verdict.UNKNOWN if isinstance(taken.answer, Lost) else Verdict.REFUTED


def _told(benches: Benches, jobs: Sequence[Job], told: Callable[[str], None]) -> Iterable[Taken]:
    for number, taken in enumerate(benches.take(jobs), start=1):
        told(f"{number}/{len(jobs)} {taken.job.name} {taken.job.architecture}")
        yield taken


def _last(module: str) -> str:
    return module.rpartition(".")[2]


def _nothing(found: Found, only: Sequence[str]) -> str:
    names = ", ".join(sorted({job.kernel for job in found.jobs}))
    if not names:
        return "there is no kernel to judge"
    return f"no kernel is named {' or '.join(only)}; there are {names}"

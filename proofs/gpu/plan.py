"""What a run does and until when: every item has a name before anything is measured, so that what
was not measured can be told.

Slices are ends, not lengths: a section that is done early gives its time to the next ones.
Neutrality shares its time with compiling and correctness, and is over before anything is timed."""

from collections.abc import Mapping
from dataclasses import dataclass

from truehit.proofs.gpu.record import Section
from truehit.proofs.gpu.workload import WORKLOADS, Kind, Workload

ENDS: Mapping[Section, float] = {
    Section.CEILINGS: 0.10,
    Section.PRECOMPILE: 0.30,
    Section.CORRECTNESS: 0.57,
    Section.NEUTRALITY: 0.57,
    Section.TIMINGS: 0.96,
}
"""Of the limit. The rest is for ending processes, judging and writing."""
ENVIRONMENT = "environment"
COPY_RATE = "copy rate"
MATMUL = "matmul 8192 bf16"
STORY = "story"
BROKEN_STORY = "story under aligned-below-last"
DRAWN_SEEDS = (0, 2, 4, 6, 8, 10, 12, 16)
HISTORIC_SEEDS = (9,)
"""Drawn runs under a historic rule set that read false pages."""


FIRST_LAUNCHES = tuple(
    Workload(kind, size, is_peer=is_peer)
    for kind, size in ((Kind.PREFILL, 2048), (Kind.DECODE, 1), (Kind.VERIFY, 1))
    for is_peer in (False, True)
)
"""So that flash-linear-attention compiles and tunes while our kernels compile."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Items by section. `uncased`: kernels that no case runs, told as unobserved. `optional`: items
    that may be missing without making the run unknown."""

    items: Mapping[Section, tuple[str, ...]]
    optional: frozenset[str]
    uncased: tuple[str, ...]


def plan(compilations: tuple[str, ...], cases: tuple[str, ...], uncased: tuple[str, ...]) -> Plan:
    """The whole run."""
    return Plan(
        items={
            Section.CEILINGS: (ENVIRONMENT, COPY_RATE, MATMUL),
            Section.PRECOMPILE: (*map(first_launch, FIRST_LAUNCHES), *compilations),
            Section.CORRECTNESS: cases,
            Section.NEUTRALITY: neutrality_items(),
            Section.TIMINGS: tuple(workload.name for workload in WORKLOADS),
        },
        optional=frozenset(
            {
                *map(first_launch, FIRST_LAUNCHES),
                *(workload.name for workload in WORKLOADS if workload.is_peer),
            }
        ),
        uncased=uncased,
    )


def first_launch(workload: Workload) -> str:
    """The item of precompiling that runs a workload once."""
    return f"first {workload.name}"


def neutrality_items() -> tuple[str, ...]:
    """The story first: it is the shortest."""
    drawn = tuple(f"drawn {seed}" for seed in (*DRAWN_SEEDS, *HISTORIC_SEEDS))
    return (STORY, BROKEN_STORY, *drawn)


def end_of(section: Section, limit_seconds: float) -> float:
    """Seconds from the start of the run."""
    return ENDS[section] * limit_seconds


def workload_of(name: str) -> Workload:
    """Of a planned timing."""
    return next(workload for workload in WORKLOADS if workload.name == name)

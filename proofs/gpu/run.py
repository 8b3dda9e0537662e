"""The sections of a run in their order, each until its deadline.

The model runs beside compiling and correctness, where nothing is timed; when anything is timed,
nothing else runs."""

import threading
from collections.abc import Iterable
from dataclasses import dataclass

from truehit.proofs.gpu.measuring import Job
from truehit.proofs.gpu.place import Place
from truehit.proofs.gpu.plan import FIRST_LAUNCHES, Plan, end_of, first_launch
from truehit.proofs.gpu.record import Record, Section
from truehit.proofs.gpu.supervise import supervise


@dataclass(frozen=True, slots=True)
class Setup:
    """`started`: on the monotonic clock; all deadlines count from there. `workers`: compilers."""

    place: Place
    capability: int
    seed: int
    repeats: int
    workers: int
    started: float
    limit_seconds: float


def run(plan: Plan, setup: Setup) -> list[Record]:
    """A record for every planned item, before the limit."""
    records: list[Record] = []
    _section(plan, setup, records, Section.CEILINGS)
    beside = (plan, setup, records, Section.NEUTRALITY)
    model = threading.Thread(target=_section, args=beside, daemon=True)
    model.start()
    _precompile(plan, setup, records)
    _section(plan, setup, records, Section.CORRECTNESS)
    model.join()
    _section(plan, setup, records, Section.TIMINGS)
    return records


def _section(plan: Plan, setup: Setup, records: list[Record], section: Section) -> None:
    _job(setup, section, plan.items[section], records)


def _job(setup: Setup, section: Section, items: Iterable[str], records: list[Record]) -> None:
    job = Job(section, tuple(items), setup.place, setup.seed, setup.repeats, setup.capability)
    until = setup.started + end_of(section, setup.limit_seconds)
    supervise(job, until, records.append)


def _precompile(plan: Plan, setup: Setup, records: list[Record]) -> None:
    """Launches in one process, compilations dealt to the others."""
    firsts = set(map(first_launch, FIRST_LAUNCHES))
    items = plan.items[Section.PRECOMPILE]
    rest = [item for item in items if item not in firsts]
    shares = [
        [item for item in items if item in firsts],
        *(rest[worker :: setup.workers] for worker in range(setup.workers)),
    ]
    threads = [
        threading.Thread(target=_job, args=(setup, Section.PRECOMPILE, share, records), daemon=True)
        for share in shares
        if share
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def workers_of(cores: int) -> int:
    """Two cores are left for the launches and the model."""
    return min(max(cores - 2, 1), 14)

"""The record of the benchmark, `build/bench-control.json`, and how its figures come about."""

from statistics import median
from typing import Any

from pydantic import BaseModel, ConfigDict

from truehit.adapters.control_bench.rounds import Rounds
from truehit.adapters.control_bench.works import FLAT_GOAL, Output, Work
from truehit.adapters.vllm.inside.control_peer.clock import Measured

# The two sides may reach the first measured step with a step of prefill between them.
EQUAL_WITHIN = 0.03
COLLECTOR = (
    "both sides: collected and frozen before each round, off while the clock runs; its pauses, "
    "which fall on the side that makes more objects, are in neither figure"
)
CLOCK = "ours_us, peer_us and ratio: CPU time of the working thread, median of the rounds"


class Model(BaseModel):
    """Closed: a field that is not in the schema is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Row(Model):
    """A workload in one form of output. `*_us`: one operation. `*_counts`: what one operation did
    on the average of all rounds; `equal_work`: they differ by at most 3 in 100. `lowest_ratio`: of
    the single rounds."""

    work: str
    output: Output
    ours_us: float
    peer_us: float
    ratio: float
    goal: float | None
    reached: bool | None
    lowest_ratio: float
    ours_wall_us: float
    peer_wall_us: float
    wall_ratio: float
    operations: int
    ours_counts: dict[str, float]
    peer_counts: dict[str, float]
    equal_work: bool


class Flat(Model):
    """How much dearer a step of our engine is in the worst pool than in the best."""

    output: Output
    fastest_us: float
    slowest_us: float
    ratio: float
    goal: float
    reached: bool


class Record(Model):
    """Everything that was measured, and with which settings."""

    peer: str
    python: str
    rounds: int
    clock: str
    collector: str
    rows: list[Row]
    flat: list[Flat]
    settings: dict[str, dict[str, Any]]


def rows_of(work: Work, rounds: Rounds) -> list[Row]:
    """A row for each form of output."""
    return [_row(work, output, rounds) for output in rounds.ours]


def flat_of(works: list[Work], rows: list[Row]) -> list[Flat]:
    """Whether the pool's size can be seen in a step, by output."""
    names = {work.workload.name for work in works if work.flat}
    found = []
    for output in Output:
        times = [row.ours_us for row in rows if row.output is output and row.work in names]
        # One pool alone says nothing about another.
        if len(times) > 1:
            ratio = max(times) / min(times)
            found.append(
                Flat(
                    output=output,
                    fastest_us=min(times),
                    slowest_us=max(times),
                    ratio=ratio,
                    goal=FLAT_GOAL,
                    reached=ratio <= FLAT_GOAL,
                )
            )
    return found


def _row(work: Work, output: Output, rounds: Rounds) -> Row:
    ours, peer = rounds.ours[output], rounds.peer
    ours_us, peer_us = (median(m.cpu_us / m.operations for m in side) for side in (ours, peer))
    walls = [median(m.wall_us / m.operations for m in side) for side in (ours, peer)]
    ratios = [
        (p.cpu_us / p.operations) / (o.cpu_us / o.operations)
        for o, p in zip(ours, peer, strict=True)
    ]
    goal = work.goals.get(output)
    counts = [_counts(side) for side in (ours, peer)]
    return Row(
        work=work.workload.name,
        output=output,
        ours_us=ours_us,
        peer_us=peer_us,
        ratio=peer_us / ours_us,
        goal=goal,
        reached=None if goal is None else peer_us / ours_us >= goal,
        lowest_ratio=min(ratios),
        ours_wall_us=walls[0],
        peer_wall_us=walls[1],
        wall_ratio=walls[1] / walls[0],
        operations=peer[0].operations,
        ours_counts=counts[0],
        peer_counts=counts[1],
        equal_work=_is_equal(*counts),
    )


def _counts(side: list[Measured]) -> dict[str, float]:
    operations = sum(one.operations for one in side)
    names = sorted({name for one in side for name in one.counts})
    return {name: sum(one.counts[name] for one in side) / operations for name in names}


def _is_equal(ours: dict[str, float], peer: dict[str, float]) -> bool:
    pairs = [(ours.get(name, 0), peer.get(name, 0)) for name in ours.keys() | peer.keys()]
    return all(abs(mine - theirs) <= EQUAL_WITHIN * theirs for mine, theirs in pairs)

"""Also a program: what an engine decides over a few fixed lives, as JSON. The oldest step's results
are drawn from a generator with a fixed seed."""

import json
from dataclasses import astuple, replace
from random import Random
from typing import Any

from truehit.engine import entry
from truehit.engine.api import Engine
from truehit.spec.geometry import (
    BlockDrop,
    DropCap,
    Geometry,
    Group,
    Interval,
    Kind,
    Lookahead,
    ReachOnly,
)

PLAIN = Geometry(
    (
        Group("attention", Kind.FULL_ATTENTION, 4, drafted=True),
        Group("window", Kind.SLIDING_WINDOW, 4, window_tokens=9),
        Group("ring", Kind.CIRCULAR_BUFFER, 3),
        Group("state", Kind.RECURRENT_STATE, 8),
    ),
    4,
    budget_tokens=20,
    max_model_tokens=120,
    pool_blocks=80,
    max_running=3,
)
FINE = replace(PLAIN, groups=PLAIN.groups[::3], fine_hits=True, hash_unit_tokens=2)
GEOMETRIES = (
    PLAIN,
    replace(PLAIN, drafts=3, steps_in_flight=2, drop=BlockDrop(DropCap.MARGIN)),
    replace(PLAIN, retention=ReachOnly(), drop=Lookahead(2), reserve_full_sequence=False),
    replace(FINE, drafts=1, checkpoint_alignment_tokens=2, retention=ReachOnly()),
    replace(FINE, steps_in_flight=3, retention=Interval(16), drop=BlockDrop(DropCap.CLAMPED)),
)


def life(geometry: Geometry, seed: int, steps: int = 120) -> list[Any]:
    """Rows of every step, who finished, and the counts in the end."""
    engine, random, told = Engine(geometry), Random(seed), list[Any]()
    document = [random.randrange(2**31) for _ in range(50)]
    for _ in range(steps):
        if random.random() < 0.3:
            tail = [random.randrange(2**31) for _ in range(random.randrange(1, 9))]
            prompt = document[: random.randrange(50)] + tail
            engine.submit(prompt, output_tokens=random.randrange(1, 15))
        if random.random() < 0.05 and engine.host.slots:
            engine.abort(random.choice(sorted(engine.host.slots)))
        if len(engine.host.in_flight) == geometry.steps_in_flight:
            slice_, rows = engine.host.in_flight[0]
            ran = [random.random() < 0.97 for _ in range(rows)]
            bounds = [
                entry.count_bounds(engine.host.handle, slice_, row, ran[row]) for row in range(rows)
            ]
            counts = [random.randint(*pair) for pair in bounds]
            sampled = [random.randrange(2**31) for _ in range(sum(counts))]
            told.append(engine.commit(sampled, counts, ran))
        told.append(engine.schedule().as_objects())
    told.append(list(astuple(engine.statistics())))
    return told


def lives() -> list[Any]:
    """A few lives in each geometry."""
    return [life(geometry, seed) for geometry in GEOMETRIES for seed in range(3)]


if __name__ == "__main__":
    print(json.dumps({"kind": type(entry.admit).__name__, "lives": lives()}))

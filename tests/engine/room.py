"""What the tests of the engine share: small geometries, a device that samples tokens, and a client
that serves requests to their end."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from math import gcd

import numpy as np
from hypothesis import HealthCheck, settings

from truehit.engine import entry
from truehit.engine import fields as f
from truehit.engine.api import Engine
from truehit.engine.batch import Batch
from truehit.engine.memory import Int64
from truehit.spec.geometry import (
    BlockDrop,
    Drop,
    Geometry,
    Group,
    Kind,
    NoDrop,
    Retention,
)
from truehit.spec.geometry import Dense as DenseRetention

# Too slow and too large do not apply to simulations.
CI = settings(
    max_examples=60,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)


def hybrid(
    state: int = 8,
    attention: int = 4,
    drop: Drop | None = None,
    retention: Retention | None = None,
    pool_blocks: int = 200,
    **others: int,
) -> Geometry:
    """One full-attention group (drafted if something drops) and one state group; coarse hits."""
    groups = (
        Group("attention", Kind.FULL_ATTENTION, attention, drafted=isinstance(drop, BlockDrop)),
        Group("state", Kind.RECURRENT_STATE, state),
    )
    return Geometry(
        groups,
        gcd(attention, state),
        drop=drop or NoDrop(),
        retention=retention or DenseRetention(),
        budget_tokens=others.get("budget_tokens", 64),
        max_model_tokens=others.get("max_model_tokens", 512),
        drafts=others.get("drafts", 0),
        steps_in_flight=others.get("steps_in_flight", 1),
        max_running=others.get("max_running", 8),
        pool_blocks=pool_blocks,
    )


@dataclass(slots=True)
class Device:
    """Samples tokens for the steps of one engine, as few or as many as `greed` (0 to 1) says."""

    engine: Engine
    greed: float = 1.0
    generated: dict[int, list[int]] = field(default_factory=dict)
    _next: Iterator[int] = field(default_factory=lambda: count(1_000_000))

    def counts(self, greed: float) -> Int64:
        """Tokens sampled by each row of the oldest step in flight."""
        host = self.engine.host
        slice_, rows = host.in_flight[0]
        bounds = [entry.count_bounds(host.handle, slice_, row, True) for row in range(rows)]
        most = [least + round(greed * (most - least)) for least, most in bounds]
        return np.array(most, np.int64)

    def step(self) -> list[int]:
        """The oldest step in flight ran; returns the requests that finished."""
        host = self.engine.host
        slice_, rows = host.in_flight[0]
        numbers = Batch(host.core, slice_, rows).requests.tolist()
        counts = self.counts(self.greed)
        tokens = [next(self._next) for _ in range(int(counts.sum()))]
        at = 0
        for number, sampled in zip(numbers, counts.tolist(), strict=True):
            self.generated.setdefault(number, []).extend(tokens[at : at + sampled])
            at += sampled
        return self.engine.commit(tokens, counts)


def serve_all(device: Device, limit_steps: int = 3000) -> list[int]:
    """Schedule and commit until nobody is left; returns who finished, in order."""
    engine, finished = device.engine, list[int]()
    depth = engine.geometry.steps_in_flight
    for _ in range(limit_steps):
        while engine.host.in_flight and len(engine.host.in_flight) >= depth:
            finished += device.step()
        if not engine.host.slots:
            break
        engine.schedule()
    while engine.host.in_flight:
        finished += device.step()
    assert not engine.host.slots, f"{len(engine.host.slots)} requests did not end"
    return finished


def serve(device: Device, prompt: list[int], output: int = 1, salt: str = "") -> int:
    """Serve one request to its end; returns its hit in tokens."""
    request = device.engine.submit(prompt, output_tokens=output, salt=salt)
    hit = device.engine.find(request).hit_tokens
    serve_all(device)
    return hit


def is_running(engine: Engine, request: int) -> bool:
    """The request is live and has been admitted."""
    slot = engine.host.slots.get(request)
    return slot is not None and bool(engine.host.core.request[slot, f.R_STATUS] == f.RUNNING)

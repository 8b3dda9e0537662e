"""Tracing costs nothing when off and changes nothing when on; neither does the audit."""

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from truehit.engine.api import Engine
from truehit.engine.audit import Audit
from truehit.engine.memory import Int32
from truehit.engine.misses import Seen
from truehit.engine.tracer import Tracer
from truehit.spec.geometry import Geometry
from truehit.spec.trace import End, EndWhy, Lookup, Publish, Schedule

from .drawn import geometries
from .room import CI, Device, hybrid, serve_all

ROOMY = (150, 250)
WATCHED = {"log", "told", "seek"}
"""What whoever watches fills; `seek`: only a tracer asks how far each group reaches alone."""


def prompts(seed: int) -> list[list[int]]:
    """Related prompts, so that there are hits, copies and shared blocks."""
    shared = list(range(50))
    return [shared[: 7 + 11 * n % 44] + [100 * seed + 1000 * n] * (n % 3) for n in range(6)]


def traced(engine: Engine) -> Tracer:
    """Somebody looks; requests are called by their numbers."""
    tracer = Tracer(engine.host)
    tracer.names = [str(n) for n in range(100)]
    return tracer


def path_of(prompt: list[int], output: int) -> Int32:
    """All tokens a request will have; nobody shares the sampled ones."""
    return np.array([*prompt, *([-1] * output)], np.int32)


def submit(engine: Engine, tracer: Tracer | None, prompt: list[int], output: int) -> None:
    """A tracer that explains misses wants to know all tokens."""
    number = engine.submit(prompt, output_tokens=output)
    if tracer is not None:
        tracer.misses.seen.append(Seen(number, "", path_of(prompt, output)))


def life(engine: Engine, tracer: Tracer | None, seed: int) -> list[Any]:
    """Everything the engine decides: the rows of every step, and who finished."""
    device, told = Device(engine, greed=0.5), list[Any]()
    for prompt in prompts(seed) * 2:
        submit(engine, tracer, prompt, 1 + seed % 9)
    for n in range(25):
        if len(engine.host.in_flight) == engine.geometry.steps_in_flight:
            told.append(device.step())
        told.append(engine.schedule().as_lists())
        if n == 7 and engine.host.slots:
            engine.abort(min(engine.host.slots))
        if n == 12:
            engine.reset_cache()
    told.append(serve_all(device))
    return told


@CI
@given(geometries(ROOMY), st.integers(0, 99))
def test_watching_changes_no_decision(geometry: Geometry, seed: int) -> None:
    alone, watched, audited = (Engine(geometry) for _ in range(3))
    tracer = traced(watched)
    Audit(audited.host)
    lives = [life(alone, None, seed), life(watched, tracer, seed), life(audited, None, seed)]
    assert lives[0] == lives[1] == lives[2]
    assert alone.statistics() == watched.statistics() == audited.statistics()
    for name, array in alone.host.core._asdict().items():
        if name not in WATCHED:
            assert array.tolist() == getattr(watched.host.core, name).tolist(), name


def test_nobody_looks_so_nothing_is_written() -> None:
    engine = Engine(hybrid())
    life(engine, None, 3)
    core = engine.host.core
    assert core.log.shape == (0,)
    assert core.told.shape[0] == 0
    assert core.shadow.shape[0] == 0


def test_a_trace_can_begin_and_end_in_the_middle() -> None:
    engine = Engine(hybrid())
    life(engine, None, 3)
    tracer = traced(engine)
    tracer.misses.seen += [
        Seen(n, "", path_of([], 0)) for n in range(engine.statistics().submitted)
    ]
    submit(engine, tracer, list(range(40)), 2)
    serve_all(Device(engine))
    kinds = {type(event) for event in tracer.events}
    assert {Lookup, Schedule, Publish, End} <= kinds
    ends = [event for event in tracer.events if isinstance(event, End)]
    assert [end.why for end in ends] == [EndWhy.FINISH]
    count, engine.host.watch = len(tracer.events), None
    engine.host.use(engine.host.core._replace(log=engine.host.core.log[:0]))
    engine.submit(list(range(40)), output_tokens=2)
    serve_all(Device(engine))
    assert len(tracer.events) == count

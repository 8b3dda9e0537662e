"""What a step of decode costs with 256 running: alone and audited (`make bench`).

The audit is to cost at most 10 microseconds a step; docs/benchmarks.md has the figures."""

from collections.abc import Callable

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from truehit.engine.api import Engine
from truehit.engine.audit import Audit
from truehit.spec.geometry import Geometry, Group, Kind

RUNNING = 256
ROUNDS = 20
STEPS = 40


def _plain(engine: Engine) -> None:
    pass


def _audited(engine: Engine) -> None:
    Audit(engine.host)


def _engine(block_tokens: int, watch: Callable[[Engine], None]) -> Engine:
    """256 requests past their prefill."""
    groups = (
        Group("attention", Kind.FULL_ATTENTION, block_tokens),
        Group("state", Kind.RECURRENT_STATE, 1600),
    )
    engine = Engine(
        Geometry(
            groups,
            min(block_tokens, 1600),
            budget_tokens=1 << 19,
            max_running=RUNNING,
            pool_blocks=100_000,
        )
    )
    watch(engine)
    prompts = np.random.default_rng(1).integers(0, 50_000, (RUNNING, 1200), dtype=np.int32)
    for number, prompt in enumerate(prompts):
        engine.submit(prompt[: 1000 + number % 97], output_tokens=1 + ROUNDS * STEPS + 200)
    while True:
        batch = engine.schedule()
        sampling = engine.host.core.chunk[batch._slice, : batch.rows, 5].copy()
        engine.commit(np.zeros(int(sampling.sum()), np.int32), sampling)
        if batch.rows == RUNNING and (batch.starts >= 1000).all():
            return engine


@pytest.mark.parametrize("watch", [_plain, _audited], ids=["plain", "audited"])
@pytest.mark.parametrize("block_tokens", [16, 1600])
def test_decode(
    benchmark: BenchmarkFixture, block_tokens: int, watch: Callable[[Engine], None]
) -> None:
    engine = _engine(block_tokens, watch)
    counts = np.ones(RUNNING, np.int64)
    tokens = np.zeros(RUNNING, np.int32)

    def steps() -> None:
        for _ in range(STEPS):
            engine.schedule()
            engine.commit(tokens, counts)

    benchmark.extra_info["steps"] = STEPS
    benchmark.pedantic(steps, rounds=ROUNDS - 1, warmup_rounds=1)  # type: ignore[no-untyped-call]

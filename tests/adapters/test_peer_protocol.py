"""The peer's side of the line protocol, and what both sides are prepared from."""

import gc
import io
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from truehit.adapters.control_bench.works import works
from truehit.adapters.vllm import inside
from truehit.adapters.vllm.inside.control_peer.clock import Measured, Stopwatch, settle
from truehit.adapters.vllm.inside.control_peer.serve import serve
from truehit.adapters.vllm.inside.control_peer.tokens import VOCABULARY_TOKENS, prompt
from truehit.adapters.vllm.inside.control_peer.workloads import (
    Decode,
    Shape,
    Workload,
    from_data,
    to_data,
)

WORK = Decode("d", Shape(16, 1600, 3), 256, 1000, 64, 512, 900, 48)


class Counted:
    """A task that says what it was asked."""

    def __init__(self, workload: Workload) -> None:
        if workload.name == "bad":
            raise ValueError("it does not fit")
        self._name = workload.name

    def settings(self) -> dict[str, Any]:
        return {"name": self._name}

    def measure(self, number: int) -> Measured:
        return Measured(number, 1.0, 2.0, {"tokens": 3})


@pytest.fixture(autouse=True)
def collector() -> Iterator[None]:
    """Measuring leaves the collector off."""
    yield
    gc.unfreeze()
    gc.enable()


def talk(*orders: dict[str, Any]) -> list[dict[str, Any]]:
    answers = io.StringIO()
    serve(io.StringIO("".join(json.dumps(order) + "\n" for order in orders)), answers, Counted)
    return [json.loads(line) for line in answers.getvalue().splitlines()]


def test_a_workload_is_prepared_and_measured() -> None:
    prepare = {"do": "prepare", "workload": to_data(WORK)}
    assert talk(prepare, {"do": "measure", "round": 4}, {"do": "close"}, prepare) == [
        {"ready": {"name": "d"}},
        {"measured": {"operations": 4, "wall_us": 1.0, "cpu_us": 2.0, "counts": {"tokens": 3}}},
    ]


def test_what_goes_wrong_is_an_answer() -> None:
    bad = {"do": "prepare", "workload": {**to_data(WORK), "name": "bad"}}
    assert talk({"do": "measure", "round": 0}, bad, {"do": "dance"}) == [
        {"problem": "cannot do 'measure' now"},
        {"problem": "ValueError: it does not fit"},
        {"problem": "cannot do 'dance' now"},
    ]


def test_a_failed_preparation_leaves_nothing_to_measure() -> None:
    good = {"do": "prepare", "workload": to_data(WORK)}
    bad = {"do": "prepare", "workload": {**to_data(WORK), "name": "bad"}}
    last = talk(good, bad, {"do": "measure", "round": 1})[-1]
    assert last == {"problem": "cannot do 'measure' now"}


def test_every_workload_survives_the_journey() -> None:
    for work in works():
        sent = json.loads(json.dumps(to_data(work.workload)))
        assert from_data(sent) == work.workload


def test_requests_differ_from_their_first_token_on() -> None:
    firsts = {prompt(index, 1)[0] for index in range(16_000)}
    assert len(firsts) == 16_000
    tokens = prompt(7, 100_000)
    assert len(tokens) == 100_000
    assert min(tokens) >= 0 and max(tokens) < VOCABULARY_TOKENS
    assert prompt(7, 40) == tokens[:40]


def test_what_both_sides_share_imports_neither() -> None:
    shared = "control_peer.serve, control_peer.clock, control_peer.tokens, control_peer.workloads"
    code = f"import {shared}, sys; print('torch' in sys.modules, 'truehit' in sys.modules)"
    folder = Path(inside.__file__).resolve().parent
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["False", "False"]


def test_the_watch_adds_up_only_what_it_saw() -> None:
    watch = Stopwatch()
    watch.start()
    watch.stop()
    first = watch.wall_ns
    sum(range(100_000))
    assert watch.wall_ns == first
    watch.start()
    sum(range(100_000))
    watch.stop()
    assert watch.wall_ns > first and watch.cpu_ns > 0


def test_the_collector_is_off_in_a_round() -> None:
    settle()
    assert not gc.isenabled()
    assert gc.get_freeze_count() > 0

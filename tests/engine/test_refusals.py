"""Bad input is refused by one line that says what would work, and leaves the engine as it was.

*As it was* is exact: every array, queue and range, byte for byte. *Would work* is tried: the number
at the end of the refusal is used, and the same operation goes through."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from truehit.engine.api import Engine
from truehit.engine.refused import Refused
from truehit.spec.geometry import Lookahead

from .room import Device, hybrid, serve_all
from .snapshot import differences, snapshot

ENDED, RUNNING, WAITING = 2, 3, 4
GEOMETRY = hybrid(max_running=1, max_model_tokens=160, pool_blocks=40, drafts=1, steps_in_flight=2)
NAN = float("nan")
Call = Callable[[Engine], object]
Repair = Callable[[Engine, int], object]


@dataclass(frozen=True, slots=True)
class Bad:
    """A call that has to be refused, and the same call with the number the refusal names."""

    name: str
    call: Call
    repair: Repair


def name_of(bad: Bad) -> str:
    return bad.name


def busy(steps: int = 1) -> Engine:
    """Three requests have ended, one runs, one waits; `steps` steps are in flight. The first has
    one row, which samples its first token."""
    engine = Engine(GEOMETRY)
    for _ in range(RUNNING):
        engine.submit(list(range(20)), output_tokens=1)
    serve_all(Device(engine))
    engine.submit(list(range(6)), output_tokens=8)
    engine.submit(list(range(40)), output_tokens=8)
    for _ in range(steps):
        engine.schedule()
    return engine


def refusal(engine: Engine, call: Call) -> str:
    """The one line; nothing else may have changed."""
    before = snapshot(engine)
    with pytest.raises(Refused) as refused:
        call(engine)
    assert differences(before, snapshot(engine)) == []
    return str(refused.value)


def number_of(line: str) -> int:
    """The number after the semicolon."""
    assert "\n" not in line
    found = re.search(r"\d+", line.rpartition(";")[2])
    assert found, line
    return int(found[0])


def is_refused(engine: Engine, bad: Bad) -> None:
    bad.repair(engine, number_of(refusal(engine, bad.call)))


# --- requests -------------------------------------------------------------------------------------


def submit(tokens: Any, **changes: Any) -> Call:
    options: dict[str, Any] = {"output_tokens": 2} | changes
    return lambda engine: engine.submit(tokens, **options)


def tokens_of(name: str, tokens: Any, length: int = 1) -> Bad:
    """A prompt that is none; one with ids up to the number works."""
    return Bad(name, submit(tokens), lambda e, n: e.submit([min(n, 2**31 - 1)] * length, **TWO))


TWO: Any = {"output_tokens": 2}
PROMPTS = [
    tokens_of("empty", []),
    tokens_of("empty-array", np.zeros(0, np.int32)),
    tokens_of("negative", [-1, 2]),
    tokens_of("negative-int32", np.array([-1, 2], np.int32)),
    tokens_of("negative-int64", np.array([-1, 2])),
    tokens_of("too-large", [2**31]),
    tokens_of("too-large-int64", np.array([2**40])),
    tokens_of("too-large-uint32", np.array([2**32 - 1], np.uint32)),
    tokens_of("fractions", [1.5]),
    tokens_of("float-array", np.array([1.0])),
    tokens_of("nan-array", np.array([NAN])),
    tokens_of("complex-array", np.array([1j])),
    tokens_of("object-array", np.array([1, "a"], object)),
    tokens_of("two-dimensions", np.zeros((2, 2), np.int32)),
    tokens_of("no-dimension", np.array(3)),
    tokens_of("nested", [[1, 2]]),
    tokens_of("text", "abc"),
    tokens_of("bytes", b"abc"),
    tokens_of("number", 5),
    tokens_of("none", None),
]


@pytest.mark.parametrize("bad", PROMPTS, ids=name_of)
def test_what_is_no_prompt_is_refused(bad: Bad) -> None:
    is_refused(busy(), bad)


def output_of(name: str, output: Any) -> Bad:
    return Bad(
        name,
        submit([1, 2], output_tokens=output),
        lambda engine, n: engine.submit([1, 2], output_tokens=n),
    )


def salt_of(name: str, salt: Any) -> Bad:
    return Bad(
        name, submit([1, 2], salt=salt), lambda engine, n: engine.submit([1], **TWO, salt=str(n))
    )


def priority_of(name: str, priority: Any) -> Bad:
    return Bad(
        name,
        submit([1, 2], priority=priority),
        lambda engine, n: engine.submit([1], **TWO, priority=n),
    )


OPTIONS = [
    output_of("output-0", 0),
    output_of("output-negative", -3),
    output_of("output-fraction", 1.5),
    output_of("output-nan", NAN),
    output_of("output-text", "a"),
    output_of("output-none", None),
    salt_of("salt-none", None),
    salt_of("salt-number", 7),
    salt_of("salt-bytes", b"x"),
    salt_of("salt-half-a-character", "\ud800"),
    priority_of("priority-too-large", 2**63),
    priority_of("priority-too-small", -(2**70)),
    priority_of("priority-fraction", 1.5),
    priority_of("priority-text", "x"),
    priority_of("priority-none", None),
]


@pytest.mark.parametrize("bad", OPTIONS, ids=name_of)
def test_what_is_no_option_of_a_request_is_refused(bad: Bad) -> None:
    is_refused(busy(), bad)


@pytest.mark.parametrize("prompt, output", [(159, 2), (200, 1), (1, 10**30)])
def test_what_is_longer_than_the_model_is_refused_with_the_length(prompt: int, output: int) -> None:
    tokens = list(range(prompt))
    line = refusal(busy(), submit(tokens, output_tokens=output))
    longer = replace(GEOMETRY, max_model_tokens=number_of(line), pool_blocks=200)
    if output < 10**9:
        assert Engine(longer).submit(tokens, output_tokens=output) == 0


def test_what_never_fits_the_pool_is_refused_with_the_pool_it_fits() -> None:
    tokens = list(range(150))
    blocks = number_of(refusal(busy(), submit(tokens)))
    engine = Engine(replace(GEOMETRY, pool_blocks=blocks))
    engine.submit(tokens, output_tokens=2)
    assert serve_all(Device(engine)) == [0]
    refusal(Engine(replace(GEOMETRY, pool_blocks=blocks - 1)), submit(tokens))


NOBODY = (-1, 10**9, None, "a", [1], ENDED)


@pytest.mark.parametrize("operation", ["abort", "preempt", "find", "table"])
@pytest.mark.parametrize("request_", NOBODY, ids=map(str, NOBODY))
def test_a_request_that_is_not_live_is_refused_with_one_that_is(
    operation: str, request_: Any
) -> None:
    engine, rest = busy(), (0,) if operation == "table" else ()
    line = refusal(engine, lambda e: getattr(e, operation)(request_, *rest))
    engine.abort(number_of(line))


@pytest.mark.parametrize("group", [2, -1, "attention", None, 0.5])
def test_a_group_that_is_not_there_is_refused(group: Any) -> None:
    engine = busy()
    assert (
        len(engine.table(RUNNING, number_of(refusal(engine, lambda e: e.table(RUNNING, group)))))
        > 0
    )


def test_only_a_running_request_is_preempted_and_only_a_waiting_one_looked_up() -> None:
    engine = busy()
    assert "not running" in refusal(engine, lambda e: e.preempt(WAITING))
    assert "running; a waiting one works" in refusal(engine, lambda e: e.find(RUNNING))


# --- steps ----------------------------------------------------------------------------------------

# Reservations count on chunks no longer than the geometry's 64 tokens.
BUDGETS = (0, -1, 65, 1.5, 0.5, NAN, float("inf"), "x", 2**70)


@pytest.mark.parametrize("budget", BUDGETS, ids=map(str, BUDGETS))
def test_what_is_no_budget_is_refused(budget: Any) -> None:
    engine = busy()
    engine.schedule(number_of(refusal(engine, lambda e: e.schedule(budget))))


def test_more_steps_in_flight_than_the_geometry_has_are_refused() -> None:
    engine = busy(steps=2)
    line = refusal(engine, lambda e: e.schedule())
    for _ in range(number_of(line)):
        Device(engine).step()
    engine.schedule()


def test_results_without_a_step_are_refused() -> None:
    engine = busy(steps=0)
    for _ in range(number_of(refusal(engine, lambda e: e.commit([], [])))):
        engine.schedule()
    Device(engine).step()


RESULTS: dict[str, tuple[Any, Any, Any]] = {
    "too-few": ([], [0], None),
    "too-many": ([1, 2], [2], None),
    "negative-count": ([], [-1], None),
    "nan-count": ([1], [NAN], None),
    "fractional-count": ([1], [1.5], None),
    "huge-count": ([1], [2**63], None),
    "text-count": ([1], ["x"], None),
    "no-count": ([1], None, None),
    "no-row": ([], [], None),
    "two-rows": ([1, 2], [1, 1], None),
    "two-dimensions": ([1], [[1]], None),
    "fewer-tokens": ([], [1], None),
    "more-tokens": ([1, 2], [1], None),
    "negative-token": ([-1], [1], None),
    "negative-token-int32": (np.array([-1], np.int32), [1], None),
    "huge-token": (np.array([2**40]), [1], None),
    "float-token": (np.array([1.0]), [1], None),
    "token-in-two-dimensions": (np.array([[1]], np.int32), [1], None),
    "text-token": ("x", [1], None),
    "no-token": (None, [1], None),
    "ran-no-row": ([1], [1], []),
    "ran-two-rows": ([1], [1], [True, True]),
    "ran-two-dimensions": ([1], [1], [[True]]),
    "ran-negative": ([1], [1], [-1]),
    "ran-256": ([1], [1], [256]),
    "ran-half": ([1], [1], [0.5]),
    "ran-nan": ([1], [1], [NAN]),
    "ran-text": ([1], [1], ["x"]),
    "sampled-without-running": ([1], [1], [False]),
}


@pytest.mark.parametrize("results", RESULTS.values(), ids=RESULTS)
def test_results_that_do_not_belong_to_the_step_are_refused(results: tuple[Any, Any, Any]) -> None:
    engine = busy()
    number_of(refusal(engine, lambda e: e.commit(*results)))
    assert engine.commit([1], [1]) == []
    assert serve_all(Device(engine)) == [RUNNING, WAITING]


# --- engines --------------------------------------------------------------------------------------


def test_an_engine_that_cannot_work_is_refused() -> None:
    with pytest.raises(Refused) as refused:
        Engine(replace(GEOMETRY, pool_blocks=3))
    Engine(replace(GEOMETRY, pool_blocks=number_of(str(refused.value))))
    with pytest.raises(Refused) as refused:
        Engine(replace(GEOMETRY, drop=Lookahead(160)))
    Engine(replace(GEOMETRY, drop=Lookahead(number_of(str(refused.value)))))
    with pytest.raises(Refused, match="rules: 'newest' is not known; 'default' works"):
        Engine(GEOMETRY, "newest")

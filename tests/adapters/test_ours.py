"""Our side does the workload it was given, whatever the form of its output."""

from hashlib import sha256

import pytest

from truehit.adapters.control_bench.ours import prepare
from truehit.adapters.control_bench.ours_engine import engine_of
from truehit.adapters.control_bench.ours_prompts import keys_of
from truehit.adapters.control_bench.works import Output
from truehit.adapters.vllm.inside.control_peer.workloads import (
    Churn,
    Decode,
    Hashing,
    Lookup,
    Prefill,
    Shape,
    Workload,
)

UNEQUAL, EQUAL, DRAFTED = Shape(16, 64), Shape(64, 64), Shape(16, 64, drafts=3)


def counts(workload: Workload, output: Output) -> dict[str, int]:
    """What one round did."""
    measured = prepare(workload, output).measure(0)
    assert measured.cpu_us > 0 and measured.wall_us > 0
    return {"operations": measured.operations, **measured.counts}


@pytest.mark.parametrize("output", list(Output))
@pytest.mark.parametrize(("shape", "keys"), [(UNEQUAL, 12), (EQUAL, 3), (DRAFTED, 48)])
def test_a_step_of_decode_feeds_every_request(shape: Shape, keys: int, output: Output) -> None:
    """4 requests, 48 steps: 16 tokens fill a page, and no state is kept."""
    workload = Decode("d", shape, 4, 1000, 70, 64, 1000, 48)
    done = counts(workload, output)
    tokens = 4 * 48 * (1 + shape.drafts)
    assert (done["operations"], done["tokens"], done["keys"]) == (48, tokens, keys)
    # A state block more for each 64 tokens of a request.
    assert done["blocks"] == keys + tokens // 64


@pytest.mark.parametrize("output", list(Output))
def test_a_prefill_schedules_every_token_once(output: Output) -> None:
    done = counts(Prefill("p", UNEQUAL, 1000, 256, 500, 3), output)
    assert done["tokens"] == 3 * 1000
    assert done["operations"] == 3 * 5
    assert done["keys"] >= 3 * (1000 // 16)


@pytest.mark.parametrize("output", list(Output))
@pytest.mark.parametrize(("shared_tokens", "hit_tokens"), [(1000, 992), (0, 0)])
def test_a_lookup_finds_what_is_shared(shared_tokens: int, hit_tokens: int, output: Output) -> None:
    done = counts(Lookup("l", UNEQUAL, 1000, shared_tokens, 256, 500, 7), output)
    pages = hit_tokens // 16 + (1 if hit_tokens else 0)
    assert done == {"operations": 7, "tokens": 7 * hit_tokens, "blocks": 7 * pages}


@pytest.mark.parametrize("output", list(Output))
def test_a_prompt_is_hashed_unit_by_unit(output: Output) -> None:
    done = counts(Hashing("h", UNEQUAL, 1000, 500, 3), output)
    assert done == {"operations": 3, "tokens": 3000, "keys": 3 * 62}


def test_the_keys_that_are_handed_on_are_those_of_the_engine() -> None:
    engine = engine_of(UNEQUAL, 1, 256, 500)
    one, other = (engine.submit(list(range(100)), output_tokens=1) for _ in range(2))
    longer = engine.submit([*range(48), *range(52)], output_tokens=1)
    keys = keys_of(engine, one, 6)
    assert keys == keys_of(engine, other, 6)
    assert keys_of(engine, longer, 6)[:3] == keys[:3] and keys_of(engine, longer, 6)[3] != keys[3]
    assert {len(key) for key in keys} == {sha256().digest_size} and len(set(keys)) == 6


@pytest.mark.parametrize("output", list(Output))
@pytest.mark.parametrize("keyed", [True, False])
def test_the_pool_turns_over(keyed: bool, output: Output) -> None:
    workload = Churn("c", 200, 16, 3, keyed, 20)
    session = prepare(workload, output)
    for number in range(3):
        done = session.measure(number)
        assert (done.operations, done.counts["blocks"]) == (20, 320)
        assert done.counts["keys"] == (320 if keyed else 0)
        # All but the null block and what is held; every one of the pool has a key.
        settings = session.settings()
        assert settings["free_blocks"] == 200 - 1 - 3 * 16
        assert settings["findable_keys"] == (199 if keyed else 0)

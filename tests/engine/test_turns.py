"""Second sends and second turns: real token ids hit exactly what the formulas say.

Sends are stateful, so the whole sequence is served. Nothing is evicted here: the pool is large."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truehit.engine import fields as f
from truehit.engine.api import Engine
from truehit.spec.formulas import extend, legal, offer
from truehit.spec.geometry import (
    BlockDrop,
    Dense,
    DropCap,
    Geometry,
    Interval,
    Lookahead,
    ReachOnly,
)
from truehit.spec.units import floor_to

from .room import CI, Device, hybrid, serve

BLOCK_DROPS = {
    "plain": None,
    "clamped": BlockDrop(DropCap.CLAMPED),
    "margin": BlockDrop(DropCap.MARGIN),
}
DROPS = BLOCK_DROPS | {"ahead-1": Lookahead(1), "ahead-3": Lookahead(3)}
GEOMETRIES = {
    f"{state}-{pages}-{drops}-{name}-{'fine' if fine else 'coarse'}": replace(
        hybrid(state, pages, drop, retention), fine_hits=fine
    )
    for state, pages in ((8, 4), (4, 8), (6, 4), (8, 8))
    for drops, drop in DROPS.items()
    for name, retention in (("dense", Dense()), ("reach", ReachOnly()), ("interval", Interval(48)))
    for fine in (False, True)
} | {"full-only": replace(hybrid(), groups=hybrid().groups[:1])}
every_geometry = pytest.mark.parametrize("geometry", GEOMETRIES.values(), ids=GEOMETRIES)
SIZES = (1, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 24, 31, 40, 47, 49, 96, 101, 150)


def prompt_of(tokens: int, seed: int = 0) -> list[int]:
    return [1 + (7919 * seed + 31 * n) % 1_000_003 for n in range(tokens)]


@every_geometry
def test_an_unchanged_prompt_hits_what_is_legal_and_another_salt_nothing(
    geometry: Geometry,
) -> None:
    device = Device(Engine(geometry))
    for size in SIZES:
        prompt = prompt_of(size, seed=size)
        hits = [serve(device, prompt, salt=salt) for salt in ("", "", "tenant", "", "tenant")]
        legal_tokens = legal(geometry, size)
        assert hits == [0, legal_tokens, 0, legal_tokens, legal_tokens], size


@every_geometry
def test_a_longer_prompt_hits_what_its_beginning_extends_to(geometry: Geometry) -> None:
    for size in SIZES:
        device = Device(Engine(geometry))
        assert serve(device, prompt_of(size)) == 0
        assert serve(device, prompt_of(size) + prompt_of(60, seed=1)) == extend(geometry, size)


@CI
@given(st.data())
def test_a_conversation_hits_all_of_its_history_that_is_kept(data: st.DataObject) -> None:
    """Coarse and dense: every boundary of states and pages is kept, answers included; but the last
    sampled token of an answer was never computed. (With a lookahead the state of an answer is given
    back before its key is known, by the oracle too.)"""
    drop = data.draw(st.sampled_from(list(BLOCK_DROPS.values())))
    geometry = hybrid(*data.draw(st.sampled_from(((8, 4), (4, 8), (6, 4)))), drop)
    device, history = Device(Engine(geometry)), list[int]()
    for turn in range(data.draw(st.integers(2, 5))):
        question = prompt_of(data.draw(st.integers(1, 40)), seed=turn + 1)
        output = data.draw(st.integers(1, 20))
        known = max(len(history) - 1, 0)
        prompt = history + question
        hit = serve(device, prompt, output)
        assert hit == floor_to(offer(geometry, known, len(prompt) - 1), geometry.lcm_tokens)
        history = prompt + device.generated[turn]
        assert len(history) == len(prompt) + output


def test_the_blocks_of_a_hit_are_those_the_first_request_left() -> None:
    device = Device(Engine(hybrid(8, 4)))
    prompt = prompt_of(50)
    first = device.engine.submit(prompt, output_tokens=1)
    tables: list[list[int]] = []
    while first in device.engine.host.slots:
        device.engine.schedule()
        tables = [device.engine.table(first, group).tolist() for group in range(2)]
        device.step()
    second = device.engine.submit(prompt, output_tokens=1)
    found = device.engine.find(second)
    assert (found.hit_tokens, found.offer_tokens) == (48, 48)
    assert found.blocks[0].tolist() == tables[0][:12]
    assert found.blocks[1].tolist() == [tables[1][5]]
    device.engine.schedule()
    assert device.engine.table(second, 0).tolist()[:12] == tables[0][:12]


def test_a_lookup_takes_nothing() -> None:
    device = Device(Engine(hybrid()))
    serve(device, prompt_of(50))
    before = device.engine.statistics()
    request = device.engine.submit(prompt_of(50), output_tokens=1)
    for _ in range(3):
        assert device.engine.find(request).hit_tokens == 48
    device.engine.abort(request)
    assert device.engine.statistics() == replace(before, submitted=2)


def test_a_reset_lets_nothing_be_found() -> None:
    device = Device(Engine(hybrid()))
    assert [serve(device, prompt_of(50)) for _ in range(2)] == [0, 48]
    device.engine.reset_cache()
    assert device.engine.statistics().keyed_free_blocks == 0
    assert [serve(device, prompt_of(50)) for _ in range(2)] == [0, 48]


def test_a_long_life_does_not_grow_the_memory() -> None:
    """Ranges of requests that ended serve new ones of their size class."""
    device = Device(Engine(hybrid(max_running=4)))
    host = device.engine.host
    shapes: list[tuple[tuple[int, ...], ...]] = []
    for n in range(2000):
        device.engine.submit(prompt_of(1 + n * 37 % 90, seed=n), output_tokens=1 + n % 3)
        if n % 4 == 3:
            while host.slots:
                device.engine.schedule()
                device.step()
        if n in (199, 1999):
            arenas = (host._tokens, host._columns, host._keys, host._extras)
            ends = tuple(arena.end for arena in arenas)
            shapes.append((ends, (host._slots_used,), *(a.shape for a in host.core)))
    assert shapes[0] == shapes[1]
    assert host.core.now[f.N_USED_RECORDS] <= 2 * host.geometry.pool_blocks

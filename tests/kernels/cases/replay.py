"""Verification and commit, against the rule in float64 and against decoding bit for bit."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import pytest
import torch

from truehit.kernels.decode import gated_delta_decode
from truehit.kernels.replay import (
    CACHED_TOKENS,
    ReplayCache,
    commit_reference,
    gated_delta_commit,
    gated_delta_verify,
    verify_reference,
)

from ..buffers import RedZoned, assert_near, at_the_edge, page_digests
from ..programs import backwards
from .decode import (
    TOLERANCE,
    Tokens,
    drawn_pool,
    fla_naive,
    initial_states,
    offsets,
    table,
    truth,
    unit,
    zoned_outputs,
)


@dataclass(frozen=True, slots=True)
class Rows:
    """One entry a row; `boundaries`: target and offset."""

    lengths: list[int]
    sources: list[int]
    targets: list[int]
    accepted: list[int]
    boundaries: list[tuple[int, int]]

    def commit_tables(self) -> tuple[torch.Tensor, ...]:
        pages, after = zip(*self.boundaries, strict=True)
        entries = (self.sources, self.targets, self.accepted, list(pages), list(after))
        return tuple(map(table, entries))

    def stored(self) -> dict[int, tuple[int, int]]:
        """Page -> its row, and the tokens of the row behind its state."""
        found = {}
        for row, count in enumerate(self.accepted):
            page, after = self.boundaries[row]
            if page and 0 < after <= count:
                found[page] = row, after
            if self.targets[row] and count:
                found[self.targets[row]] = row, count
        return found


@dataclass(frozen=True, slots=True)
class Caches:
    """Poisoned, each between red zones."""

    zones: tuple[RedZoned, ...]
    cache: ReplayCache

    @classmethod
    def of(cls, rows: int, tokens: Tokens) -> "Caches":
        inner = (tokens.k, tokens.v, tokens.g, tokens.beta)
        zones = tuple(
            RedZoned.make((rows, CACHED_TOKENS, *x.shape[1:]), x.dtype, None) for x in inner
        )
        return cls(zones, ReplayCache(*(each.tensor for each in zones)))

    def intact(self) -> bool:
        return all(each.intact() for each in self.zones)


def check(
    tokens: Tokens,
    pool_dtype: torch.dtype,
    rows: Rows,
    verify: Callable[..., torch.Tensor] = gated_delta_verify,
    commit: Callable[..., None] = gated_delta_commit,
) -> None:
    zoned, starts = drawn_pool(tokens.page(), pool_dtype), offsets(rows.lengths)
    states, caches = zoned.tensor, Caches.of(len(rows.lengths) + 1, tokens)
    initial, before = initial_states(states, rows.sources), page_digests(states)
    with zoned_outputs():
        read = (states, caches.cache, table(starts), table(rows.sources))
        o = verify(*tokens.map(at_the_edge).all(), *read)
    assert page_digests(states) == before
    commit(states, caches.cache, *rows.commit_tables())
    after = []
    for (start, end), state in zip(pairwise(starts), initial, strict=True):
        expected, each = truth(tokens.part(start, end), state)
        assert_near(o[start:end], expected, TOLERANCE[tokens.v.dtype], f"o of [{start}, {end})")
        after.append(each)
    for page, (row, count) in rows.stored().items():
        assert_near(states[page], after[row][count - 1], TOLERANCE[pool_dtype], f"page {page}")
    changed = {page for page, digest in enumerate(page_digests(states)) if digest != before[page]}
    assert changed == rows.stored().keys()
    assert zoned.intact()
    assert caches.intact()


RAGGED = Rows(
    lengths=[3, 0, 1, 2, 1, 4],
    sources=[3, 5, 3, 0, 7, 8],
    targets=[10, 11, 0, 12, 7, 8],
    accepted=[2, 0, 1, 1, 1, 3],
    boundaries=[(13, 2), (14, 0), (15, 1), (16, 2), (0, 1), (17, 1)],
)
"""Pages 7 and 8 in place; page 3 is shared; row 1 is empty; row 2 stores its boundary only; the
boundary of row 3 is not accepted, that of row 0 is the end."""


def case_fp32() -> None:
    check(Tokens.drawn(11), torch.float32, RAGGED)


def case_fp32_in_a_bf16_pool() -> None:
    check(Tokens.drawn(11), torch.bfloat16, RAGGED)


def case_bf16_in_an_fp32_pool() -> None:
    check(Tokens.drawn(11, torch.bfloat16), torch.float32, RAGGED)


def case_bf16() -> None:
    check(Tokens.drawn(11, torch.bfloat16), torch.bfloat16, RAGGED)


def case_the_last_program_first() -> None:
    with backwards():
        check(Tokens.drawn(11), torch.float32, RAGGED)


def case_the_reference() -> None:
    for dtype in (torch.float64, torch.float32, torch.bfloat16):
        pool_dtype = torch.float32 if dtype is torch.bfloat16 else dtype
        check(Tokens.drawn(11, dtype), pool_dtype, RAGGED, verify_reference, commit_reference)
    check(Tokens.drawn(11), torch.bfloat16, RAGGED, verify_reference, commit_reference)


def case_sizes_and_heads() -> None:
    rows = Rows([1, 1], [2, 0], [4, 5], [1, 1], [(0, 0), (0, 0)])
    for heads, sizes in (((1, 1), (64, 64)), ((1, 3), (128, 128)), ((4, 4), (16, 40))):
        check(Tokens.drawn(2, heads=heads, sizes=sizes), torch.float32, rows)


def case_a_commit_is_a_decode_bit_for_bit() -> None:
    """Every count of accepted tokens, and every boundary in them, in both dtypes."""
    for dtype in (torch.float32, torch.bfloat16):
        tokens, pages = Tokens.drawn(9, dtype, (1, 2), (24, 8)), list(range(10, 19))
        pool = drawn_pool(tokens.page(), torch.float32).tensor
        decoded = gated_delta_decode(*tokens.all(), pool, table([0, 9]), table([4]), table(pages))
        cache = ReplayCache.like(1, tokens.k, tokens.v, tokens.g, tokens.beta)
        o = gated_delta_verify(*tokens.all(), pool, cache, table([0, 9]), table([4]))
        assert torch.equal(o, decoded)
        for count in range(1, 10):
            half = (count + 1) // 2
            tables = (table([each]) for each in (4, 20, count, 21, half))
            gated_delta_commit(pool, cache, *tables)
            assert torch.equal(pool[20], pool[9 + count]), f"after {count} tokens"
            assert torch.equal(pool[21], pool[9 + half]), f"boundary after {half} of {count} tokens"


def case_steps_go_on_from_a_commit() -> None:
    """Three of five tokens are accepted, in place, then the rest comes."""
    tokens = Tokens.drawn(6)
    pool = drawn_pool(tokens.page(), torch.float32).tensor
    expected, after = truth(tokens, pool[4])
    first, rest = tokens.part(0, 5), tokens.part(3, 6)
    cache = ReplayCache.like(1, first.k, first.v, first.g, first.beta)
    gated_delta_verify(*first.all(), pool, cache, table([0, 5]), table([4]))
    gated_delta_commit(pool, cache, *map(table, ([4], [4], [3], [0], [0])))
    o = gated_delta_verify(*rest.all(), pool, cache, table([0, 3]), table([4]))
    gated_delta_commit(pool, cache, *map(table, ([4], [4], [3], [0], [0])))
    assert_near(o, expected[3:], 1e-5, "o after 3 accepted tokens")
    assert_near(pool[4], after[5], 1e-5, "the last state")


def case_the_initial_state_matters() -> None:
    tokens = Tokens.drawn(6)
    pool = drawn_pool(tokens.page(), torch.float32).tensor
    cache = ReplayCache.like(1, tokens.k, tokens.v, tokens.g, tokens.beta)
    outputs = []
    for source, target in ((4, 10), (0, 11)):
        o = gated_delta_verify(*tokens.all(), pool, cache, table([0, 6]), table([source]))
        gated_delta_commit(pool, cache, *map(table, ([source], [target], [6], [0], [0])))
        outputs.append(o)
    assert (outputs[0] - outputs[1])[-1].abs().max() > 0.1
    assert (pool[10] - pool[11]).abs().max() > 0.1


def case_more_tokens_than_are_kept() -> None:
    """They have their outputs; nothing is written or read past the row's cache."""
    tokens, sources = Tokens.drawn(14, heads=(1, 2)), table([4, 4])
    pool, caches = drawn_pool(tokens.page(), torch.float32).tensor, Caches.of(2, tokens)
    expected, after = truth(tokens.part(0, 12), pool[4])
    _, neighbour = truth(tokens.part(12, 14), pool[4])
    o = gated_delta_verify(*tokens.all(), pool, caches.cache, table([0, 12, 14]), sources)
    entries = ([5, 7], [12, 2], [6, 0], [12, 0])
    gated_delta_commit(pool, caches.cache, sources, *map(table, entries))
    assert_near(o[:12], expected, 1e-5, "o")
    assert_near(pool[5], after[8], 1e-5, "the state after what was kept")
    assert_near(pool[7], neighbour[1], 1e-5, "the state of the row behind")
    assert caches.intact()


def case_tokens_may_be_views() -> None:
    tokens = Tokens.drawn(3)
    padded = (torch.cat([x, x], 1) for x in (tokens.q, tokens.k, tokens.v))
    q, k, v = (x[:, : x.shape[1] // 2] for x in padded)
    views = replace(tokens, q=q, k=k, v=v)
    pool = drawn_pool(tokens.page(), torch.float32).tensor
    cache = ReplayCache.like(1, tokens.k, tokens.v, tokens.g, tokens.beta)
    expected, after = truth(tokens, pool[4])
    o = gated_delta_verify(*views.all(), pool, cache, table([0, 3]), table([4]))
    gated_delta_commit(pool, cache, *map(table, ([4], [5], [2], [0], [0])))
    assert_near(o, expected, 1e-5, "o of views")
    assert_near(pool[5], after[1], 1e-5, "the state")


def case_offsets_beyond_32_bits() -> None:
    tokens = Tokens.drawn(2, heads=(1, 2))
    memory = torch.empty(3 * 2**30 + 2 * 20 * 24, dtype=torch.bfloat16)
    pool = memory.as_strided((4, 2, 20, 24), (2**30, 20 * 24, 24, 1))
    pool[2] = drawn_pool(tokens.page(), torch.bfloat16).tensor[2]
    expected, after = truth(tokens, pool[2])
    cache = ReplayCache.like(1, tokens.k, tokens.v, tokens.g, tokens.beta)
    o = gated_delta_verify(*tokens.all(), pool, cache, table([0, 2]), table([2]))
    gated_delta_commit(pool, cache, *map(table, ([2], [2], [2], [3], [1])))
    assert_near(o, expected, 1e-5, "o")
    assert_near(pool[2], after[1], 1e-2, "page 2")
    assert_near(pool[3], after[0], 1e-2, "page 3")


def case_nothing_to_do() -> None:
    tokens = Tokens.drawn(0)
    pool, caches = drawn_pool(tokens.page(), torch.float32), Caches.of(2, tokens)
    read = (pool.tensor, caches.cache, table([0, 0, 0]), table([1, 2]))
    assert gated_delta_verify(*tokens.all(), *read).shape == tokens.v.shape
    before = page_digests(pool.tensor)
    entries = ([1, 2], [3, 4], [0, -1], [5, 6], [0, 0])
    gated_delta_commit(pool.tensor, caches.cache, *map(table, entries))
    gated_delta_commit(pool.tensor, caches.cache, *(table([]) for _ in range(5)))
    assert page_digests(pool.tensor) == before
    assert pool.intact()


def case_agrees_with_flash_linear_attention() -> None:
    tokens = Tokens.drawn(9)
    pool = drawn_pool(tokens.page(), torch.float32).tensor
    q, k = (unit(x).repeat_interleave(2, 1)[None, :5] for x in (tokens.q, tokens.k))
    theirs, state = fla_naive().naive_recurrent_gated_delta_rule(
        q=q,
        k=k,
        v=tokens.v[None, :5],
        beta=tokens.beta[None, :5],
        g=tokens.g[None, :5],
        initial_state=pool[4].mT[None],
        output_final_state=True,
    )
    cache = ReplayCache.like(1, tokens.k, tokens.v, tokens.g, tokens.beta)
    o = gated_delta_verify(*tokens.all(), pool, cache, table([0, 9]), table([4]))
    gated_delta_commit(pool, cache, *map(table, ([4], [5], [5], [0], [0])))
    assert_near(o[:5], theirs[0], 1e-5, "o")
    assert_near(pool[5], state[0].mT, 1e-5, "state")


def case_refusals() -> None:
    tokens = Tokens.drawn(2)
    pool = drawn_pool(tokens.page(), torch.float32).tensor
    cache = ReplayCache.like(1, tokens.k, tokens.v, tokens.g, tokens.beta)

    def verify(said: str, tokens: Tokens = tokens, **changed: Any) -> None:
        tables = {"row_starts": table([0, 2]), "sources": table([1])}
        arguments = {"states": pool, "caches": cache, **tables, **changed}
        with pytest.raises(ValueError, match=re.escape(said)):
            gated_delta_verify(*tokens.all(), **arguments)

    def commit(said: str, **changed: Any) -> None:
        names = ("sources", "targets", "accepted", "boundary_targets", "boundary_offsets")
        arguments = {"states": pool, "caches": cache, **{name: table([1]) for name in names}}
        with pytest.raises(ValueError, match=re.escape(said)):
            gated_delta_commit(**{**arguments, **changed})

    verify("g has shape (1, 4); (2, 4) would do", replace(tokens, g=tokens.g[:1]))
    verify("row_starts has shape (2,); (3,) would do", sources=table([1, 1]))
    verify(
        "caches.k has shape (1, 9, 2, 24); (2, 9, 2, 24) would do",
        sources=table([1, 1]),
        row_starts=table([0, 2, 2]),
    )
    narrow = replace(cache, v=cache.v.bfloat16())
    verify("caches.v is torch.bfloat16, strides (720, 80, 20, 1); torch.float32", caches=narrow)
    short = replace(cache, g=cache.g[:, :8])
    verify("caches.g has shape (1, 8, 4); (1, 9, 4) would do", caches=short)
    commit("states has shape (24, 4, 24, 20); (24, 4, 20, 24) would do", states=pool.mT)
    commit("accepted is torch.int64, stride (1,); int32, 1", accepted=torch.tensor([1]))
    commit("boundary_offsets has shape (2,); (1,) would do", boundary_offsets=table([1, 1]))

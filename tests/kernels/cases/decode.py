"""Decoding and verification, against the rule in float64, one token and one head at a time."""

import importlib.util
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from math import prod
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import patch

import pytest
import torch

from truehit.kernels.decode import decode_reference, gated_delta_decode

from ..buffers import RedZoned, assert_near, at_the_edge, page_digests, poisoned

Five = tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]
PAGES = 24
TOLERANCE = {torch.float64: 1e-12, torch.float32: 1e-5, torch.bfloat16: 1e-2}


@dataclass(frozen=True, slots=True)
class Tokens:
    """What a layer hands to the rule."""

    q: torch.Tensor
    k: torch.Tensor
    v: torch.Tensor
    g: torch.Tensor
    beta: torch.Tensor

    @classmethod
    def drawn(
        cls,
        count: int,
        dtype: torch.dtype = torch.float32,
        heads: tuple[int, int] = (2, 4),
        sizes: tuple[int, int] = (24, 20),
        seed: int = 0,
    ) -> "Tokens":
        """With a long memory: exp(g) in 0.95 .. 1. `heads`: key, value; `sizes`: K, V."""
        draw = torch.Generator().manual_seed(seed)
        shapes = ((heads[0], sizes[0]), (heads[0], sizes[0]), (heads[1], sizes[1]))
        q, k, v = (torch.randn(count, *shape, generator=draw).to(dtype) for shape in shapes)
        g = torch.log(0.95 + 0.05 * torch.rand(count, heads[1], generator=draw))
        beta = torch.rand(count, heads[1], generator=draw).to(dtype)
        return cls(q, k, v, g if dtype is torch.bfloat16 else g.to(dtype), beta)

    def page(self) -> tuple[int, ...]:
        """HV, V, K"""
        return *self.v.shape[1:], self.k.shape[2]

    def all(self) -> Five:
        return self.q, self.k, self.v, self.g, self.beta

    def part(self, start: int, end: int) -> "Tokens":
        return self.map(lambda x: x[start:end])

    def map(self, change: Callable[[torch.Tensor], torch.Tensor]) -> "Tokens":
        return Tokens(*map(change, self.all()))


def truth(tokens: Tokens, initial: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """`o [T, HV, V]` and the state after each token `[T, HV, V, K]`, in float64."""
    q, k, v, g, beta = (x.double() for x in tokens.all())
    count, heads, values = v.shape
    o = torch.empty(count, heads, values, dtype=torch.float64)
    after = torch.empty(count, *initial.shape, dtype=torch.float64)
    for head in range(heads):
        key_head = head // (heads // k.shape[1])
        state = initial[head].double()
        for t in range(count):
            key, query = k[t, key_head], q[t, key_head]
            key = key / torch.sqrt(key.dot(key) + 1e-6)
            query = query / torch.sqrt(query.dot(query) + 1e-6)
            state = torch.exp(g[t, head]) * state
            state = state + torch.outer(beta[t, head] * (v[t, head] - state.mv(key)), key)
            o[t, head] = state.mv(query) / key.numel() ** 0.5
            after[t, head] = state
    return o, after


def drawn_pool(page: tuple[int, ...], dtype: torch.dtype, pages: int = PAGES) -> RedZoned:
    """Every page its own values, pages apart by a gap; the null page is poison."""
    values = torch.randn(pages, *page, generator=torch.Generator().manual_seed(9)).to(dtype)
    values[0] = poisoned(page, dtype)
    return RedZoned.of(values, (prod(page) + 16, *values.stride()[1:]))


@contextmanager
def zoned_outputs() -> Iterator[None]:
    """What is allocated within is poisoned, lies between red zones, and they hold."""
    made: list[RedZoned] = []

    def empty(*shape: Any, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
        sizes = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
        strides = [prod(sizes[axis + 1 :]) for axis in range(len(sizes))]
        made.append(RedZoned.make(tuple(sizes), dtype, strides))
        return made[-1].tensor

    def empty_like(x: torch.Tensor) -> torch.Tensor:
        return empty(x.shape, dtype=x.dtype, device=x.device)

    with patch.object(torch, "empty", empty), patch.object(torch, "empty_like", empty_like):
        yield
    assert made
    assert all(zoned.intact() for zoned in made)


def table(entries: list[int]) -> torch.Tensor:
    return at_the_edge(torch.tensor(entries, dtype=torch.int32))


def offsets(lengths: list[int]) -> list[int]:
    return [0, *accumulate(lengths)]


def initial_states(pool: torch.Tensor, sources: list[int]) -> list[torch.Tensor]:
    return [
        pool[source].clone().double()
        if source
        else torch.zeros(pool.shape[1:], dtype=torch.float64)
        for source in sources
    ]


def check(
    tokens: Tokens,
    pool_dtype: torch.dtype,
    lengths: list[int],
    sources: list[int],
    targets: list[int],
    decode: Callable[..., torch.Tensor] = gated_delta_decode,
) -> None:
    zoned = drawn_pool(tokens.page(), pool_dtype)
    states, starts = zoned.tensor, offsets(lengths)
    initial, before = initial_states(states, sources), page_digests(states)
    with zoned_outputs():
        tables = (table(starts), table(sources), table(targets))
        o = decode(*tokens.map(at_the_edge).all(), states, *tables)
    for (start, end), state in zip(pairwise(starts), initial, strict=True):
        if start == end:
            continue
        rows = tokens.part(start, end)
        expected, after = truth(rows, state)
        assert_near(o[start:end], expected, TOLERANCE[tokens.v.dtype], f"o of [{start}, {end})")
        for target, wanted in zip(targets[start:end], after, strict=True):
            if target:
                assert_near(states[target], wanted, TOLERANCE[pool_dtype], f"page {target}")
    changed = {page for page, digest in enumerate(page_digests(states)) if digest != before[page]}
    assert changed == set(targets) - {0}
    assert zoned.intact()


RAGGED = [1, 0, 3, 1, 2, 1]
SOURCES = [3, 5, 3, 0, 7, 8]
TARGETS = [10, 11, 0, 12, 13, 0, 7, 8]
"""Pages 7 and 8 in place; page 3 is shared; rows end and go on without a target."""


def case_fp32() -> None:
    check(Tokens.drawn(8), torch.float32, RAGGED, SOURCES, TARGETS)


def case_fp32_in_a_bf16_pool() -> None:
    check(Tokens.drawn(8), torch.bfloat16, RAGGED, SOURCES, TARGETS)


def case_bf16_in_an_fp32_pool() -> None:
    check(Tokens.drawn(8, torch.bfloat16), torch.float32, RAGGED, SOURCES, TARGETS)


def case_bf16() -> None:
    check(Tokens.drawn(8, torch.bfloat16), torch.bfloat16, RAGGED, SOURCES, TARGETS)


def case_the_reference() -> None:
    for dtype in (torch.float64, torch.float32, torch.bfloat16):
        pool_dtype = torch.float32 if dtype is torch.bfloat16 else dtype
        tokens = Tokens.drawn(8, dtype)
        check(tokens, pool_dtype, RAGGED, SOURCES, TARGETS, decode_reference)
    check(Tokens.drawn(8), torch.bfloat16, RAGGED, SOURCES, TARGETS, decode_reference)


def case_sizes_and_heads() -> None:
    for heads, sizes in (((1, 1), (64, 64)), ((1, 3), (128, 128)), ((4, 4), (16, 40))):
        check(Tokens.drawn(2, heads=heads, sizes=sizes), torch.float32, [1, 1], [2, 0], [4, 5])


def case_eight_drafts_are_eight_runs() -> None:
    tokens, pages = Tokens.drawn(9), list(range(10, 19))
    check(tokens, torch.float32, [9], [4], pages)
    drafted = drawn_pool(tokens.page(), torch.float32).tensor
    gated_delta_decode(*tokens.all(), drafted, table([0, 9]), table([4]), table(pages))
    for count in (1, 2, 5, 9):
        pool = drawn_pool(tokens.page(), torch.float32).tensor
        targets = table([0] * (count - 1) + [20])
        first = tokens.part(0, count)
        gated_delta_decode(*first.all(), pool, table([0, count]), table([4]), targets)
        assert torch.equal(drafted[9 + count], pool[20]), f"after {count} tokens"


def case_a_step_goes_on_from_what_was_accepted() -> None:
    tokens = Tokens.drawn(6)
    pool = drawn_pool(tokens.page(), torch.float32).tensor
    expected, after = truth(tokens, pool[4])
    drafted = tokens.part(0, 5)
    gated_delta_decode(*drafted.all(), pool, table([0, 5]), table([4]), table([10, 11, 12, 13, 14]))
    rest = tokens.part(3, 6)
    o = gated_delta_decode(*rest.all(), pool, table([0, 3]), table([12]), table([0, 12, 15]))
    assert_near(o, expected[3:], 1e-5, "o after 3 accepted tokens")
    assert_near(pool[15], after[5], 1e-5, "the last state")


def case_the_initial_state_matters() -> None:
    tokens = Tokens.drawn(6)
    pool = drawn_pool(tokens.page(), torch.float32).tensor
    outputs = [
        gated_delta_decode(*tokens.all(), pool, table([0, 6]), table([source]), table([0] * 6))
        for source in (4, 0)
    ]
    assert (outputs[0] - outputs[1])[-1].abs().max() > 0.1


def case_tokens_may_be_views() -> None:
    tokens = Tokens.drawn(3)
    mixed = torch.cat([x.flatten(1) for x in (tokens.q, tokens.k, tokens.v)], 1)
    widths = [x[0].numel() for x in (tokens.q, tokens.k, tokens.v)]
    q, k, v = (
        part.view(like.shape)
        for part, like in zip(
            torch.split(mixed, widths, 1), (tokens.q, tokens.k, tokens.v), strict=True
        )
    )
    pool = drawn_pool(tokens.page(), torch.float32).tensor
    expected, _ = truth(tokens, pool[4])
    views = replace(tokens, q=q, k=k, v=v)
    o = gated_delta_decode(*views.all(), pool, table([0, 3]), table([4]), table([0, 5, 0]))
    assert_near(o, expected, 1e-5, "o of views")


def case_offsets_beyond_32_bits() -> None:
    tokens = Tokens.drawn(1)
    shape = (4, 4, 20, 24)
    memory = torch.empty(3 * 2**30 + 4 * 20 * 24, dtype=torch.bfloat16)
    pool = memory.as_strided(shape, (2**30, 20 * 24, 24, 1))
    pool[2] = drawn_pool(tokens.page(), torch.bfloat16).tensor[2]
    expected, after = truth(tokens, pool[2])
    o = gated_delta_decode(*tokens.all(), pool, table([0, 1]), table([2]), table([3]))
    assert_near(o, expected, 1e-5, "o")
    assert_near(pool[3], after[0], 1e-2, "page 3")


def case_nothing_to_do() -> None:
    tokens = Tokens.drawn(0)
    pool = drawn_pool(tokens.page(), torch.float32)
    o = gated_delta_decode(*tokens.all(), pool.tensor, table([0, 0, 0]), table([1, 2]), table([]))
    assert o.shape == tokens.v.shape
    assert pool.intact()


def fla_naive() -> ModuleType:
    """flash-linear-attention's plain functions; their file needs nothing else of theirs."""
    package = importlib.util.find_spec("fla")
    assert package is not None
    assert package.submodule_search_locations is not None
    folder = Path(package.submodule_search_locations[0])
    path = folder / "ops" / "gated_delta_rule" / "naive.py"
    spec = importlib.util.spec_from_file_location("fla_naive", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def unit(x: torch.Tensor) -> torch.Tensor:
    return x / torch.sqrt((x * x).sum(-1, keepdim=True) + 1e-6)


def case_agrees_with_flash_linear_attention() -> None:
    tokens = Tokens.drawn(9)
    pool = drawn_pool(tokens.page(), torch.float32).tensor
    q, k = (unit(x).repeat_interleave(2, 1)[None] for x in (tokens.q, tokens.k))
    theirs, state = fla_naive().naive_recurrent_gated_delta_rule(
        q=q,
        k=k,
        v=tokens.v[None],
        beta=tokens.beta[None],
        g=tokens.g[None],
        initial_state=pool[4].mT[None],
        output_final_state=True,
    )
    last = table([0] * 8 + [5])
    o = gated_delta_decode(*tokens.all(), pool, table([0, 9]), table([4]), last)
    assert_near(o, theirs[0], 1e-5, "o")
    assert_near(pool[5], state[0].mT, 1e-5, "state")


def case_agrees_with_transformers() -> None:
    from transformers.models.qwen3_next import modeling_qwen3_next as theirs

    tokens = Tokens.drawn(9)
    pool = drawn_pool(tokens.page(), torch.float32).tensor
    # Wrapped, it is flash-linear-attention's kernel where that is installed.
    expected, state = theirs.torch_recurrent_gated_delta_rule.__wrapped__(
        *(x[None] for x in tokens.all()),
        initial_state=pool[4].mT[None],
        output_final_state=True,
        use_qk_l2norm_in_kernel=True,
    )
    last = table([0] * 8 + [5])
    o = gated_delta_decode(*tokens.all(), pool, table([0, 9]), table([4]), last)
    assert_near(o, expected[0], 1e-5, "o")
    assert_near(pool[5], state[0].mT, 1e-5, "state")


def case_refusals() -> None:
    tokens = Tokens.drawn(2)
    pool = drawn_pool(tokens.page(), torch.float32).tensor

    def refuses(said: str, tokens: Tokens = tokens, **changed: Any) -> None:
        tables = {"row_starts": table([0, 2]), "sources": table([1]), "targets": table([0, 2])}
        arguments = {"states": pool, **tables, **changed}
        with pytest.raises(ValueError, match=re.escape(said)):
            gated_delta_decode(*tokens.all(), **arguments)

    refuses("g has shape (1, 4); (2, 4) would do", replace(tokens, g=tokens.g[:1]))
    refuses("q is torch.float64; torch.float32 and", replace(tokens, q=tokens.q.double()))
    refuses("3 value heads over 2 key heads; 2 would do", replace(tokens, v=tokens.v[:, :3]))
    refuses("states has shape (24, 4, 24, 20); (24, 4, 20, 24) would do", states=pool.mT)
    refuses("k has strides", replace(tokens, k=tokens.k.mT.contiguous().mT))
    refuses("targets has shape (3,); (2,) would do", targets=table([1, 2, 3]))
    refuses("row_starts has shape (2,); (3,) would do", sources=table([1, 1]))
    refuses("sources is torch.int64, stride (1,); int32, 1 would do", sources=torch.tensor([1]))

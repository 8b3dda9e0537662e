"""Mamba2's state, token by token, against the rule in float64, one token and one head at a time."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import pytest
import torch

from truehit.kernels.mamba2 import Mamba2Tokens, Mamba2Weights, mamba2_update, update_reference

from ..buffers import assert_near, at_the_edge, page_digests
from ..programs import backwards
from .decode import TOLERANCE, drawn_pool, initial_states, offsets, table, zoned_outputs


@dataclass(frozen=True, slots=True)
class Layer:
    """`heads`, in `groups`; a state has `lines` x `columns`."""

    heads: int = 4
    groups: int = 2
    lines: int = 20
    columns: int = 24
    dtype: torch.dtype = torch.float32
    is_softplus: bool = True

    def page(self) -> tuple[int, ...]:
        return self.heads, self.lines, self.columns

    def tokens(self, count: int) -> Mamba2Tokens:
        draw = torch.Generator().manual_seed(0)
        shapes = ((self.heads, self.lines), *[(self.groups, self.columns)] * 2)
        x, b, c = (torch.randn(count, *shape, generator=draw).to(self.dtype) for shape in shapes)
        dt = torch.randn(count, self.heads, generator=draw)
        return Mamba2Tokens(x, (dt if self.is_softplus else dt.sigmoid()).to(self.dtype), b, c)

    def weights(self) -> Mamba2Weights:
        """With a long memory, and steps down to 1e-3 as they are trained."""
        draw = torch.Generator().manual_seed(1)
        rates = -torch.exp(torch.linspace(-3.5, -1.2, self.heads))
        skips = torch.randn(self.heads, generator=draw)
        bias = torch.linspace(-7.0, 0.0, self.heads) if self.is_softplus else 0 * rates + 0.1
        rates, skips, bias = map(at_the_edge, (rates, skips, bias))
        return Mamba2Weights(rates, skips, bias, self.is_softplus)


def changed(tokens: Mamba2Tokens, change: Callable[[torch.Tensor], torch.Tensor]) -> Mamba2Tokens:
    return Mamba2Tokens(*map(change, (tokens.x, tokens.dt, tokens.B, tokens.C)))


def part(tokens: Mamba2Tokens, start: int, end: int) -> Mamba2Tokens:
    return changed(tokens, lambda x: x[start:end])


def wide(weights: Mamba2Weights) -> Mamba2Weights:
    learned = weights.A.double(), weights.D.double(), weights.dt_bias.double()
    return Mamba2Weights(*learned, weights.is_softplus)


def truth(
    tokens: Mamba2Tokens, weights: Mamba2Weights, initial: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """`y [T, H, P]` and the state after each token `[T, H, P, N]`, in float64."""
    tokens, weights = changed(tokens, torch.Tensor.double), wide(weights)
    count, heads, _ = tokens.x.shape
    y = torch.empty_like(tokens.x)
    after = torch.empty(count, *initial.shape, dtype=torch.float64)
    for head in range(heads):
        group = head // (heads // tokens.B.shape[1])
        state = initial[head].double()
        for t in range(count):
            step = tokens.dt[t, head] + weights.dt_bias[head]
            if weights.is_softplus:
                step = torch.log1p(torch.exp(step))
            x = tokens.x[t, head]
            state = torch.exp(step * weights.A[head]) * state
            state = state + step * torch.outer(x, tokens.B[t, group])
            y[t, head] = state.mv(tokens.C[t, group]) + weights.D[head] * x
            after[t, head] = state
    return y, after


def check(
    layer: Layer,
    pool_dtype: torch.dtype,
    lengths: list[int],
    sources: list[int],
    targets: list[int],
    update: Callable[..., torch.Tensor] = mamba2_update,
) -> None:
    tokens, weights = layer.tokens(sum(lengths)), layer.weights()
    zoned = drawn_pool(layer.page(), pool_dtype)
    states, starts = zoned.tensor, offsets(lengths)
    initial, before = initial_states(states, sources), page_digests(states)
    with zoned_outputs():
        tables = (table(starts), table(sources), table(targets))
        y = update(changed(tokens, at_the_edge), weights, states, *tables)
    for (start, end), state in zip(pairwise(starts), initial, strict=True):
        if start == end:
            continue
        expected, after = truth(part(tokens, start, end), weights, state)
        assert_near(y[start:end], expected, TOLERANCE[layer.dtype], f"y of [{start}, {end})")
        for target, wanted in zip(targets[start:end], after, strict=True):
            if target:
                assert_near(states[target], wanted, TOLERANCE[pool_dtype], f"page {target}")
    written = {page for page, digest in enumerate(page_digests(states)) if digest != before[page]}
    assert written == set(targets) - {0}
    assert zoned.intact()


RAGGED = ([1, 0, 3, 1, 2, 1], [3, 5, 3, 0, 7, 8], [10, 11, 0, 12, 13, 0, 7, 8])
"""Lengths, sources, targets. Pages 7 and 8 in place; page 3 is shared; rows end and go on without a
target."""


def case_fp32() -> None:
    check(Layer(), torch.float32, *RAGGED)


def case_fp32_in_a_bf16_pool() -> None:
    check(Layer(), torch.bfloat16, *RAGGED)


def case_bf16_in_an_fp32_pool() -> None:
    check(Layer(dtype=torch.bfloat16), torch.float32, *RAGGED)


def case_bf16() -> None:
    check(Layer(dtype=torch.bfloat16), torch.bfloat16, *RAGGED)


def case_steps_as_they_are() -> None:
    check(Layer(is_softplus=False), torch.float32, *RAGGED)


def case_the_last_program_first() -> None:
    with backwards():
        check(Layer(), torch.float32, *RAGGED)


def case_the_reference() -> None:
    for dtype in (torch.float64, torch.float32, torch.bfloat16):
        pool_dtype = torch.float32 if dtype is torch.bfloat16 else dtype
        check(Layer(dtype=dtype), pool_dtype, *RAGGED, update_reference)
    check(Layer(is_softplus=False), torch.float32, *RAGGED, update_reference)


def case_sizes_and_heads() -> None:
    for layer in (
        Layer(heads=1, groups=1, lines=64, columns=128),
        Layer(heads=3, groups=1, lines=8, columns=256),
        Layer(heads=2, groups=2, lines=40, columns=16),
    ):
        check(layer, torch.float32, [1, 1], [2, 0], [4, 5])


def case_small_steps_are_exact() -> None:
    """A rounded logarithm would be off by a part in a thousand here."""
    layer = Layer(heads=1, groups=1)
    for bias in (-8.0, -14.0, -30.0, 0.0, 20.0, 100.0):
        tokens, weights = layer.tokens(2), replace(layer.weights(), dt_bias=torch.tensor([bias]))
        pool = drawn_pool(layer.page(), torch.float32).tensor
        expected, after = truth(tokens, weights, torch.zeros(layer.page()))
        rows = (table([0, 2]), table([0]), table([0, 5]))
        y = mamba2_update(tokens, weights, pool, *rows)
        assert_near(pool[5], after[1], 1e-5, f"state after steps of bias {bias}")
        assert_near(y, expected, 1e-5, f"y after steps of bias {bias}")


def case_eight_drafts_are_eight_runs() -> None:
    layer, pages = Layer(heads=2), list(range(10, 19))
    tokens, weights = layer.tokens(9), layer.weights()
    check(layer, torch.float32, [9], [4], pages)
    drafted = drawn_pool(layer.page(), torch.float32).tensor
    mamba2_update(tokens, weights, drafted, table([0, 9]), table([4]), table(pages))
    for count in (1, 2, 5, 9):
        pool = drawn_pool(layer.page(), torch.float32).tensor
        rows = (table([0, count]), table([4]), table([0] * (count - 1) + [20]))
        mamba2_update(part(tokens, 0, count), weights, pool, *rows)
        assert torch.equal(drafted[9 + count], pool[20]), f"after {count} tokens"


def case_a_step_goes_on_from_what_was_accepted() -> None:
    layer = Layer()
    tokens, weights = layer.tokens(6), layer.weights()
    pool = drawn_pool(layer.page(), torch.float32).tensor
    expected, after = truth(tokens, weights, pool[4])
    drafts = (table([0, 5]), table([4]), table([10, 11, 12, 13, 14]))
    mamba2_update(part(tokens, 0, 5), weights, pool, *drafts)
    rest = (table([0, 3]), table([12]), table([0, 12, 15]))
    y = mamba2_update(part(tokens, 3, 6), weights, pool, *rest)
    assert_near(y, expected[3:], 1e-5, "y after 3 accepted tokens")
    assert_near(pool[15], after[5], 1e-5, "the last state")


def case_the_initial_state_matters() -> None:
    layer = Layer()
    tokens, weights = layer.tokens(6), layer.weights()
    pool = drawn_pool(layer.page(), torch.float32).tensor
    outputs = [
        mamba2_update(tokens, weights, pool, table([0, 6]), table([source]), table([0] * 6))
        for source in (4, 0)
    ]
    assert (outputs[0] - outputs[1])[-1].abs().max() > 0.1


def views(tokens: Mamba2Tokens) -> Mamba2Tokens:
    """The same in one tensor, as a convolution leaves x, B and C."""
    named = (tokens.x, tokens.B, tokens.C)
    mixed = torch.cat([x.flatten(1) for x in named], 1)
    parts = torch.split(mixed, [x[0].numel() for x in named], 1)
    x, b, c = (part.view(like.shape) for part, like in zip(parts, named, strict=True))
    return Mamba2Tokens(x, tokens.dt, b, c)


def case_tokens_may_be_views() -> None:
    layer = Layer()
    tokens, weights = layer.tokens(3), layer.weights()
    pool = drawn_pool(layer.page(), torch.float32).tensor
    expected, _ = truth(tokens, weights, pool[4])
    rows = (table([0, 3]), table([4]), table([0, 5, 0]))
    assert_near(mamba2_update(views(tokens), weights, pool, *rows), expected, 1e-5, "y of views")


def case_offsets_beyond_32_bits() -> None:
    layer = Layer()
    tokens, weights = layer.tokens(1), layer.weights()
    memory = torch.empty(3 * 2**30 + 4 * 20 * 24, dtype=torch.bfloat16)
    pool = memory.as_strided((4, 4, 20, 24), (2**30, 20 * 24, 24, 1))
    pool[2] = drawn_pool(layer.page(), torch.bfloat16).tensor[2]
    expected, after = truth(tokens, weights, pool[2])
    y = mamba2_update(tokens, weights, pool, table([0, 1]), table([2]), table([3]))
    assert_near(y, expected, 1e-5, "y")
    assert_near(pool[3], after[0], 1e-2, "page 3")


def case_nothing_to_do() -> None:
    layer = Layer()
    tokens, pool = layer.tokens(0), drawn_pool(layer.page(), torch.float32)
    rows = (table([0, 0, 0]), table([1, 2]), table([]))
    assert mamba2_update(tokens, layer.weights(), pool.tensor, *rows).shape == tokens.x.shape
    assert pool.intact()


def case_agrees_with_transformers() -> None:
    from transformers.models.nemotron_h import modeling_nemotron_h as theirs

    layer = Layer()
    tokens, weights = layer.tokens(4), layer.weights()
    pool = drawn_pool(layer.page(), torch.float32).tensor
    state = pool[4].clone()[None]
    rows = (table([0, 4]), table([4]), table([0, 0, 0, 5]))
    y = mamba2_update(tokens, weights, pool, *rows)
    lines, columns = layer.lines, layer.columns
    for t in range(4):
        # Wrapped, it is mamba-ssm's kernel where that is installed.
        expected = theirs.mamba2_selective_state_update.__wrapped__(
            state,
            tokens.x[t, None],
            tokens.dt[t, None, :, None].expand(-1, -1, lines),
            weights.A[:, None, None].expand(-1, lines, columns),
            tokens.B[t, None],
            tokens.C[t, None],
            weights.D[:, None].expand(-1, lines),
            dt_bias=weights.dt_bias[:, None].expand(-1, lines),
            dt_softplus=True,
        )
        assert_near(y[t], expected[0], 1e-5, f"y of token {t}")
    assert_near(pool[5], state[0], 1e-5, "state")


def refusals(said: str, tokens: Mamba2Tokens, weights: Mamba2Weights) -> Iterator[Any]:
    """Inputs that no kernel of Mamba2 takes, with what is said."""
    yield f"{said}: 3 heads over 2 groups; 2 would do", replace(tokens, x=tokens.x[:, :3]), weights
    yield "dt has shape (1, 4); (2, 4) would do", replace(tokens, dt=tokens.dt[:1]), weights
    yield "B is torch.bfloat16; torch.float32", replace(tokens, B=tokens.B.bfloat16()), weights
    yield "x is torch.float64; torch.float32", replace(tokens, x=tokens.x.double()), weights
    turned = replace(tokens, C=tokens.C.mT.contiguous().mT)
    yield "C has strides (48, 1, 2); contiguous() would do", turned, weights
    yield "D has shape (3,); (4,) would do", tokens, replace(weights, D=weights.D[:3])
    yield "A is torch.float64; torch.float32", tokens, replace(weights, A=weights.A.double())


def case_refusals() -> None:
    layer = Layer()
    tokens, weights = layer.tokens(2), layer.weights()
    pool = drawn_pool(layer.page(), torch.float32).tensor

    def refuses(
        said: str, tokens: Mamba2Tokens = tokens, weights: Mamba2Weights = weights, **rows: Any
    ) -> None:
        tables = {"row_starts": table([0, 2]), "sources": table([1]), "targets": table([0, 2])}
        with pytest.raises(ValueError, match=re.escape(said)):
            mamba2_update(tokens, weights, **{"states": pool, **tables, **rows})

    for each in refusals("mamba2_update", tokens, weights):
        refuses(*each)
    refuses("states has shape (24, 4, 24, 20); (24, 4, 20, 24) would do", states=pool.mT)
    refuses("targets has shape (3,); (2,) would do", targets=table([1, 2, 3]))
    refuses("row_starts has shape (2,); (3,) would do", sources=table([1, 1]))
    refuses("sources is torch.int64, stride (1,); int32, 1 would do", sources=torch.tensor([1]))

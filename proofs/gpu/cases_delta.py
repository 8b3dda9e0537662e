"""Trials of the gated delta rule: token by token, across segments, and a whole prefill.

The rule of a prefill is that of decoding, token by token in float64: nothing of the segments' form
is shared with what it judges."""

import torch
from torch import Tensor

from truehit.kernels.chunk import TorchSegments, segment_math
from truehit.kernels.decode import unit_length
from truehit.proofs.gpu.drawing import Draw, Rows, drawn_rows, offsets
from truehit.proofs.gpu.operations import launchers, references
from truehit.proofs.gpu.sizes import Sizes, tolerance
from truehit.proofs.gpu.trial import Paged, Trial, wide

KERNELS, RULES = launchers(), references()
VERIFIED_TOKENS = 9
"""A token and eight drafts."""


def drawn_tokens(
    draw: Draw, sizes: Sizes, tokens: int, dtype: torch.dtype
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """q, k, v, g, beta with a long memory: exp(g) is between 0.95 and 1."""
    return (
        draw.normal(tokens, sizes.key_heads, sizes.size, dtype=dtype),
        draw.normal(tokens, sizes.key_heads, sizes.size, dtype=dtype),
        draw.normal(tokens, sizes.value_heads, sizes.size, dtype=dtype),
        draw.uniform(0.95, 1.0, tokens, sizes.value_heads).log(),
        draw.uniform(0.0, 1.0, tokens, sizes.value_heads, dtype=dtype),
    )


def drawn_states(draw: Draw, sizes: Sizes, rows: Rows, dtype: torch.dtype) -> Paged:
    """Sources hold states; every other page is poisoned."""
    shape = (sizes.value_heads, sizes.size, sizes.size)
    drawn = len(rows.sources)
    return Paged.of(draw.pages(drawn, rows.target_pages + 1, *shape, dtype=dtype), rows.written)


def decode_trial(
    draw: Draw, sizes: Sizes, activations: torch.dtype, pool_dtype: torch.dtype
) -> Trial:
    """Rows of up to nine tokens, a state a token."""
    rows = drawn_rows(draw, sizes.rows, VERIFIED_TOKENS, each_token=True)
    tokens = drawn_tokens(draw, sizes, rows.tokens, activations)
    lists = (offsets(rows.row_lengths), rows.sources, rows.targets)
    tables = tuple(map(draw.table, lists))

    def launch(pools: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        return (KERNELS.decode(*tokens, pools[0], *tables),)

    def rule(pools: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        return (RULES.decode(*map(wide, tokens), pools[0], *map(wide, tables)),)

    pool = drawn_states(draw, sizes, rows, pool_dtype)
    return Trial((pool,), launch, rule, tolerance(activations, pool_dtype))


def recurrence_trial(
    draw: Draw, sizes: Sizes, activations: torch.dtype, pool_dtype: torch.dtype
) -> Trial:
    """The states alone, of any w and u."""
    rows = drawn_rows(draw, sizes.rows, sizes.longest_tokens, each_token=False)
    key_shape = (rows.tokens, sizes.key_heads, sizes.size)
    shape = (rows.tokens, sizes.value_heads, sizes.size)
    decay = draw.uniform(0.95, 1.0, *shape[:2]).log()
    starts = offsets(rows.segment_lengths)
    for start, length in zip(starts, rows.segment_lengths, strict=False):
        decay[start : start + length] = decay[start : start + length].cumsum(0)
    inputs = (
        unit_length(draw.normal(*key_shape)).to(activations),
        (0.3 * unit_length(draw.normal(*shape))).to(activations),
        draw.normal(*shape, dtype=activations),
        decay,
    )
    lists = (rows.row_segments, starts, rows.sources, rows.targets)
    tables = tuple(map(draw.table, lists))

    def launch(pools: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        return KERNELS.recurrence(*inputs, pools[0], *tables)

    def rule(pools: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        return RULES.recurrence(*map(wide, inputs), pools[0], *map(wide, tables))

    pool = drawn_states(draw, sizes, rows, pool_dtype)
    return Trial((pool,), launch, rule, tolerance(activations, pool_dtype))


def chunk_trial(
    draw: Draw, sizes: Sizes, activations: torch.dtype, pool_dtype: torch.dtype
) -> Trial:
    """A whole prefill: fp32 with exact segments, bf16 with those that the device has."""
    rows = drawn_rows(draw, sizes.rows, sizes.longest_tokens, each_token=False)
    tokens = drawn_tokens(draw, sizes, rows.tokens, activations)
    starts, segments = offsets(rows.row_lengths), offsets(rows.segment_lengths)
    lists = (starts, rows.row_segments, segments, rows.sources, rows.targets)
    tables = tuple(map(draw.table, lists))
    by_token = [torch.tensor(each) for each in (starts, rows.sources, rows.targets_by_token)]
    is_exact = activations is torch.float32
    within = TorchSegments() if is_exact else segment_math(draw.device)

    def launch(pools: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        return (KERNELS.chunk(*tokens, pools[0], *tables, within=within),)

    def rule(pools: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        return (RULES.decode(*map(wide, tokens), pools[0], *by_token),)

    pool = drawn_states(draw, sizes, rows, pool_dtype)
    return Trial((pool,), launch, rule, tolerance(activations, pool_dtype))

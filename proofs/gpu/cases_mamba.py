"""Trials of the state space of Mamba2: token by token, and a whole prefill against that rule."""

import torch
from torch import Tensor

from truehit.kernels.mamba2 import Mamba2Tokens, Mamba2Weights, mamba2_update, update_reference
from truehit.kernels.mamba2_scan import mamba2_scan
from truehit.proofs.gpu.cases_delta import VERIFIED_TOKENS
from truehit.proofs.gpu.drawing import Draw, Rows, drawn_rows, offsets
from truehit.proofs.gpu.sizes import Sizes, tolerance
from truehit.proofs.gpu.trial import Paged, Trial, wide


def drawn_mamba(
    draw: Draw, sizes: Sizes, tokens: int, dtype: torch.dtype
) -> tuple[Mamba2Tokens, Mamba2Weights]:
    """With a long memory."""
    groups, heads, lines, columns = sizes.mamba
    inputs = Mamba2Tokens(
        x=draw.normal(tokens, heads, lines, dtype=dtype),
        dt=draw.uniform(-1.0, 1.0, tokens, heads, dtype=dtype),
        B=draw.normal(tokens, groups, columns, dtype=dtype),
        C=draw.normal(tokens, groups, columns, dtype=dtype),
    )
    rate, bias = draw.uniform(-0.3, -0.02, heads), draw.uniform(-3.0, 0.0, heads)
    return inputs, Mamba2Weights(A=rate, D=draw.normal(heads), dt_bias=bias)


def wide_mamba(tokens: Mamba2Tokens, weights: Mamba2Weights) -> tuple[Mamba2Tokens, Mamba2Weights]:
    """On the CPU, in float64."""
    own = Mamba2Tokens(wide(tokens.x), wide(tokens.dt), wide(tokens.B), wide(tokens.C))
    return own, Mamba2Weights(wide(weights.A), wide(weights.D), wide(weights.dt_bias))


def update_trial(
    draw: Draw, sizes: Sizes, activations: torch.dtype, pool_dtype: torch.dtype
) -> Trial:
    """Rows of up to nine tokens, a state a token."""
    rows = drawn_rows(draw, sizes.rows, VERIFIED_TOKENS, each_token=True)
    inputs = drawn_mamba(draw, sizes, rows.tokens, activations)
    lists = (offsets(rows.row_lengths), rows.sources, rows.targets)
    starts, sources, targets = map(draw.table, lists)

    def launch(pools: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        return (mamba2_update(*inputs, pools[0], starts, sources, targets),)

    def rule(pools: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        tables = (wide(starts), wide(sources), wide(targets))
        return (update_reference(*wide_mamba(*inputs), pools[0], *tables),)

    pool = _states(draw, sizes, rows, pool_dtype)
    return Trial((pool,), launch, rule, tolerance(activations, pool_dtype))


def scan_trial(
    draw: Draw, sizes: Sizes, activations: torch.dtype, pool_dtype: torch.dtype
) -> Trial:
    """A prefill in ragged segments."""
    rows = drawn_rows(draw, sizes.rows, sizes.longest_tokens, each_token=False)
    inputs = drawn_mamba(draw, sizes, rows.tokens, activations)
    segments = offsets(rows.segment_lengths)
    lists = (rows.row_segments, segments, rows.sources, rows.targets)
    row_segments, starts, sources, targets = map(draw.table, lists)
    by_token = (offsets(rows.row_lengths), rows.sources, rows.targets_by_token)

    def launch(pools: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        return (mamba2_scan(*inputs, pools[0], row_segments, starts, sources, targets),)

    def rule(pools: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        ends, read, written = map(torch.tensor, by_token)
        return (update_reference(*wide_mamba(*inputs), pools[0], ends, read, written),)

    pool = _states(draw, sizes, rows, pool_dtype)
    return Trial((pool,), launch, rule, tolerance(activations, pool_dtype))


def _states(draw: Draw, sizes: Sizes, rows: Rows, dtype: torch.dtype) -> Paged:
    _, *page = sizes.mamba
    pages = draw.pages(sizes.rows, rows.target_pages + 1, *page, dtype=dtype)
    return Paged.of(pages, rows.written)

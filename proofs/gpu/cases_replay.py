"""Trials of verification without a page a token, and of the commit of what was accepted."""

from collections.abc import Callable

import torch
from torch import Tensor

from truehit.kernels.replay import (
    CACHED_TOKENS,
    ReplayCache,
    commit_reference,
    gated_delta_commit,
    gated_delta_verify,
    verify_reference,
)
from truehit.proofs.gpu.cases_delta import drawn_states, drawn_tokens
from truehit.proofs.gpu.drawing import Draw, Rows, offsets
from truehit.proofs.gpu.sizes import Sizes, tolerance
from truehit.proofs.gpu.trial import Trial, wide

VERIFY: Callable[..., Tensor] = gated_delta_verify
VERIFY_RULE: Callable[..., Tensor] = verify_reference
SPARE_ROWS = 2
"""Of a cache, more than a launch has."""


def verify_trial(
    draw: Draw, sizes: Sizes, activations: torch.dtype, pool_dtype: torch.dtype
) -> Trial:
    """Outputs, and what the cache keeps; no page is written."""
    lengths = draw.lengths(sizes.rows, CACHED_TOKENS)
    sources = [draw.pick.choice((0, row + 1, row + 1)) for row in range(sizes.rows)]
    tokens = drawn_tokens(draw, sizes, sum(lengths), activations)
    tables = (draw.table(offsets(lengths)), draw.table(sources))
    _, k, v, g, beta = tokens

    def launch(pools: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        caches = ReplayCache.like(sizes.rows + SPARE_ROWS, k, v, g, beta)
        o = VERIFY(*tokens, pools[0], caches, *tables)
        return (o, caches.k, caches.v, caches.g, caches.beta)

    def rule(pools: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        caches = ReplayCache.like(sizes.rows + SPARE_ROWS, *map(wide, (k, v, g, beta)))
        o = VERIFY_RULE(*map(wide, tokens), pools[0], caches, *map(wide, tables))
        return (o, caches.k, caches.v, caches.g, caches.beta)

    rows = Rows(lengths, [], [], sources, [], 1)
    pool = drawn_states(draw, sizes, rows, pool_dtype)
    return Trial((pool,), launch, rule, tolerance(activations, pool_dtype))


def commit_trial(
    draw: Draw, sizes: Sizes, activations: torch.dtype, pool_dtype: torch.dtype
) -> Trial:
    """None, some or all tokens accepted; boundaries inside, outside and none; some in place."""
    rows = sizes.rows
    shape = (rows + SPARE_ROWS) * CACHED_TOKENS
    _, *kept = drawn_tokens(draw, sizes, shape, activations)
    caches = ReplayCache(*(x.view(-1, CACHED_TOKENS, *x.shape[1:]) for x in kept))
    accepted = draw.lengths(rows, CACHED_TOKENS)
    sources = [draw.pick.choice((0, row + 1, row + 1)) for row in range(rows)]
    targets = [draw.pick.choice((0, row + 1 + rows, source)) for row, source in enumerate(sources)]
    boundaries = [draw.pick.choice((0, row + 1 + 2 * rows)) for row in range(rows)]
    at = [draw.pick.randint(0, CACHED_TOKENS) for _ in range(rows)]
    tables = tuple(map(draw.table, (sources, targets, accepted, boundaries, at)))
    written = [
        target for target, count in zip(targets, accepted, strict=True) if target and count
    ] + [
        page
        for page, offset, count in zip(boundaries, at, accepted, strict=True)
        if page and 1 <= offset <= count
    ]

    def launch(pools: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        gated_delta_commit(pools[0], caches, *tables)
        return ()

    def rule(pools: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        own = ReplayCache(*map(wide, (caches.k, caches.v, caches.g, caches.beta)))
        commit_reference(pools[0], own, *map(wide, tables))
        return ()

    pool = drawn_states(draw, sizes, Rows(accepted, [], [], sources, written, 2 * rows), pool_dtype)
    return Trial((pool,), launch, rule, tolerance(activations, pool_dtype))

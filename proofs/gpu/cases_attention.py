"""Trials of attention over pages, and of what stores its entries."""

from collections.abc import Callable

import torch
from torch import Tensor

from truehit.kernels.paged_attention import (
    DECODE_TOKENS,
    attention_reference,
    paged_attention,
    store_entries,
    store_reference,
)
from truehit.proofs.gpu.drawing import Draw, offsets
from truehit.proofs.gpu.sizes import EXACT_TOLERANCE, Sizes, tolerance
from truehit.proofs.gpu.trial import Paged, Trial, wide

ATTENTION: Callable[..., Tensor] = paged_attention
ATTENTION_RULE: Callable[..., Tensor] = attention_reference
BLOCK_TOKENS = 16
WINDOW_TOKENS = 24
SPARE_PAGES = 3
"""Poisoned, behind those in use; tables are padded with them."""


def attention_trial(
    draw: Draw, sizes: Sizes, activations: torch.dtype, pool_dtype: torch.dtype
) -> Trial:
    """Prefill and decoding, over all before a token and over a window; pages in any order."""
    key_heads, query_heads = sizes.attention
    shape = (BLOCK_TOKENS, key_heads, sizes.size)
    launches, pools = [], []
    for longest in (sizes.longest_tokens, DECODE_TOKENS):
        lengths = draw.lengths(sizes.rows, longest)
        starts = [draw.pick.randint(0, sizes.longest_tokens) for _ in lengths]
        blocks = [
            -(-(start + length) // BLOCK_TOKENS)
            for start, length in zip(starts, lengths, strict=True)
        ]
        used = sum(blocks)
        order = draw.pick.sample(range(1, 1 + used), used)
        firsts, columns = offsets(blocks), max(blocks) + 1
        entries = [
            order[first + column] if column < count else 1 + used
            for first, count in zip(firsts, blocks, strict=False)
            for column in range(columns)
        ]
        q = draw.normal(sum(lengths), query_heads, sizes.size, dtype=activations)
        table = draw.table(entries).view(len(lengths), columns)
        tables = (table, draw.table(offsets(lengths)), draw.table(starts))
        launches.append((q, tables, max(lengths)))
        for _ in ("keys", "values"):
            pages = draw.pages(used, SPARE_PAGES, *shape, dtype=pool_dtype)
            pools.append(Paged.of(pages, []))

    def launch(views: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        return tuple(
            ATTENTION(q, *views[2 * at : 2 * at + 2], *tables, longest, window)
            for at, (q, tables, longest) in enumerate(launches)
            for window in (None, WINDOW_TOKENS)
        )

    def rule(views: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        return tuple(
            ATTENTION_RULE(wide(q), *views[2 * at : 2 * at + 2], *map(wide, tables), window)
            for at, (q, tables, _) in enumerate(launches)
            for window in (None, WINDOW_TOKENS)
        )

    return Trial(tuple(pools), launch, rule, tolerance(activations, pool_dtype))


def store_trial(
    draw: Draw, sizes: Sizes, activations: torch.dtype, pool_dtype: torch.dtype
) -> Trial:
    """Tokens to places that no two share, some to none. Pages are drawn, so that an entry that is
    not to be written is seen to stay."""
    tokens, pages = sizes.longest_tokens, 2 + sizes.longest_tokens // BLOCK_TOKENS
    places = draw.pick.sample(range(BLOCK_TOKENS, pages * BLOCK_TOKENS), tokens)
    own = [draw.pick.choice((0, place // BLOCK_TOKENS, place // BLOCK_TOKENS)) for place in places]
    tables = (draw.table(own), draw.table([place % BLOCK_TOKENS for place in places]))
    entry = (sizes.attention[0], sizes.size)
    new = [draw.normal(tokens, *entry, dtype=activations) for _ in ("keys", "values")]
    held = [
        draw.pages(pages, SPARE_PAGES, BLOCK_TOKENS, *entry, dtype=pool_dtype)
        for _ in ("keys", "values")
    ]
    pools = tuple(Paged.of(each, sorted({page for page in own if page})) for each in held)

    def launch(views: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        store_entries(new[0], new[1], views[0], views[1], *tables)
        return ()

    def rule(views: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        store_reference(wide(new[0]), wide(new[1]), views[0], views[1], *map(wide, tables))
        return ()

    return Trial(pools, launch, rule, EXACT_TOLERANCE)

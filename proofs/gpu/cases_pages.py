"""Trials of what moves pages, and of the convolution with its windows on pages."""

import torch
from torch import Tensor

from truehit.kernels.conv import DECODE_TOKENS, causal_conv, causal_conv_reference
from truehit.kernels.pages import copy_pages, copy_pages_reference, fill_pages, fill_pages_reference
from truehit.proofs.gpu.drawing import Draw, drawn_rows, offsets
from truehit.proofs.gpu.sizes import EXACT_TOLERANCE, Sizes, tolerance
from truehit.proofs.gpu.trial import Paged, Trial, wide

LAYERS = 3
WIDTH = 4
POISON = 0xFF


def _pool(draw: Draw, sizes: Sizes, pages: int, written: list[int]) -> Paged:
    """Layers one after the other, as pages of one memory: layer l has pages [l * pages, ...)."""
    page_bytes = (sizes.size * sizes.size * 4 + 48) // 16 * 16
    drawn = [draw.pick.randbytes(page_bytes) for _ in range(LAYERS * pages)]
    held = torch.frombuffer(bytearray(b"".join(drawn)), dtype=torch.uint8)
    own = [layer * pages + page for layer in range(LAYERS) for page in written]
    return Paged.of(held.view(LAYERS * pages, page_bytes).to(draw.device), own)


def _layered(pool: Tensor, pages: int) -> Tensor:
    """`uint8[layers, pages, page_bytes]`, its gaps in the page stride."""
    stride = pool.stride(0)
    return pool.as_strided((LAYERS, pages, pool.shape[1]), (pages * stride, stride, 1))


def copy_trial(
    draw: Draw, sizes: Sizes, activations: torch.dtype, pool_dtype: torch.dtype
) -> Trial:
    """Pages to others, one source for several targets, null pages on either side."""
    pages = 6 * sizes.rows
    sources = [draw.pick.randrange(1, 2 * sizes.rows) for _ in range(3 * sizes.rows)]
    targets = draw.pick.sample(range(2 * sizes.rows, pages), 3 * sizes.rows)
    sources[0], targets[1] = 0, 0
    pairs = (draw.table(sources), draw.table(targets))
    written = [target for source, target in zip(sources, targets, strict=True) if source and target]

    def launch(pools: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        copy_pages(_layered(pools[0], pages), *pairs)
        return ()

    def rule(pools: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        copy_pages_reference(_layered(pools[0], pages), *map(wide, pairs))
        return ()

    return Trial((_pool(draw, sizes, pages, written),), launch, rule, EXACT_TOLERANCE)


def fill_trial(
    draw: Draw, sizes: Sizes, activations: torch.dtype, pool_dtype: torch.dtype
) -> Trial:
    """Some zeroed, others poisoned, in two launches."""
    pages = 6 * sizes.rows
    chosen = draw.pick.sample(range(1, pages), 4 * sizes.rows)
    zeroed, poisoned = draw.table([0, *chosen[::2]]), draw.table(chosen[1::2])

    def launch(pools: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        fill_pages(_layered(pools[0], pages), zeroed, 0)
        fill_pages(_layered(pools[0], pages), poisoned, POISON)
        return ()

    def rule(pools: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        fill_pages_reference(_layered(pools[0], pages), wide(zeroed), 0)
        fill_pages_reference(_layered(pools[0], pages), wide(poisoned), POISON)
        return ()

    return Trial((_pool(draw, sizes, pages, chosen),), launch, rule, EXACT_TOLERANCE)


def conv_trial(
    draw: Draw, sizes: Sizes, activations: torch.dtype, pool_dtype: torch.dtype
) -> Trial:
    """A prefill and a decode, the second on pages of its own."""
    prefill = drawn_rows(draw, sizes.rows, sizes.longest_tokens, each_token=False)
    decode = drawn_rows(draw, sizes.rows, DECODE_TOKENS, each_token=True)
    weight = draw.normal(sizes.channels, WIDTH, dtype=activations)
    launches = []
    pools = []
    for rows in (prefill, decode):
        x = draw.normal(rows.tokens, sizes.channels, dtype=activations)
        tables = (
            draw.table(offsets(rows.row_lengths)),
            draw.table(rows.row_segments),
            draw.table(offsets(rows.segment_lengths)),
            draw.table(rows.sources),
            draw.table(rows.targets),
        )
        launches.append((x, tables, max(rows.row_lengths)))
        pages = draw.pages(
            sizes.rows, rows.target_pages + 1, WIDTH - 1, sizes.channels, dtype=pool_dtype
        )
        pools.append(Paged.of(pages, rows.written))

    def launch(windows: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        return tuple(
            causal_conv(x, weight, own, *tables, longest)
            for own, (x, tables, longest) in zip(windows, launches, strict=True)
        )

    def rule(windows: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        return tuple(
            causal_conv_reference(wide(x), wide(weight), own, *map(wide, tables))
            for own, (x, tables, _) in zip(windows, launches, strict=True)
        )

    return Trial(tuple(pools), launch, rule, tolerance(activations, pool_dtype))

"""Attention over pages without a kernel: entries are gathered through the block table, and the
attention is PyTorch's.

Shapes: queries [tokens, heads, size]; keys and values [tokens, key heads, size]; in pages [pages,
block tokens, key heads, size]."""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

from truehit.engine.memory import Int32


def store(
    cache: tuple[Tensor, Tensor], places: tuple[Tensor, Tensor], key: Tensor, value: Tensor
) -> None:
    """Write the entries of new tokens; page 0 is never written."""
    pages, offsets = places
    kept = (pages != 0).nonzero().squeeze(1)
    at = (pages[kept].long(), offsets[kept].long())
    cache[0][at] = key[kept]
    cache[1][at] = value[kept]


def gather(cache: Tensor, table: Sequence[int], first: int, last: int) -> Tensor:
    """Entries [first, last) through a block table, [entries, key heads, size]."""
    block = cache.shape[1]
    columns = range(first // block, -(-last // block))
    pages = [int(table[column]) if column < len(table) else 0 for column in columns]
    entries = cache[torch.tensor(pages, dtype=torch.int64, device=cache.device)].flatten(0, 1)
    skipped = first % block
    return entries[skipped : skipped + last - first]


def attend(
    query: Tensor,
    cache: tuple[Tensor, Tensor],
    rows: Sequence[tuple[int, int, Int32]],
    window_tokens: int | None,
) -> Tensor:
    """All rows; (start, end, table) of each."""
    mixed = torch.empty_like(query)
    first = 0
    for start, end, table in rows:
        last = first + end - start
        mixed[first:last] = _row(query[first:last], cache, start, end, table, window_tokens)
        first = last
    return mixed


def _row(
    query: Tensor,
    cache: tuple[Tensor, Tensor],
    start: int,
    end: int,
    table: Int32,
    window_tokens: int | None,
) -> Tensor:
    """Every token of the row sees the entries up to itself, the last `window_tokens` of them."""
    seen = 0 if window_tokens is None else max(0, start - window_tokens + 1)
    blocks = table.tolist()
    key, value = (gather(own, blocks, seen, end) for own in cache)
    reader = torch.arange(start, end, device=query.device)[:, None]
    entry = torch.arange(seen, end, device=query.device)[None, :]
    sees = entry <= reader
    if window_tokens is not None:
        sees &= entry > reader - window_tokens
    query, key, value = (tensor.transpose(0, 1)[None] for tensor in (query, key, value))
    mixed = F.scaled_dot_product_attention(query, key, value, attn_mask=sees, enable_gqa=True)
    return mixed[0].transpose(0, 1)

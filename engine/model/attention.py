"""Full attention over pages: keys and values of new tokens go to their pages, then every row reads
its own pages through its block table. The attention itself is PyTorch's.

Shapes: queries [tokens, heads, size], keys and values [tokens, key heads, size]."""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

from truehit.engine.model.config import AttentionShape
from truehit.engine.model.parts import rms_norm, rotate
from truehit.engine.model.step import Row, Step
from truehit.engine.model.weights import AttentionWeights


def attend(
    x: Tensor,
    weights: AttentionWeights,
    shape: AttentionShape,
    epsilon: float,
    rotation: tuple[Tensor, Tensor],
    cache: tuple[Tensor, Tensor],
    places: tuple[Tensor, Tensor],
    step: Step,
    group: int,
    window_tokens: int | None,
) -> Tensor:
    """One attention layer; x [tokens, hidden]. `cache`: keys and values in pages; `places`: page
    and offset of every token."""
    tokens = x.shape[0]
    both = F.linear(x, weights.query).view(tokens, shape.heads, 2 * shape.size)
    query, gate = both.chunk(2, dim=-1)
    key = F.linear(x, weights.key).view(tokens, shape.key_heads, shape.size)
    value = F.linear(x, weights.value).view(tokens, shape.key_heads, shape.size)
    query = rotate(rms_norm(query, weights.query_norm, epsilon), *rotation)
    key = rotate(rms_norm(key, weights.key_norm, epsilon), *rotation)
    store(cache, places, key, value)
    mixed = torch.empty_like(query)
    first = 0
    for row in step.rows:
        last = first + row.end - row.start
        mixed[first:last] = _row(query[first:last], cache, row, group, window_tokens)
        first = last
    return F.linear(mixed.flatten(1) * gate.flatten(1).sigmoid(), weights.output)


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


def _row(
    query: Tensor,
    cache: tuple[Tensor, Tensor],
    row: Row,
    group: int,
    window_tokens: int | None,
) -> Tensor:
    """Every token of the row sees the entries up to itself, the last `window_tokens` of them."""
    seen = 0 if window_tokens is None else max(0, row.start - window_tokens + 1)
    table = row.tables[group].tolist()
    key = gather(cache[0], table, seen, row.end)
    value = gather(cache[1], table, seen, row.end)
    reader = torch.arange(row.start, row.end, device=query.device)[:, None]
    entry = torch.arange(seen, row.end, device=query.device)[None, :]
    sees = entry <= reader
    if window_tokens is not None:
        sees &= entry > reader - window_tokens
    query, key, value = (tensor.transpose(0, 1)[None] for tensor in (query, key, value))
    mixed = F.scaled_dot_product_attention(query, key, value, attn_mask=sees, enable_gqa=True)
    return mixed[0].transpose(0, 1)

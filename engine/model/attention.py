"""Full attention over pages: keys and values of new tokens go to their pages, then every row reads
its own pages through its block table.

Shapes: queries [tokens, heads, size], keys and values [tokens, key heads, size]."""

from torch import Tensor
from torch.nn import functional as F

from truehit.engine.model.backend import Backend, Cache, PageRows
from truehit.engine.model.config import AttentionShape
from truehit.engine.model.parts import rms_norm, rotate
from truehit.engine.model.weights import AttentionWeights


def attend(
    x: Tensor,
    weights: AttentionWeights,
    shape: AttentionShape,
    epsilon: float,
    rotation: tuple[Tensor, Tensor],
    cache: Cache,
    rows: PageRows,
    window_tokens: int | None,
    backend: Backend,
) -> Tensor:
    """One attention layer; x [tokens, hidden]."""
    tokens = x.shape[0]
    both = F.linear(x, weights.query).view(tokens, shape.heads, 2 * shape.size)
    query, gate = both.chunk(2, dim=-1)
    key = F.linear(x, weights.key).view(tokens, shape.key_heads, shape.size)
    value = F.linear(x, weights.value).view(tokens, shape.key_heads, shape.size)
    query = rotate(rms_norm(query, weights.query_norm, epsilon), *rotation)
    key = rotate(rms_norm(key, weights.key_norm, epsilon), *rotation)
    backend.store_entries(cache, rows, key, value)
    mixed = backend.attend(query, cache, rows, window_tokens)
    return F.linear(mixed.flatten(1) * gate.flatten(1).sigmoid(), weights.output)

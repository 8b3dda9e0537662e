"""Circular buffers: one block a request, no keys.

A kind of group since 0.29.0. Earlier releases have none, and a scenario with one is refused.
"""

from typing import Any

from .. import names


def ring_spec(block_tokens: int, heads: dict[str, Any]) -> Any:
    """The engine's description of such a group."""
    kind = getattr(names.kv_cache_interface, "CircularBufferSpec", None)
    if kind is None:
        raise ValueError(f"vllm {names.VERSION} has no circular buffers; 0.29.0 is the first")
    return kind(block_size=block_tokens, **heads)

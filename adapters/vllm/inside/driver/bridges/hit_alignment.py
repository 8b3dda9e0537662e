"""Two sizes that a start-up writes back into the cache configuration for its workers.

From 0.32.0 on: the hash unit, and the granularity of hits. Before, each part derives them anew.
"""

from typing import Any

from .. import names


def tell_sizes(groups: Any, config: Any, scheduler_tokens: int, unit_tokens: int) -> None:
    """Write them where the release has a place for them."""
    if hasattr(groups, "hash_block_size"):
        groups.hash_block_size = unit_tokens
    if hasattr(groups, "cache_hit_alignment_tokens"):
        groups.cache_hit_alignment_tokens = names.kv_cache_utils.resolve_cache_hit_alignment_tokens(
            groups, config, scheduler_tokens, unit_tokens
        )

"""How the retention of boundary states is set.

From 0.29.0 on it is a field of the cache configuration, 0 by default. Before, it is an environment
variable, dense by default, which the coordinator reads when it is built.
"""

import os
from typing import Any

from ..names import CacheConfig

FIELD = "prefix_cache_retention_interval"
VARIABLE = "VLLM_PREFIX_CACHE_RETENTION_INTERVAL"


def set_retention(cache_config: Any, kept_tokens: int | None) -> None:
    """`kept_tokens`: None keeps every boundary."""
    if is_option():
        setattr(cache_config, FIELD, kept_tokens)
    elif kept_tokens is None:
        os.environ.pop(VARIABLE, None)
    else:
        os.environ[VARIABLE] = str(kept_tokens)


def is_option() -> bool:
    """An operator finds it among the options; elsewhere they have to know of the variable."""
    return FIELD in CacheConfig.__dataclass_fields__

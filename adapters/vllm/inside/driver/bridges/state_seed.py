"""The block by which the worker finds the column of a resumed state.

There are two model runners. The older one, which hybrid models had until 0.27.1 and n-gram drafts
have still, divides by the state group's own block. The newer one, the default since 0.29.0, divides
by the configured block, which is smaller where groups differ; since 0.32.0 it divides by the state
block too. It is compiled code that this environment cannot import, so its source is asked.
"""

from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

NEWER = "vllm.v1.worker.gpu.model_states.mamba_hybrid"
BY_STATE_BLOCK = "cache_config.mamba_block_size"
# The releases that have this leave hybrid models to the older runner.
CHOICE_BY_MODEL = "_is_default_v2_model_runner_model"


def seed_block_tokens(config: Any, state_block_tokens: int) -> int:
    """What the default runner of this release divides by."""
    if is_newer_runner(config) and not _divides_by_state_block():
        configured: int = config.cache_config.block_size
        return configured
    return state_block_tokens


def is_newer_runner(config: Any) -> bool:
    """Which runner an engine with weights and a GPU takes for a hybrid model."""
    drafter = config.speculative_config
    by_model = hasattr(type(config), CHOICE_BY_MODEL)
    return not by_model and (drafter is None or drafter.method != "ngram")


@cache
def _divides_by_state_block() -> bool:
    found = find_spec(NEWER)
    if found is None or found.origin is None:
        return True
    return BY_STATE_BLOCK in Path(found.origin).read_text(encoding="utf-8")

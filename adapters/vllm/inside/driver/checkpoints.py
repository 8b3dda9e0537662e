"""Which state a prefill chunk exports from its middle: the release's own rule for its worker.

Releases before 0.31.0 have none that every model shares; a chunk of theirs exports nothing here.
"""

# vLLM is there only in the environment that this package is started in.
# mypy: disable-error-code="import-not-found, import-untyped"
from collections.abc import Callable
from typing import Any

from .accepts import only
from .plan import Plan

Checkpoint = Callable[[int, int], tuple[int, int] | None]


def checkpoint_rule(
    plan: Plan, unit: int, alignment: int, lookahead: int, drops: bool
) -> Checkpoint:
    """(start, end) of a chunk -> (position, column), or None."""
    spacing = plan.geometry.get("checkpoint_alignment_tokens")
    state = next((g for g in plan.groups if g.kind == "recurrent_state"), None)
    rule = _rule()
    if spacing is None or state is None or rule is None:
        return _none

    def found(start: int, end: int) -> tuple[int, int] | None:
        offsets, columns = only(
            rule,
            seq_lens=[end],
            query_lens=[end - start],
            hash_block_size=unit,
            mamba_block_size=state.block_tokens,
            checkpoint_alignment=spacing,
            drop_eagle_block=drops,
            cache_hit_alignment_tokens=alignment,
            num_hash_lookahead_tokens=lookahead,
        )
        return (start + offsets[0], columns[0]) if offsets[0] else None

    return found


def _none(start: int, end: int) -> None:
    """No chunk exports anything."""


def _rule() -> Callable[..., Any] | None:
    try:
        from vllm.model_executor.layers.mamba import checkpoint
    except ImportError:
        return None
    found: Callable[..., Any] = checkpoint.compute_mamba_prefill_checkpoints
    return found

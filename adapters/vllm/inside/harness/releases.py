"""Where the workers of releases differ: the column of a resumed state, exported checkpoints."""

# vLLM is there only in the environments that this text is run in.
# mypy: disable-error-code="import-not-found, import-untyped, no-any-unimported, attr-defined"
from importlib.util import find_spec
from math import lcm
from pathlib import Path
from typing import Any

from vllm.v1 import kv_cache_interface as kv

from .engine import only

NEWER_RUNNER = "vllm.v1.worker.gpu.model_states.mamba_hybrid"


def seed_block(config: Any, state_block: int) -> int:
    """By what the worker divides to find a resumed state. Until 0.27.1, and with n-grams, an older
    runner is taken, which divides by the state's block; of the newer one the source is asked."""
    drafter, found = config.speculative_config, find_spec(NEWER_RUNNER)
    older = hasattr(type(config), "_is_default_v2_model_runner_model")
    older = older or (drafter is not None and drafter.method == "ngram")
    if older or found is None or found.origin is None:
        return state_block
    by_state = "cache_config.mamba_block_size" in Path(found.origin).read_text(encoding="utf-8")
    return state_block if by_state else int(config.cache_config.block_size)


def checkpoint(
    scenario: dict[str, Any], scheduler: Any, unit: int, span: tuple[int, int]
) -> tuple[int, int] | None:
    """What a prefill chunk [start, end) exports from its middle: (tokens, column), by the release's
    own rule, which all models share since 0.31.0 and one model had before."""
    alignment, (start, end) = scenario["checkpoint_alignment_tokens"], span
    sizes = [g["block_tokens"] for g in scenario["groups"] if g["kind"] != "circular_buffer"]
    states = [g["block_tokens"] for g in scenario["groups"] if g["kind"] == "recurrent_state"]
    if alignment is None or not states:
        return None
    block, manager = states[0], scheduler.kv_cache_manager
    fine = getattr(manager.coordinator, "enable_partial_hash_hits", False)
    drops = getattr(scheduler, "use_eagle_block_drop", getattr(scheduler, "use_eagle", False))
    told = "cache_hit_alignment_tokens" in kv.KVCacheConfig.__dataclass_fields__
    own = unit if told else scenario["prefix_match_unit"] or block
    common = {"hash_block_size": own, "mamba_block_size": block, "checkpoint_alignment": alignment}
    try:
        from vllm.model_executor.layers.mamba.checkpoint import compute_mamba_prefill_checkpoints
    except ImportError:
        pass
    else:
        offsets, columns = only(
            compute_mamba_prefill_checkpoints,
            seq_lens=[end],
            query_lens=[end - start],
            drop_eagle_block=drops,
            cache_hit_alignment_tokens=unit if fine else lcm(*sizes),
            num_hash_lookahead_tokens=getattr(
                scheduler.vllm_config, "num_hash_lookahead_tokens", 0
            ),
            **common,
        )
        return (start + offsets[0], columns[0]) if offsets[0] else None
    if hasattr(kv, "is_mamba_prefill_checkpoint_valid"):
        position = kv.get_mamba_prefill_checkpoint_position(end, own, drop_eagle_block=drops)
        at = {"query_start": start, "query_end": end, "checkpoint_position": position}
        valid = kv.is_mamba_prefill_checkpoint_valid(**at, **common)
        return (position, -(-end // block) - 2) if valid else None
    if "num_prefill_checkpoint_blocks" not in kv.MambaSpec.__dataclass_fields__:
        return None
    position = end // block * block
    inside = end % block and start < position and (position - start) % 16 == 0
    return (position, end // block - 1) if inside else None

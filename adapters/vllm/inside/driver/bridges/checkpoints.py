"""Which state a prefill chunk exports from its middle: the rule of the release's own worker.

* from 0.31.0 on: one function that all models share, which is called;
* 0.30.0: inside one model, between GPU code; the two functions that it is made of are called;
* 0.29.0: inside one model, written out: restated here, with the kernel's own chunk of 16 tokens;
* before: none, a chunk exports nothing.
"""

# vLLM is there only in the environment that this package is started in.
# mypy: disable-error-code="import-not-found, import-untyped"
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..accepts import only
from ..names import MambaSpec, kv_cache_interface

Checkpoint = Callable[[int, int], tuple[int, int] | None]
"""(start, end) of a chunk -> (position, column), or None."""
KERNEL_CHUNK_TOKENS = 16


@dataclass(frozen=True, slots=True)
class Sizes:
    """What the rules are asked with. `unit_tokens`: the scheduler's hash unit;
    `worker_unit_tokens`: what a worker that is told nothing takes for it."""

    block_tokens: int
    spacing_tokens: int
    unit_tokens: int
    worker_unit_tokens: int
    alignment_tokens: int
    lookahead_tokens: int
    drops: bool


def checkpoint_rule(sizes: Sizes | None) -> Checkpoint:
    """The rule of this release; None: the geometry has no checkpoints."""
    if sizes is None:
        return _none
    match rule_name():
        case "shared":
            return _shared(sizes)
        case "in one model":
            return _composed(sizes)
        case "in one model, written out":
            return _written_out(sizes)
        case _:
            return _none


def rule_name() -> str:
    """Where the release has its rule."""
    if _shared_rule() is not None:
        return "shared"
    if hasattr(kv_cache_interface, "is_mamba_prefill_checkpoint_valid"):
        return "in one model"
    if "num_prefill_checkpoint_blocks" in MambaSpec.__dataclass_fields__:
        return "in one model, written out"
    return "none"


def _none(start: int, end: int) -> None:
    """No chunk exports anything."""


def _shared_rule() -> Callable[..., Any] | None:
    try:
        from vllm.model_executor.layers.mamba import checkpoint
    except ImportError:
        return None
    found: Callable[..., Any] = checkpoint.compute_mamba_prefill_checkpoints
    return found


def _shared(sizes: Sizes) -> Checkpoint:
    rule = _shared_rule()
    assert rule is not None
    told = _is_told_sizes()

    def found(start: int, end: int) -> tuple[int, int] | None:
        offsets, columns = only(
            rule,
            seq_lens=[end],
            query_lens=[end - start],
            hash_block_size=sizes.unit_tokens if told else sizes.worker_unit_tokens,
            mamba_block_size=sizes.block_tokens,
            checkpoint_alignment=sizes.spacing_tokens,
            drop_eagle_block=sizes.drops,
            cache_hit_alignment_tokens=sizes.alignment_tokens,
            num_hash_lookahead_tokens=sizes.lookahead_tokens,
        )
        return (start + offsets[0], columns[0]) if offsets[0] else None

    return found


def _is_told_sizes() -> bool:
    """Since 0.32.0 the worker is told the scheduler's sizes; before, it derives its own."""
    return "cache_hit_alignment_tokens" in kv_cache_interface.KVCacheConfig.__dataclass_fields__


def _composed(sizes: Sizes) -> Checkpoint:
    def found(start: int, end: int) -> tuple[int, int] | None:
        position = kv_cache_interface.get_mamba_prefill_checkpoint_position(
            end, sizes.worker_unit_tokens, drop_eagle_block=sizes.drops
        )
        valid = kv_cache_interface.is_mamba_prefill_checkpoint_valid(
            query_start=start,
            query_end=end,
            checkpoint_position=position,
            hash_block_size=sizes.worker_unit_tokens,
            mamba_block_size=sizes.block_tokens,
            checkpoint_alignment=sizes.spacing_tokens,
        )
        return (position, -(-end // sizes.block_tokens) - 2) if valid else None

    return found


def _written_out(sizes: Sizes) -> Checkpoint:
    block = sizes.block_tokens

    def found(start: int, end: int) -> tuple[int, int] | None:
        position = end // block * block
        inside = end % block != 0 and start < position
        fits = (position - start) % KERNEL_CHUNK_TOKENS == 0
        return (position, end // block - 1) if inside and fits else None

    return found

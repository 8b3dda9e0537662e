"""A real scheduler for a geometry, built as an engine core builds it, offline and without weights.

One configuration object a process: a bare scheduler on a changed one costs milliseconds, a new one
half a second. What differs from a start with weights: the sizes of the groups are given, not
measured.
"""

import json
import tempfile
from dataclasses import dataclass
from functools import cache
from math import lcm
from pathlib import Path
from typing import Any

from . import names
from .accepts import only
from .bridges.block_drop import drop_cap, drops_blocks
from .bridges.configured_block import configured_block_tokens
from .bridges.drafter import has_draft_layers, set_drafter
from .bridges.hit_alignment import tell_sizes
from .bridges.release import release_facts
from .bridges.retention import set_retention
from .bridges.ring import ring_spec
from .bridges.state_seed import is_newer_runner, seed_block_tokens
from .plan import Group, Plan
from .repairs import STATE_GRID

LONGEST_TOKENS = 1 << 20
MODEL = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 2,
    "vocab_size": 1 << 30,
    "max_position_embeddings": LONGEST_TOKENS,
    "torch_dtype": "float16",
}


@dataclass(frozen=True, slots=True)
class Subject:
    """A scheduler and what belongs to it. `lookahead_tokens`: what its keys cover beyond their
    end. `drops`: whether its lookups give a block of drafted groups back. `newer_runner`: which
    worker the release takes; `seed_block_tokens`: how that one finds a resumed state."""

    scheduler: Any
    manager: Any
    hasher: Any
    unit_tokens: int
    lookahead_tokens: int
    drops: bool
    fine: bool
    newer_runner: bool
    seed_block_tokens: int

    def facts(self) -> dict[str, Any]:
        """What it really runs with, read back."""
        return {
            **release_facts(),
            "hash_unit_tokens": self.unit_tokens,
            "lookahead_tokens": self.lookahead_tokens,
            "drops": self.drops,
            "drop_cap": drop_cap(),
            "fine_hits": self.fine,
            "scheduler_block_tokens": self.scheduler.block_size,
            "configured_block_tokens": self.scheduler.cache_config.block_size,
            "runner": "newer" if self.newer_runner else "older",
            "seed_block_tokens": self.seed_block_tokens,
        }


@cache
def _config() -> Any:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "config.json").write_text(json.dumps(MODEL), encoding="utf-8")
        model = names.ModelConfig(
            model=folder, skip_tokenizer_init=True, dtype="float16", max_model_len=LONGEST_TOKENS
        )
    return names.VllmConfig(
        model_config=model,
        cache_config=names.CacheConfig(enable_prefix_caching=True),
        scheduler_config=names.SchedulerConfig(
            max_num_seqs=8,
            max_num_batched_tokens=LONGEST_TOKENS,
            max_model_len=LONGEST_TOKENS,
            is_encoder_decoder=False,
            async_scheduling=False,
        ),
        device_config=names.DeviceConfig("cpu"),
        parallel_config=names.ParallelConfig(),
    )


@cache
def _drafter(drafts: int) -> Any:
    # Asked for as n-grams, which need no draft model; what the scheduler reads is the method.
    return names.SpeculativeConfig(
        method="ngram", num_speculative_tokens=drafts, prompt_lookup_max=2
    )


def _drafting(config: Any, plan: Plan) -> None:
    """No drafts, or a drafter for as many as the plan says."""
    drafts = plan.geometry.get("drafts", 0)
    config.speculative_config = None
    if not drafts:
        return
    drafter = _drafter(drafts)
    set_drafter(drafter, plan)
    config.speculative_config = drafter


def _configure(plan: Plan) -> Any:
    config, geometry = _config(), plan.geometry
    scheduler, cached = config.scheduler_config, config.cache_config
    longest, budget = geometry["max_model_tokens"], geometry["budget_tokens"]
    config.model_config.max_model_len = longest
    scheduler.max_model_len = longest
    scheduler.max_num_batched_tokens = budget
    scheduler.max_num_scheduled_tokens = budget
    scheduler.max_num_seqs = geometry["max_running"]
    scheduler.long_prefill_token_threshold = geometry.get("long_prefill_threshold_tokens") or 0
    scheduler.policy = plan.policy
    scheduler.scheduler_reserve_full_isl = geometry["reserve_full_sequence"]
    _drafting(config, plan)
    cached.mamba_cache_mode = "align"
    cached.num_gpu_blocks = geometry["pool_blocks"]
    cached.block_size = _configured(plan)
    cached.prefix_match_unit = _unit(plan)
    set_retention(cached, _retention(geometry))
    return config


def _configured(plan: Plan) -> int:
    states = [g.block_tokens for g in plan.groups if g.kind == "recurrent_state"]
    if STATE_GRID in plan.repairs and states:
        return states[0]
    return configured_block_tokens(plan)


def _unit(plan: Plan) -> int | None:
    """None: what the engine takes by itself."""
    return plan.geometry["hash_unit_tokens"] if plan.geometry.get("fine_hits") else None


def _retention(geometry: dict[str, Any]) -> int | None:
    kept = geometry.get("retention", "dense")
    return None if kept == "dense" else int(kept)


def _spec(group: Group, geometry: dict[str, Any]) -> Any:
    size = {"block_size": group.block_tokens}
    heads = {"num_kv_heads": 1, "head_size": 16, "dtype": names.HALF}
    match group.kind:
        case "full_attention":
            return names.FullAttentionSpec(**size, **heads)
        case "sliding_window":
            return names.SlidingWindowSpec(**size, **heads, sliding_window=group.window_tokens)
        case "circular_buffer":
            return ring_spec(group.block_tokens, heads)
        case "recurrent_state":
            alignment = geometry.get("checkpoint_alignment_tokens")
            return only(
                names.MambaSpec,
                **size,
                shapes=((16, 16),),
                dtypes=(names.SINGLE,),
                mamba_cache_mode="align",
                num_speculative_blocks=geometry.get("drafts", 0),
                num_prefill_checkpoint_blocks=0 if alignment is None else 1,
                prefill_checkpoint_alignment=alignment,
            )
        case _:
            raise ValueError(f"group {group.name}: {group.kind} cannot be driven")


def _groups(plan: Plan) -> list[Any]:
    return [
        only(
            names.KVCacheGroupSpec,
            layer_names=[group.name],
            kv_cache_spec=_spec(group, plan.geometry),
            is_eagle_group=group.drafted and has_draft_layers(plan),
        )
        for group in plan.groups
    ]


def build(plan: Plan) -> Subject:
    """A scheduler with an empty cache; whatever the engine says against it is raised."""
    config = _configure(plan)
    blocks = plan.geometry["pool_blocks"]
    groups = only(
        names.KVCacheConfig,
        num_blocks=blocks,
        kv_cache_tensors=[],
        kv_cache_groups=_groups(plan),
        prefix_cache_retention_interval=_retention(plan.geometry),
    )
    scheduler_tokens, unit = names.kv_cache_utils.resolve_kv_cache_block_sizes(groups, config)
    tell_sizes(groups, config, scheduler_tokens, unit)
    scheduler = names.Scheduler(
        vllm_config=config,
        kv_cache_config=groups,
        structured_output_manager=_grammar(),
        block_size=scheduler_tokens,
        hash_block_size=unit,
        log_stats=False,
    )
    lookahead = getattr(config, "num_hash_lookahead_tokens", 0)
    hasher = only(
        names.kv_cache_utils.get_request_block_hasher,
        hash_block_size=unit,
        caching_hash_fn=_hash_function(config.cache_config.prefix_caching_hash_algo),
        num_hash_lookahead_tokens=lookahead,
    )
    manager = scheduler.kv_cache_manager
    fine = bool(getattr(manager.coordinator, "enable_partial_hash_hits", False))
    states = [g.block_tokens for g in plan.groups if g.kind == "recurrent_state"]
    return Subject(
        scheduler=scheduler,
        manager=manager,
        hasher=hasher,
        unit_tokens=unit,
        lookahead_tokens=lookahead,
        drops=drops_blocks(scheduler),
        fine=fine,
        newer_runner=is_newer_runner(config),
        seed_block_tokens=seed_block_tokens(config, states[0] if states else 1),
    )


@cache
def _grammar() -> Any:
    return names.StructuredOutputManager(_config())


@cache
def _hash_function(name: str) -> Any:
    function = names.get_hash_fn_by_name(name)
    names.kv_cache_utils.init_none_hash(function)
    return function


def alignment_tokens(plan: Plan, subject: Subject) -> int:
    """The granularity of a hit."""
    sizes = [g.block_tokens for g in plan.groups if g.kind != "circular_buffer"]
    return subject.unit_tokens if subject.fine else lcm(*sizes)

"""The real scheduler of the vLLM that is installed, without a model."""

# vLLM is there only in the environments that this text is run in.
# mypy: disable-error-code="import-not-found, import-untyped, no-any-unimported, attr-defined"
import inspect
import json
import os
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from vllm import config as settings
from vllm.utils.hashing import get_hash_fn_by_name
from vllm.v1 import kv_cache_interface as kv
from vllm.v1.core import kv_cache_utils
from vllm.v1.core.sched.scheduler import Scheduler
from vllm.v1.structured_output import StructuredOutputManager

LONGEST_TOKENS = 1 << 20
MODEL = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 64}
MODEL |= {"intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 2}
MODEL |= {"num_key_value_heads": 2, "vocab_size": 1 << 30, "torch_dtype": "float16"}
MODEL |= {"max_position_embeddings": LONGEST_TOKENS}

RETENTION = "VLLM_PREFIX_CACHE_RETENTION_INTERVAL"
"""Where releases before 0.29.0 are told what others have as an option."""


def only(callable_: Callable[..., Any], **arguments: Any) -> Any:
    """Call it with those of the arguments that this release knows."""
    known = inspect.signature(callable_).parameters
    return callable_(**{name: value for name, value in arguments.items() if name in known})


@cache
def base_config() -> Any:
    """From a folder with nothing but a config.json: no weights, no network."""
    longest = {"max_model_len": LONGEST_TOKENS}
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "config.json").write_text(json.dumps(MODEL), encoding="utf-8")
        model = settings.ModelConfig(
            model=folder, skip_tokenizer_init=True, dtype="float16", **longest
        )
    scheduler = settings.SchedulerConfig(
        max_num_seqs=8,
        max_num_batched_tokens=LONGEST_TOKENS,
        is_encoder_decoder=False,
        async_scheduling=False,
        **longest,
    )
    return settings.VllmConfig(
        model_config=model,
        cache_config=settings.CacheConfig(enable_prefix_caching=True),
        scheduler_config=scheduler,
        device_config=settings.DeviceConfig("cpu"),
        parallel_config=settings.ParallelConfig(),
    )


@cache
def hash_function(name: str) -> Any:
    function = get_hash_fn_by_name(name)
    kv_cache_utils.init_none_hash(function)
    return function


def configure(scenario: dict[str, Any]) -> Any:
    """The numbers of the scenario; what drafts do to a lookup depends on the method."""
    config, drafts = base_config(), scenario["drafts"]
    scheduler, cached = config.scheduler_config, config.cache_config
    config.model_config.max_model_len = scheduler.max_model_len = scenario["max_model_tokens"]
    scheduler.max_num_batched_tokens = scenario["budget_tokens"]
    scheduler.max_num_scheduled_tokens = scenario["budget_tokens"]
    scheduler.max_num_seqs = scenario["max_running"]
    scheduler.long_prefill_token_threshold = scenario["long_prefill_threshold_tokens"]
    scheduler.policy = scenario["policy"]
    scheduler.scheduler_reserve_full_isl = scenario["reserve_full_sequence"]
    config.speculative_config = None
    if drafts:
        ngram = {"method": "ngram", "prompt_lookup_max": 2}
        drafter = settings.SpeculativeConfig(num_speculative_tokens=drafts, **ngram)
        drafter.method = "ngram" if scenario["drop"] == "none" else "mtp"
        modules = SimpleNamespace(num_nextn_predict_layers=scenario.get("drafter_modules"))
        several = SimpleNamespace(hf_config=modules) if "drafter_modules" in scenario else None
        drafter.draft_model_config = several
        if hasattr(drafter, "disable_lookahead_block_hashes"):
            drafter.disable_lookahead_block_hashes = scenario["drop"] != "lookahead"
        config.speculative_config = drafter
    cached.mamba_cache_mode = "align"
    cached.num_gpu_blocks = scenario["pool_blocks"]
    # An engine core configures the smallest block of its groups.
    counted = [group for group in scenario["groups"] if group["kind"] != "circular_buffer"]
    smallest = min(group["block_tokens"] for group in counted)
    cached.block_size = scenario.get("configured_block_tokens", smallest)
    cached.prefix_match_unit = scenario["prefix_match_unit"]
    if hasattr(cached, "prefix_cache_retention_interval"):
        cached.prefix_cache_retention_interval = scenario["retention_interval"]
    elif scenario["retention_interval"] is not None:
        os.environ[RETENTION] = str(scenario["retention_interval"])
    else:
        os.environ.pop(RETENTION, None)
    return config


def group_spec(group: dict[str, Any], scenario: dict[str, Any]) -> Any:
    size = {"block_size": group["block_tokens"]}
    heads = {"num_kv_heads": 1, "head_size": 16, "dtype": torch.float16}
    alignment = scenario["checkpoint_alignment_tokens"]
    match group["kind"]:
        case "full_attention":
            spec = kv.FullAttentionSpec(**size, **heads)
        case "sliding_window":
            spec = kv.SlidingWindowSpec(**size, **heads, sliding_window=group["window_tokens"])
        case "circular_buffer":
            spec = kv.CircularBufferSpec(**size, **heads)
        case _:
            spec = only(
                kv.MambaSpec,
                **size,
                shapes=((16, 16),),
                dtypes=(torch.float32,),
                mamba_cache_mode="align",
                num_speculative_blocks=scenario["drafts"],
                num_prefill_checkpoint_blocks=int(alignment is not None),
                prefill_checkpoint_alignment=alignment,
            )
    named = {"layer_names": [group["name"]], "kv_cache_spec": spec}
    return only(kv.KVCacheGroupSpec, **named, is_eagle_group=group.get("drafted", False))


def build(scenario: dict[str, Any]) -> tuple[Any, Any, int]:
    """A scheduler with an empty cache, the hasher of its requests, and the unit of its hashes."""
    config = configure(scenario)
    groups = only(
        kv.KVCacheConfig,
        num_blocks=scenario["pool_blocks"],
        kv_cache_tensors=[],
        kv_cache_groups=[group_spec(group, scenario) for group in scenario["groups"]],
        prefix_cache_retention_interval=scenario["retention_interval"],
    )
    block, unit = kv_cache_utils.resolve_kv_cache_block_sizes(groups, config)
    if hasattr(groups, "hash_block_size"):
        groups.hash_block_size = unit
    if hasattr(groups, "cache_hit_alignment_tokens"):
        groups.cache_hit_alignment_tokens = kv_cache_utils.resolve_cache_hit_alignment_tokens(
            groups, config, block, unit
        )
    hasher = only(
        kv_cache_utils.get_request_block_hasher,
        hash_block_size=unit,
        caching_hash_fn=hash_function(config.cache_config.prefix_caching_hash_algo),
        num_hash_lookahead_tokens=getattr(config, "num_hash_lookahead_tokens", 0),
    )
    scheduler = Scheduler(
        vllm_config=config,
        kv_cache_config=groups,
        structured_output_manager=StructuredOutputManager(config),
        block_size=block,
        hash_block_size=unit,
        log_stats=False,
    )
    return scheduler, hasher, unit

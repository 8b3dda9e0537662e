"""A real scheduler, built as an engine core builds it, offline and without a model's weights.

What differs from a start with weights: the sizes of the groups are given instead of measured, and
the block size of the configuration is that of the state group. A start-up would take the smaller
group's; with that, prompts of unequal groups find nothing again and there is no hit to measure.
"""

import json
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from . import release
from .tokens import VOCABULARY_TOKENS
from .workloads import Shape

MAX_MODEL_TOKENS = 131_072
ENDLESS_TOKENS = 1_000_000
MODEL = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 2,
    "vocab_size": VOCABULARY_TOKENS,
    "max_position_embeddings": MAX_MODEL_TOKENS,
    "torch_dtype": "float16",
}


@dataclass(frozen=True, slots=True)
class Subject:
    """A scheduler and what belongs to it."""

    scheduler: Any
    hasher: Any
    unit_tokens: int

    def request(self, name: str, tokens: list[int], output_tokens: int = ENDLESS_TOKENS) -> Any:
        """A request as the engine core makes it: its hashes are built here."""
        return release.Request(
            request_id=name,
            prompt_token_ids=tokens,
            sampling_params=release.SamplingParams(max_tokens=output_tokens, ignore_eos=True),
            pooling_params=None,
            block_hasher=self.hasher,
        )

    def keys(self) -> int:
        """How many keys can be found."""
        return len(self.scheduler.kv_cache_manager.block_pool.cached_block_hash_to_block)

    def finish_all(self) -> None:
        """End every request, as a client that goes away does."""
        names = list(self.scheduler.requests)
        self.scheduler.finish_requests(names, release.RequestStatus.FINISHED_ABORTED)


def build(shape: Shape, running: int, budget_tokens: int, pool_blocks: int) -> Subject:
    """A scheduler with an empty cache."""
    config = release.VllmConfig(
        model_config=_model(),
        cache_config=release.CacheConfig(enable_prefix_caching=True),
        scheduler_config=release.SchedulerConfig(
            max_num_seqs=running,
            max_num_batched_tokens=budget_tokens,
            max_model_len=MAX_MODEL_TOKENS,
            is_encoder_decoder=False,
            async_scheduling=False,
        ),
        device_config=release.DeviceConfig("cpu"),
        parallel_config=release.ParallelConfig(),
    )
    if shape.drafts:
        config.speculative_config = _drafter(shape.drafts)
    cache_config = config.cache_config
    cache_config.mamba_cache_mode = "align"
    cache_config.num_gpu_blocks = pool_blocks
    cache_config.block_size = shape.state_tokens
    groups = release.KVCacheConfig(
        num_blocks=pool_blocks,
        kv_cache_tensors=[],
        kv_cache_groups=_groups(shape),
        prefix_cache_retention_interval=cache_config.prefix_cache_retention_interval,
    )
    scheduler_tokens, unit_tokens = release.resolve_kv_cache_block_sizes(groups, config)
    groups.hash_block_size = unit_tokens
    scheduler = release.Scheduler(
        vllm_config=config,
        kv_cache_config=groups,
        structured_output_manager=release.StructuredOutputManager(config),
        block_size=scheduler_tokens,
        hash_block_size=unit_tokens,
        log_stats=False,
    )
    hash_function = release.get_hash_fn_by_name(cache_config.prefix_caching_hash_algo)
    release.init_none_hash(hash_function)
    hasher = release.get_request_block_hasher(
        unit_tokens, hash_function, config.num_hash_lookahead_tokens
    )
    return Subject(scheduler, hasher, unit_tokens)


def settings(subject: Subject) -> dict[str, Any]:
    """What the scheduler really runs with, read back from it."""
    scheduler = subject.scheduler
    return {
        "version": release.VERSION,
        "hash": scheduler.cache_config.prefix_caching_hash_algo,
        "unit_tokens": subject.unit_tokens,
        "block_size": scheduler.cache_config.block_size,
        "scheduler_block_size": scheduler.block_size,
        "retention_interval": scheduler.kv_cache_config.prefix_cache_retention_interval,
        "hash_lookahead_tokens": scheduler.num_hash_lookahead_tokens,
        "block_drop": scheduler.use_eagle_block_drop,
        "drafts": scheduler.num_spec_tokens,
        "max_running": scheduler.max_num_running_reqs,
        "budget_tokens": scheduler.max_num_scheduled_tokens,
        "pool_blocks": scheduler.kv_cache_manager.block_pool.num_gpu_blocks,
        "async_scheduling": scheduler.scheduler_config.async_scheduling,
        "log_stats": scheduler.log_stats,
    }


@cache
def _model() -> Any:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "config.json").write_text(json.dumps(MODEL), encoding="utf-8")
        return release.ModelConfig(
            model=folder,
            skip_tokenizer_init=True,
            dtype="float16",
            max_model_len=MAX_MODEL_TOKENS,
        )


def _drafter(drafts: int) -> Any:
    # Asked for as n-grams, which need no draft model; what the scheduler reads is the method.
    config = release.SpeculativeConfig(
        method="ngram", num_speculative_tokens=drafts, prompt_lookup_max=2
    )
    config.method = "mtp"
    return config


def _groups(shape: Shape) -> list[Any]:
    attention = release.FullAttentionSpec(
        block_size=shape.attention_tokens, num_kv_heads=1, head_size=16, dtype=release.HALF
    )
    state = release.MambaSpec(
        block_size=shape.state_tokens,
        shapes=((16, 16),),
        dtypes=(release.SINGLE,),
        mamba_cache_mode="align",
        num_speculative_blocks=shape.drafts,
    )
    drafted = shape.drafts > 0
    return [
        release.KVCacheGroupSpec(["attention"], attention, is_eagle_group=drafted),
        release.KVCacheGroupSpec(["state"], state),
    ]

"""One call of a release's chunk splitter, in words that fit all releases.

`PATHS` says where each word stands in a release's source. A word a release does not have keeps its
neutral value: false, 0, or None.
"""

from collections.abc import Mapping
from dataclasses import dataclass

SPLITTER = "vllm.v1.core.sched.scheduler.Scheduler._mamba_block_aligned_split"
MANAGER = "vllm.v1.core.single_type_kv_cache_manager.MambaManager"
POSITION_CALL = "get_mamba_prefill_checkpoint_position"
VALID_CALL = "is_mamba_prefill_checkpoint_valid"


@dataclass(frozen=True, slots=True)
class Chunk:
    """The question (all lengths in tokens) and, in `scheduled`, the answer."""

    computed: int
    local_hit: int
    external_hit: int
    offered: int
    prompt: int
    total: int
    junction: int
    lookahead: int
    budget: int
    threshold: int
    drop: bool
    fine: bool
    exact_junction: bool
    checkpoints: bool
    alignment: int | None
    grid: int
    read_grid: int
    unit: int
    scheduler_block: int
    scheduled: int
    exported: bool

    @property
    def start(self) -> int:
        """Where the chunk starts."""
        return self.computed + self.local_hit + self.external_hit

    @property
    def end(self) -> int:
        """Where the chunk ends."""
        return self.start + self.scheduled

    @property
    def prefill_end(self) -> int:
        """Where prefill ends; a resumed request replays its outputs as prefill."""
        return max(self.prompt, self.total - 1)

    @property
    def next_boundary(self) -> int:
        """The first multiple of the state grid after the start."""
        return (self.start // self.grid + 1) * self.grid

    @property
    def widest(self) -> int:
        """The longest chunk that any step can offer."""
        return min(self.budget, self.threshold) if self.threshold > 0 else self.budget


PATHS: Mapping[str, tuple[str, ...]] = {
    "computed": ("request.num_computed_tokens",),
    "local_hit": ("num_new_local_computed_tokens",),
    "external_hit": ("num_external_computed_tokens",),
    "offered": ("num_new_tokens",),
    "prompt": ("request.num_prompt_tokens",),
    "total": ("request.num_tokens",),
    "junction": ("request.shared_prefix_boundary",),
    "lookahead": ("self.num_hash_lookahead_tokens",),
    "budget": ("self.max_num_scheduled_tokens",),
    "threshold": ("self.scheduler_config.long_prefill_token_threshold",),
    "drop": ("self.use_eagle", "self.use_eagle_block_drop"),
    "fine": ("self.mamba_partial_cache_hit",),
    "exact_junction": (
        "self.mamba_fine_grained_prefix_cache",
        "self.mamba_shared_prefix_checkpoint",
    ),
    "checkpoints": ("self.mamba_has_prefill_checkpoint_blocks",),
    "alignment": ("self.mamba_prefill_checkpoint_alignment",),
    "read_grid": ("self.cache_config.block_size",),
    "unit": ("self.hash_block_size",),
    "scheduler_block": ("self.block_size",),
}

TOKENS = (
    *("computed", "local_hit", "external_hit", "offered", "prompt", "total"),
    *("junction", "lookahead", "budget", "threshold"),
)
FEATURES = ("drop", "fine", "exact_junction", "checkpoints")
SIZES = ("grid", "read_grid", "unit", "scheduler_block")

"""What later releases mended, mended in memory in those that have it: S2, S3 and S4.

Like the repairs of what every release has, each is one function of the scheduler and the state
block, and stands alone. In a release without the defect it changes nothing. S0 has none: without
checkpoints it is gone.
"""

from collections.abc import Callable
from typing import Any

MATCH_ABOVE_CAP = "match-above-cap"
"""S2 with a drop (before 0.32.0): a group that gives a block back may match that much more."""
STOP_BELOW_END = "stop-below-end"
"""S2 without a drop (before 0.32.0): a prompt that ends on a block stops one block below its end,
where its resend can land."""
KEEP_BELOW_DROP = "keep-below-drop"
"""S3 (before 0.30.0): with a drop, the state one unit below each reachable boundary is kept too."""
ALIGN_ENDS = "align-ends"
"""S4 (0.26.0): every chunk but the last of a prefill ends on a block, or inside of its own."""


def _match_above_cap(scheduler: Any, block_tokens: int) -> None:
    drops = getattr(scheduler, "use_eagle_block_drop", getattr(scheduler, "use_eagle", False))
    if not drops:
        return
    coordinator = scheduler.kv_cache_manager.coordinator
    inner = coordinator.find_longest_cache_hit
    margin = (
        scheduler.hash_block_size
        if getattr(coordinator, "enable_partial_hash_hits", False)
        else scheduler.block_size
    )

    def find(hashes: Any, cap_tokens: int, *more: Any, **named: Any) -> Any:
        return inner(hashes, cap_tokens + margin, *more, **named)

    coordinator.find_longest_cache_hit = find


def _stop_below_end(scheduler: Any, block_tokens: int) -> None:
    if getattr(scheduler, "use_eagle_block_drop", getattr(scheduler, "use_eagle", False)):
        return
    inner = scheduler._mamba_block_aligned_split

    def split(request: Any, tokens: int, *more: int) -> int:
        taken: int = inner(request, tokens, *more)
        start = request.num_computed_tokens + sum(more)
        last = (request.num_tokens - 1) // block_tokens * block_tokens
        if start >= max(request.num_prompt_tokens, request.num_tokens - 1):
            return taken
        return last - start if start < last < start + taken else taken

    scheduler._mamba_block_aligned_split = split


def _keep_below_drop(scheduler: Any, block_tokens: int) -> None:
    import inspect

    if not getattr(scheduler, "use_eagle_block_drop", getattr(scheduler, "use_eagle", False)):
        return

    def keeping(inner: Any) -> Any:
        def mask(*, reachable_boundaries: Any, alignment_tokens: int, **named: Any) -> Any:
            below = [max(b - alignment_tokens, 0) for b in reachable_boundaries]
            kept = [*reachable_boundaries, *below]
            return inner(reachable_boundaries=kept, alignment_tokens=alignment_tokens, **named)

        return mask

    for manager in scheduler.kv_cache_manager.coordinator.single_type_managers:
        # Later releases tell each manager where a lookup with a drop can land.
        is_told = "replay_boundaries" in inspect.signature(manager.cache_blocks).parameters
        if "Mamba" in type(manager).__name__ and not is_told:
            manager.reachable_block_mask = keeping(manager.reachable_block_mask)


def _align_ends(scheduler: Any, block_tokens: int) -> None:
    inner = scheduler._mamba_block_aligned_split
    config = scheduler.scheduler_config
    threshold = config.long_prefill_token_threshold
    longest = scheduler.max_num_scheduled_tokens
    if threshold > 0:
        longest = min(longest, threshold)

    def split(request: Any, tokens: int, *more: int) -> int:
        taken: int = inner(request, tokens, *more)
        start: int = request.num_computed_tokens + sum(more)
        prefill_end = max(request.num_prompt_tokens, request.num_tokens - 1)
        if start >= prefill_end:
            return taken
        size: int = scheduler.cache_config.block_size
        end: int = start + taken
        if start % size:
            end = min(end, (start // size + 1) * size)
        aligned = end // size * size
        ends_in_a_unit = request.num_prompt_tokens // scheduler.hash_block_size
        is_tail = end == ends_in_a_unit * scheduler.hash_block_size
        if end < prefill_end and not is_tail and (aligned > start or size <= longest):
            end = aligned
        return max(end - start, 0)

    scheduler._mamba_block_aligned_split = split


HISTORIC: dict[str, Callable[[Any, int], None]] = {
    MATCH_ABOVE_CAP: _match_above_cap,
    STOP_BELOW_END: _stop_below_end,
    KEEP_BELOW_DROP: _keep_below_drop,
    ALIGN_ENDS: _align_ends,
}

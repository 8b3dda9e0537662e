"""Known defects of released schedulers, mended in memory: what is left to find behind them.

A repair changes one decision of one scheduler object, by name. With it the engine's own code runs
as before in everything else, so a finding that vanishes under a repair has that cause.
"""

from collections.abc import Callable
from typing import Any

from .historic import HISTORIC
from .plan import Plan

STATE_GRID = "state-grid"
"""The configured block, by which the splitter aligns chunks, is the state group's and not the
smallest of all groups. Done where the scheduler is built."""
STOP_AT_BLOCKS = "stop-at-blocks"
"""A prefill chunk ends at the first state block it reaches: no boundary is passed unsaved."""

REPAIRS: dict[str, Callable[[Any, int], None]] = {}


def repair(subject: Any, plan: Plan) -> None:
    """Mend what the plan names."""
    states = [g.block_tokens for g in plan.groups if g.kind == "recurrent_state"]
    for name in sorted(plan.repairs):
        mend = REPAIRS.get(name) or HISTORIC.get(name)
        if mend is not None and states:
            mend(subject.scheduler, states[0])


def _stop_at_blocks(scheduler: Any, block_tokens: int) -> None:
    inner = scheduler._mamba_block_aligned_split

    def split(request: Any, tokens: int, *more: int) -> int:
        taken: int = inner(request, tokens, *more)
        start = request.num_computed_tokens + sum(more)
        if start >= max(request.num_prompt_tokens, request.num_tokens - 1):
            return taken
        here: int = block_tokens - start % block_tokens
        return min(taken, here)

    scheduler._mamba_block_aligned_split = split


REPAIRS[STOP_AT_BLOCKS] = _stop_at_blocks

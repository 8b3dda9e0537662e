"""The block that a start-up configures, by which the splitter aligns chunks.

From 0.30.0 on it is the smallest block of the groups that take part in hits. Before, it is the
smallest of all groups, rings included. The rule is in the middle of a start-up that needs weights,
so its source is asked which of the two it is.
"""

import inspect
from functools import cache

from ..names import EngineCore
from ..plan import Plan

RING = "circular_buffer"


def configured_block_tokens(plan: Plan) -> int:
    """The smallest block, of those groups that the release counts."""
    counted = [
        group.block_tokens
        for group in plan.groups
        if group.kind != RING or not _rings_are_left_out()
    ]
    return min(counted)


@cache
def _rings_are_left_out() -> bool:
    return "prefix_cacheable" in inspect.getsource(EngineCore._initialize_kv_caches)

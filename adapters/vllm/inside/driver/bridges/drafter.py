"""What a drafter does to the keys.

From 0.33.0 on a key covers the tokens that a drafter reads beyond its end, and nothing is dropped;
a switch brings the older block drop back. Before, only the drop exists. A drafter of several
modules reads one token further for each: its configuration is known by its module count, which no
draft model is loaded for here.
"""

from types import SimpleNamespace
from typing import Any

from ..plan import Plan

SWITCH = "disable_lookahead_block_hashes"


def set_drafter(drafter: Any, plan: Plan) -> None:
    """N-grams without a drop; MTP with a drop or a lookahead."""
    drop = plan.geometry.get("drop", "none")
    reads_tokens = drop.get("tokens", 1) if isinstance(drop, dict) else 1
    drafter.method = "mtp" if has_draft_layers(plan) else "ngram"
    drafter.draft_model_config = None
    if reads_tokens > 1:
        modules = SimpleNamespace(num_nextn_predict_layers=reads_tokens)
        drafter.draft_model_config = SimpleNamespace(hf_config=modules)
    if hasattr(drafter, SWITCH):
        setattr(drafter, SWITCH, _mode(plan) != "lookahead")


def has_draft_layers(plan: Plan) -> bool:
    """Whether the drafter keeps pages of its own; a start-up marks no group for n-grams."""
    return _mode(plan) != "none"


def _mode(plan: Plan) -> str:
    drop = plan.geometry.get("drop", "none")
    mode: str = drop if isinstance(drop, str) else drop["mode"]
    return mode

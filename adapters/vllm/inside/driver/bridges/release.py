"""Which release this is, whether the bridges were tried with it, and what it can be asked for.

A version that is not in the list is driven all the same: every bridge falls back to what the
newest release does, and the facts of a run say so.
"""

from typing import Any

from ..names import VERSION, SpeculativeConfig
from .checkpoints import rule_name
from .drafter import SWITCH
from .retention import is_option

TRIED = ("0.26.0", "0.27.1", "0.29.0", "0.30.0", "0.31.0", "0.32.0", "0.33.0")
NEWEST = "newest"


def bridge_of(version: str) -> str:
    """The release that the bridges were tried with, or NEWEST for one that they were not."""
    return version if version in TRIED else NEWEST


def release_facts() -> dict[str, Any]:
    """What is so for every scheduler of this release. `knows_lookahead`: keys may cover tokens
    beyond their end; `observes_checkpoints`: chunks may export states, and the mirror has the rule
    by which they do; `retention_is_option`: not only a variable."""
    return {
        "version": VERSION,
        "bridge": bridge_of(VERSION),
        "knows_lookahead": SWITCH in SpeculativeConfig.__dataclass_fields__,
        "observes_checkpoints": rule_name() != "none",
        "checkpoint_rule": rule_name(),
        "retention_is_option": is_option(),
    }

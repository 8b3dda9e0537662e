"""Whether lookups give a block of drafted groups back.

From 0.30.0 on the scheduler keeps a bit of its own for it, since a drafter may need none. Before,
every drafter that reads hidden states drops.
"""

from typing import Any

from .. import names


def drops_blocks(scheduler: Any) -> bool:
    """The bit that is in force."""
    return bool(getattr(scheduler, "use_eagle_block_drop", getattr(scheduler, "use_eagle", False)))


def drop_cap() -> str:
    """How far a group that gives a block back may match: beyond the cap by as much (`margin`, from
    0.32.0 on, which also brought the hash unit into the cache's configuration), or not
    (`clamped`)."""
    knows_unit = "hash_block_size" in names.KVCacheConfig.__dataclass_fields__
    return "margin" if knows_unit else "clamped"

"""Whether lookups give a block of drafted groups back.

From 0.30.0 on the scheduler keeps a bit of its own for it, since a drafter may need none. Before,
every drafter that reads hidden states drops.
"""

from typing import Any


def drops_blocks(scheduler: Any) -> bool:
    """The bit that is in force."""
    return bool(getattr(scheduler, "use_eagle_block_drop", getattr(scheduler, "use_eagle", False)))

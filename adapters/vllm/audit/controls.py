"""Clean controls: runs in which a release has none of the defects searched for, so all is silent.

Equal block sizes, no checkpoints, an ample pool, first come first served, nobody goes away. The
budget is one block and one step of every other request: with less, a splitter that aligns chunks
gives a prefill nothing while somebody decodes, and with two blocks every release passes boundaries
without saving them (S1-stop). Both are findings and no controls. With drafts and the block drop the
last chunk of a prompt passes the last boundary even so; there S1-stop is mended in memory.
"""

from dataclasses import replace
from enum import StrEnum
from random import Random

from truehit.adapters.vllm.audit.draw import start_up_blocks
from truehit.adapters.vllm.audit.toggles import Trial
from truehit.adapters.vllm.audit.traffic import draw_requests
from truehit.adapters.vllm.inside.driver.repairs import STOP_AT_BLOCKS
from truehit.spec.geometry import (
    BlockDrop,
    Dense,
    Drop,
    DropCap,
    Geometry,
    Group,
    Interval,
    Kind,
    Lookahead,
    NoDrop,
    ReachOnly,
    Retention,
)
from truehit.spec.scenario import Scenario

SPARE_BLOCKS = 600
MOST_RUNNING = 4


class Control(StrEnum):
    """The three families."""

    EQUAL = "equal"
    EQUAL_DRAFTS = "equal, drafts"
    ATTENTION = "attention only"


def control(family: Control, random: Random, lookahead: bool = True) -> Trial:
    """One run of a family. `lookahead`: the release has keys that look ahead."""
    size = random.choice([32, 64, 96])
    drafts = random.choice([1, 2, 3]) if family is Control.EQUAL_DRAFTS else 0
    state = Group("state", Kind.RECURRENT_STATE, size)
    attention = Group("attention", Kind.FULL_ATTENTION, size, drafted=drafts > 0)
    drop: Drop = Lookahead(1) if lookahead else BlockDrop(DropCap.MARGIN)
    base = Geometry(
        groups=(attention,) if family is Control.ATTENTION else (attention, state),
        hash_unit_tokens=size,
        drafts=drafts,
        drop=drop if drafts else NoDrop(),
        retention=_retention(random, family, size),
        budget_tokens=size + (MOST_RUNNING - 1) * (1 + drafts),
        max_model_tokens=640,
        max_running=MOST_RUNNING,
    )
    pool = start_up_blocks(base) * base.max_running + SPARE_BLOCKS
    geometry = replace(base, pool_blocks=pool)
    requests = tuple(replace(r, priority=0) for r in draw_requests(random, geometry))
    scenario = Scenario(name=family, geometry=geometry, requests=requests, max_steps=1500)
    repairs = {STOP_AT_BLOCKS} if drafts and not lookahead else set()
    return Trial(scenario, frozenset(repairs))


def _retention(random: Random, family: Control, size: int) -> Retention:
    """Releases refuse an interval for a model whose every group keeps everything."""
    kinds: list[Retention] = [Dense(), ReachOnly()]
    if family is not Control.ATTENTION:
        kinds.append(Interval(size * random.choice([1, 2, 4])))
    return random.choice(kinds)

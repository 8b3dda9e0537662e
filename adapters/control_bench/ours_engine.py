"""An engine with the geometry of a workload, set as the peer is set by default."""

from math import lcm
from typing import Any

from truehit.adapters.vllm.inside.control_peer.workloads import Shape
from truehit.engine.api import Engine
from truehit.spec.geometry import Geometry, Group, Kind, Lookahead, NoDrop, ReachOnly

MAX_MODEL_TOKENS = 131_072


def engine_of(shape: Shape, running: int, budget_tokens: int, pool_blocks: int) -> Engine:
    """An engine with an empty cache: the default rules, retention 0, hits on the hash unit, and
    with drafts a key that covers one token more instead of a drop."""
    attention, state = shape.attention_tokens, shape.state_tokens
    drafted = shape.drafts > 0
    return Engine(
        Geometry(
            groups=(
                Group("attention", Kind.FULL_ATTENTION, attention, drafted=drafted),
                Group("state", Kind.RECURRENT_STATE, state),
            ),
            hash_unit_tokens=shape.unit_tokens,
            fine_hits=shape.unit_tokens < lcm(attention, state),
            drafts=shape.drafts,
            drop=Lookahead(1) if drafted else NoDrop(),
            retention=ReachOnly(),
            budget_tokens=budget_tokens,
            max_model_tokens=MAX_MODEL_TOKENS,
            pool_blocks=pool_blocks,
            max_running=running,
        )
    )


def settings_of(engine: Engine) -> dict[str, Any]:
    """What the engine really runs with, in the peer's words where they are the same thing."""
    geometry = engine.geometry
    return {
        "rules": "default",
        "hash": "sha256",
        "unit_tokens": geometry.hash_unit_tokens,
        "alignment_tokens": geometry.alignment_tokens,
        "retention": type(geometry.retention).__name__,
        "hash_lookahead_tokens": geometry.lookahead_tokens,
        "drafts": geometry.drafts,
        "max_running": geometry.max_running,
        "budget_tokens": geometry.budget_tokens,
        "pool_blocks": geometry.pool_blocks,
        "steps_in_flight": geometry.steps_in_flight,
    }

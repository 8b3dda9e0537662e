"""How large a counterexample is, in the order people read: requests, then chunks, then tokens, then
blocks."""

from truehit.spec.geometry import Dense, Geometry, NoDrop
from truehit.spec.scenario import AtStep, Request, Scenario

Cost = tuple[int, int, int, int, int]


def _request_clutter(request: Request) -> int:
    """Fields a reader has to look at beyond the prompt."""
    later = 0 if request.arrival == AtStep(0) else 1
    return (
        later
        + len(request.segments)
        + len(request.accepted)
        + len(request.shares)
        + len(request.encoder_items)
        + (1 if request.external_tokens else 0)
        + (1 if request.salt else 0)
        + (1 if request.priority else 0)
    )


def _geometry_clutter(geometry: Geometry) -> int:
    """Features switched on."""
    return (
        4 * len(geometry.groups)
        + sum(1 for g in geometry.groups if g.drafted)
        + (2 if geometry.fine_hits else 0)
        + geometry.drafts
        + (0 if isinstance(geometry.drop, NoDrop) else 2)
        + (0 if isinstance(geometry.retention, Dense) else 1)
        + (2 if geometry.checkpoints else 0)
        + 2 * (geometry.steps_in_flight - 1)
        + (0 if geometry.reserve_full_sequence else 1)
        + (0 if geometry.long_prefill_threshold_tokens is None else 1)
    )


def cost(scenario: Scenario, chunks: int) -> Cost:
    """The cost of a scenario that ran in `chunks` prefill chunks; smaller is better."""
    geometry = scenario.geometry
    clutter = sum(_request_clutter(r) for r in scenario.requests) + 3 * len(scenario.actions)
    clutter += _geometry_clutter(geometry) + len(scenario.budgets)
    tokens = sum(r.prompt_tokens + r.output_tokens for r in scenario.requests)
    blocks = sum(g.block_tokens for g in geometry.groups)
    limits = geometry.budget_tokens + geometry.pool_blocks
    return (len(scenario.requests), chunks + clutter, tokens, blocks, limits)

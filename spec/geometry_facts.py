"""The derived sheet of a geometry: what its numbers mean for hits, memory and chunks."""

from dataclasses import dataclass
from math import lcm

from truehit.spec.formulas import smallest_hit_prompt
from truehit.spec.geometry import Geometry, Kind
from truehit.spec.geometry_limits import SMALLEST_REQUEST_TOKENS


@dataclass(frozen=True, slots=True)
class GeometryFacts:
    """What follows from a geometry. None: does not apply (no state group, nothing can ever hit).

    A running request of n tokens takes `fixed_blocks` whatever n is, and `segment_blocks` for every
    `segment_tokens` of it. `grids_per_chunk` = 0: a state block needs several chunks.
    """

    grid_tokens: int | None
    alignment_tokens: int
    lcm_tokens: int
    minimum_block_tokens: int
    hash_unit_tokens: int
    retention_period_tokens: int | None
    smallest_hit_prompt_tokens: int | None
    fixed_blocks: int
    segment_tokens: int
    segment_blocks: int
    largest_servable_tokens: int
    largest_chunk_tokens: int
    grids_per_chunk: int | None


def facts(geometry: Geometry) -> GeometryFacts:
    """The sheet of a geometry that `geometry_checks.check` accepts."""
    full = Kind.FULL_ATTENTION
    growing = [g.block_tokens for g in geometry.groups if g.kind is full]
    segment = lcm(*growing)
    grid = geometry.grid_tokens
    return GeometryFacts(
        grid_tokens=grid,
        alignment_tokens=geometry.alignment_tokens,
        lcm_tokens=geometry.lcm_tokens,
        minimum_block_tokens=geometry.minimum_block_tokens,
        hash_unit_tokens=geometry.hash_unit_tokens,
        retention_period_tokens=geometry.retention_period_tokens,
        smallest_hit_prompt_tokens=smallest_hit_prompt(geometry),
        fixed_blocks=_fixed_blocks(geometry),
        segment_tokens=segment,
        segment_blocks=sum(segment // block for block in growing),
        largest_servable_tokens=largest_servable_tokens(geometry),
        largest_chunk_tokens=geometry.largest_chunk_tokens,
        grids_per_chunk=None if grid is None else geometry.largest_chunk_tokens // grid,
    )


def largest_servable_tokens(geometry: Geometry) -> int:
    """The longest request (prompt and output) that fits an empty pool and the maximum length."""
    low, high = SMALLEST_REQUEST_TOKENS, geometry.max_model_tokens
    while low < high:
        middle = (low + high + 1) // 2
        if 1 + geometry.request_blocks(middle) <= geometry.pool_blocks:
            low = middle
        else:
            high = middle - 1
    return low


def _fixed_blocks(geometry: Geometry) -> int:
    circular = sum(1 for g in geometry.groups if g.kind is Kind.CIRCULAR_BUFFER)
    full = sum(1 for g in geometry.groups if g.kind is Kind.FULL_ATTENTION)
    copies = full if geometry.fine_hits else 0
    windows = sum(
        geometry.window_peak_blocks(g) for g in geometry.groups if g.kind is Kind.SLIDING_WINDOW
    )
    return circular + copies + windows + len(geometry.state_groups) * geometry.state_peak_blocks()

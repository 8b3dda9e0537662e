"""The geometry sheet: what the numbers of a deployment mean, in lines an operator can check."""

from dataclasses import asdict
from typing import Any

from truehit.spec.geometry import Dense, Geometry, Interval
from truehit.spec.geometry_facts import facts


def sheet_json(geometry: Geometry) -> dict[str, Any]:
    """The derived facts by name."""
    return asdict(facts(geometry))


def sheet_lines(geometry: Geometry) -> list[tuple[str, str]]:
    """Pairs of a title and what it is."""
    sheet = facts(geometry)
    groups = ", ".join(f"{g.name} {g.block_tokens}" for g in geometry.groups)
    smallest = sheet.smallest_hit_prompt_tokens
    lines = [
        ("blocks", f"{groups} tokens; hash unit {sheet.hash_unit_tokens}"),
        ("a hit is", f"a multiple of {sheet.alignment_tokens} tokens"),
        (
            "shortest prompt",
            "no prompt can ever hit" if smallest is None else f"{smallest} tokens can hit again",
        ),
        ("states kept", _kept(geometry, sheet.retention_period_tokens)),
        ("largest chunk", _chunk(geometry, sheet.largest_chunk_tokens, sheet.grids_per_chunk)),
        (
            "a request takes",
            f"{sheet.fixed_blocks} blocks while it runs, and {sheet.segment_blocks} for every "
            f"{sheet.segment_tokens} tokens",
        ),
        (
            "the pool",
            f"{geometry.pool_blocks} blocks: a request of {sheet.largest_servable_tokens} tokens "
            "is the longest that fits",
        ),
    ]
    return lines


def _kept(geometry: Geometry, period: int | None) -> str:
    reach = "what a resend, a longer prompt or a junction can land on"
    match geometry.retention:
        case Dense() | Interval() if period is not None:
            return f"multiples of {period}, and {reach}"
        case _:
            return f"only {reach}"


def _chunk(geometry: Geometry, largest: int, grids: int | None) -> str:
    if grids is None:
        return f"{largest} tokens"
    if grids == 0:
        return f"{largest} tokens: less than a state block of {geometry.grid_tokens}, so slow"
    return f"{largest} tokens: {grids} state blocks"

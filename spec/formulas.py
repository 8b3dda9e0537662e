"""reach in numbers: what attention can offer for a shared prefix, and so which positions must be
kept.

Pure integer functions in the liftable fragment, then thin wrappers over a geometry. They speak of
an engine in which everything shared is present; what an engine really finds is in its trace."""

from dataclasses import dataclass

from truehit.spec.geometry import BlockDrop, DropCap, Geometry, Group
from truehit.spec.units import floor_to


@dataclass(frozen=True, slots=True)
class MatchQuery:
    """One attention group asked for a shared prefix. `unit` u_g, `drop` D_g (0: none), `lookahead`
    L (0: none).

    `margin`: the match may extend beyond the limit by the drop (else it is clamped at the limit).
    """

    shared: int
    limit: int
    unit: int
    drop: int
    margin: bool
    lookahead: int


def match_tokens(q: MatchQuery) -> int:
    """The longest prefix the group matches, in tokens, before the drop."""
    if q.lookahead > 0:
        bound = min(q.shared - q.lookahead, q.limit)
    elif q.margin:
        bound = min(q.shared, q.limit + q.drop)
    else:
        bound = min(q.shared, q.limit)
    return floor_to(max(bound, 0), q.unit)


def group_offer(q: MatchQuery) -> int:
    """What is left of the match after the drop; not below 0, not floored to the alignment."""
    return max(match_tokens(q) - q.drop, 0)


def joint_offer(smallest_group_offer: int, limit: int, alignment: int) -> int:
    """The offer of all attention groups together: on the alignment, not above the limit."""
    return max(0, min(floor_to(smallest_group_offer, alignment), floor_to(limit, alignment)))


def match_query(geometry: Geometry, group: Group, shared: int, limit: int) -> MatchQuery:
    """The query of one attention group of a geometry."""
    drop = geometry.drop
    return MatchQuery(
        shared=shared,
        limit=limit,
        unit=geometry.lookup_unit_tokens(group),
        drop=geometry.drop_tokens(group),
        margin=isinstance(drop, BlockDrop) and drop.cap is DropCap.MARGIN,
        lookahead=geometry.lookahead_tokens,
    )


def offer(geometry: Geometry, shared: int, limit: int) -> int:
    """The largest position attention offers for `shared` common tokens when a lookup is capped at
    `limit`."""
    smallest = (
        shared if geometry.lookahead_tokens == 0 else max(shared - geometry.lookahead_tokens, 0)
    )
    for group in geometry.attention_groups:
        smallest = min(smallest, group_offer(match_query(geometry, group, shared, limit)))
    return joint_offer(smallest, limit, geometry.alignment_tokens)


def legal(geometry: Geometry, prompt_tokens: int) -> int:
    """What an unchanged prompt hits on its second send: the last token is always recomputed."""
    return offer(geometry, prompt_tokens, max(prompt_tokens - 1, 0))


def extend(geometry: Geometry, prompt_tokens: int) -> int:
    """What a longer prompt that contains this one hits."""
    return offer(geometry, prompt_tokens, prompt_tokens)


def smallest_hit_prompt(geometry: Geometry) -> int | None:
    """The shortest prompt whose unchanged resend can hit, or None within the maximum length."""
    low, high = 1, geometry.max_model_tokens
    if legal(geometry, high) == 0:
        return None
    while low < high:
        middle = (low + high) // 2
        if legal(geometry, middle) > 0:
            high = middle
        else:
            low = middle + 1
    return low

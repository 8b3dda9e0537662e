"""One reason for every miss, in an operator's words, with the number that would work."""

from truehit.cli.forecast import Expected
from truehit.cli.requests import RequestRow
from truehit.spec.formulas import smallest_hit_prompt
from truehit.spec.geometry import Dense, Geometry, Interval, ReachOnly
from truehit.spec.trace import GroupReach, Lookup, Miss


def explain(geometry: Geometry, row: RequestRow, expected: Expected) -> str:
    """Why the hit is what it is. A sentence without its full stop."""
    lookup = row.lookup
    if row.hit is None or lookup is None:
        return f"refused: {row.message}" if row.message else "it was never scheduled"
    match lookup.reason:
        case None:
            return f"all {row.hit} tokens that can be shared were hit"
        case Miss.NOT_SHARED:
            return "no earlier request began with these tokens"
        case Miss.CAPPED:
            return (
                f"the last token of a prompt is always computed, so at most {lookup.cap_tokens} "
                f"tokens can be hit, in steps of {geometry.alignment_tokens}"
            )
        case Miss.BELOW_FLOOR:
            return _below_floor(geometry, row.hit, expected)
        case Miss.DROPPED:
            return _dropped(lookup)
        case Miss.NO_STATE:
            return _no_state(lookup, expected)
        case Miss.MASKED:
            return _masked(geometry, lookup, expected)
        case Miss.EVICTED:
            return (
                f"a block it needs was evicted: the pool of {geometry.pool_blocks} blocks is too "
                "small for what came between; a larger --pool works"
            )
        case Miss.VETOED_BY:
            return _vetoed(lookup)
        case Miss.UNCOMMITTED:
            return "the state is still being computed; one step later it can be hit"
        case other:
            return str(other)


def _below_floor(geometry: Geometry, hit: int, expected: Expected) -> str:
    following = hit + geometry.alignment_tokens
    needed = following + geometry.lookahead_tokens
    if hit:
        return (
            f"the next position above it is {following}, and its key needs {needed} shared tokens: "
            f"there are {expected.shared_tokens}"
        )
    smallest = smallest_hit_prompt(geometry)
    works = "no prompt can hit" if smallest is None else f"{smallest} tokens can hit again"
    return (
        f"it shares {expected.shared_tokens} tokens and a hit is a multiple of "
        f"{geometry.alignment_tokens}; a prompt of {works}"
    )


def _attention(lookup: Lookup) -> list[GroupReach]:
    return [reach for reach in lookup.reaches if reach.drop_tokens]


def _dropped(lookup: Lookup) -> str:
    worst = min(_attention(lookup), key=lambda reach: reach.reach_tokens)
    return (
        f"group {worst.group} holds layers of the draft model and gives {worst.drop_tokens} of its "
        f"{worst.match_tokens} matched tokens back: {worst.reach_tokens} remain"
    )


def _promised(lookup: Lookup, expected: Expected) -> str:
    """What to say when the law promises this very position: the rules are at fault."""
    is_law = expected.formula.startswith(("legal", "extend"))
    if is_law and expected.tokens == lookup.junction_tokens:
        return f"{expected.formula} is {expected.tokens}, so the rules are at fault"
    return ""


def _no_state(lookup: Lookup, expected: Expected) -> str:
    offered = lookup.junction_tokens or 0
    fault = _promised(lookup, expected)
    if fault:
        return f"no chunk ended at {offered}, so there is no state to resume from: {fault}"
    later = "; it is a junction now, so the next request that shares it can hit it"
    return (
        f"attention could resume at {offered}, but no chunk ended there, so there is no state at "
        f"{offered}{later if offered else ''}"
    )


def _masked(geometry: Geometry, lookup: Lookup, expected: Expected) -> str:
    offered = lookup.junction_tokens or 0
    fault = _promised(lookup, expected)
    if fault:
        return f"a state up to {offered} was computed, but not kept: {fault}"
    match geometry.retention:
        case ReachOnly():
            kept = "retention 0 keeps only what a resend or a longer prompt can land on"
        case Interval(tokens):
            kept = f"retention keeps only multiples of {tokens} and what a resend can land on"
        case Dense():
            kept = "the rules keep other positions"
    return (
        f"attention could resume at {offered}; a state up to there was computed, but not kept: "
        f"{kept}; --retention dense keeps it"
    )


def _vetoed(lookup: Lookup) -> str:
    matches = {reach.group: reach.match_tokens for reach in lookup.reaches}
    group = lookup.vetoed_by or ""
    best = max(matches.values(), default=0)
    return (
        f"group {group} matches only {matches.get(group, 0)} tokens while another matches {best}; "
        "a hit needs every group"
    )

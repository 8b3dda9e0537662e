"""Why a real engine hit no more, in words: the reason that was derived, with its numbers."""

from truehit.spec.geometry import Geometry
from truehit.spec.trace import GroupReach, Lookup, Miss


def words(geometry: Geometry, lookup: Lookup) -> str:
    """A sentence without its full stop. `lookup` has its reaches and a reason."""
    match lookup.reason:
        case Miss.NOT_SHARED:
            return "no earlier request began with these tokens"
        case Miss.CAPPED:
            return (
                "the last known token is always computed, so at most "
                f"{lookup.cap_tokens} tokens can be hit, in steps of {geometry.alignment_tokens}"
            )
        case Miss.BELOW_FLOOR:
            return f"what it shares is less than the next multiple of {geometry.alignment_tokens}"
        case Miss.NO_STATE:
            return (
                f"attention offers {_offer(geometry, lookup)}, but no state beyond "
                f"{lookup.hit_tokens} was computed up to there"
            )
        case Miss.MASKED:
            return (
                f"attention offers {_offer(geometry, lookup)}; a state beyond "
                f"{lookup.hit_tokens} was computed up to there, but has no key"
            )
        case Miss.EVICTED:
            return "a key that it needs is gone: evicted, taken back or reset"
        case Miss.DROPPED:
            return _dropped(lookup)
        case Miss.VETOED_BY:
            return f"{_matched(lookup)}; group {lookup.vetoed_by} allows no more"
        case Miss.UNCOMMITTED:
            return "what more it shares is not computed yet, or in this very step"
        case _:
            return f"all {lookup.hit_tokens} tokens that can be shared were hit"


def _attention(geometry: Geometry, lookup: Lookup) -> list[GroupReach]:
    names = {group.name for group in geometry.attention_groups}
    return [reach for reach in lookup.reaches if reach.group in names]


def _offer(geometry: Geometry, lookup: Lookup) -> int:
    """As the engine told it, or as the keys have it."""
    reaches = [reach.reach_tokens for reach in _attention(geometry, lookup)]
    return lookup.junction_tokens or min(reaches, default=lookup.cap_tokens)


def _dropped(lookup: Lookup) -> str:
    dropping = [reach for reach in lookup.reaches if reach.drop_tokens]
    worst = min(dropping, key=lambda reach: reach.reach_tokens)
    more = ""
    if lookup.hit_tokens < worst.reach_tokens:
        more = f", but the engine gives back more and hits {lookup.hit_tokens}"
    return (
        f"group {worst.group} has layers of the drafter and gives {worst.drop_tokens} of its "
        f"{worst.match_tokens} matched tokens back: {worst.reach_tokens} remain{more}"
    )


def _matched(lookup: Lookup) -> str:
    each = (f"{reach.group} {reach.match_tokens}" for reach in lookup.reaches)
    return f"the groups match {', '.join(each)}"

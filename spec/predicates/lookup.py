"""reach and joint: where a lookup may land, and what every group and the state search agree to.

Two attention groups stand for any number: an offer is a minimum over groups, and each is treated
alike. `total`: known tokens of the request; `shared`: those that an earlier request has computed.
"""

from truehit.spec.formulas import MatchQuery, group_offer, joint_offer


def is_lookup(total: int, shared: int, lookahead: int, drop: int, other_drop: int) -> bool:
    """Some tokens are known, some of them shared; a lookahead replaces the drop."""
    counts = total >= 1 and shared >= 0 and shared <= total and lookahead >= 0
    return counts and (lookahead == 0 or (drop == 0 and other_drop == 0))


def is_resend(total: int, shared: int) -> bool:
    """Everything is shared: an unchanged prompt."""
    return shared == total


def is_extension(total: int, shared: int) -> bool:
    """A longer prompt that contains an earlier one."""
    return shared < total and shared >= 1


def is_later(total: int, shared: int, later_total: int, later_shared: int) -> bool:
    """A later request that is at least as long and shares at least as much."""
    return total <= later_total and shared <= later_shared and later_shared <= later_total


def lands_no_lower(landing: int, later_landing: int) -> bool:
    """The later request is offered at least as much."""
    return landing <= later_landing


def most_reused(total: int) -> int:
    """All but the last token, whose logits are needed."""
    return max(total - 1, 0)


def offer_of(
    shared: int,
    limit: int,
    alignment: int,
    lookahead: int,
    margin: bool,
    unit: int,
    drop: int,
    other_unit: int,
    other_drop: int,
) -> int:
    """The offer of two attention groups: `spec.formulas.offer` without its geometry."""
    one = group_offer(MatchQuery(shared, limit, unit, drop, margin, lookahead))
    other = group_offer(MatchQuery(shared, limit, other_unit, other_drop, margin, lookahead))
    hashed = max(shared - lookahead, 0)
    return joint_offer(min(hashed, one, other), limit, alignment)


def lands_on(landing: int, expected: int) -> bool:
    """The lookup rule offers what the formula says."""
    return landing == expected


def recomputes_one(landing: int, total: int) -> bool:
    """At least one token is always computed."""
    return landing < total


def partial_key(position: int, drop: int) -> int:
    """Where the page key of a kept position ends: far enough beyond it to survive the drop."""
    return position + drop if position > 0 else 0


def keys_reached(key: int, bound: int, unit: int) -> bool:
    """A partial page key ends on a hash unit, inside what a match may cover."""
    return key <= bound and key % unit == 0


def is_match(match: int, key: int, bound: int, unit: int) -> bool:
    """The match ends on a hash unit, at the partial key or beyond it, within its bound."""
    return key <= match and match <= bound and match % unit == 0


def is_candidate(position: int, resume: int, alignment: int) -> bool:
    """An aligned position that the group can resume at."""
    return position >= 0 and position <= resume and position % alignment == 0


def is_lowered(position: int, resume: int) -> bool:
    """The candidate is a position below what the group could resume at."""
    return position > 0 and position < resume


def accepts(position: int, retried: int) -> bool:
    """Asked again about a position it can resume at, a group keeps it."""
    return retried == position


def searches_offer(landing: int, searched: int) -> bool:
    """The state group is searched up to the offer: lower loses hits, higher raises the joint hit
    above what some attention group can resume at."""
    return searched == landing

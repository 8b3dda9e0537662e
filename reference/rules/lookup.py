"""The arithmetic of a lookup: how far a group may match, what it gives back, where it can
resume."""

from dataclasses import dataclass

from truehit.spec.units import floor_to


@dataclass(frozen=True, slots=True)
class ResumeQuery:
    """A dropping or plain attention group that matched `match` tokens; `limit` is the lookup's
    cap."""

    match: int
    limit: int
    drop: int
    alignment: int


def lookup_cap(total: int) -> int:
    """The last token is always computed: its logits are needed."""
    return max(total - 1, 0)


def match_limit(cap: int, drop: int, margin: bool, hashed: int) -> int:
    """How far a group may match: beyond the cap by its drop if the cap has a margin, within what is
    hashed."""
    return min(cap + drop, hashed) if margin else min(cap, hashed)


def resume_limit(q: ResumeQuery) -> int:
    """The largest aligned position the group can resume at: its match less the drop, not above the
    cap."""
    given = max(q.match - q.drop, 0)
    return min(floor_to(given, q.alignment), floor_to(q.limit, q.alignment))


def resume_limit_again(q: ResumeQuery, candidate: int) -> int:
    """The defect: the drop is applied again to a candidate that was already lowered."""
    return min(resume_limit(q), floor_to(max(candidate - q.drop, 0), q.alignment))


def raised_candidate(candidate: int, drop: int) -> int:
    """The defect: a group that does not drop may accept the margin of one that does."""
    return candidate + drop


def pruned_candidate(candidate: int, block: int) -> int:
    """The defect: the last block of a match is never used, so that poison in it stays hidden."""
    return max(candidate - block, 0)

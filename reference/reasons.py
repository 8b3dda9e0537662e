"""Why a lookup hit less than it shares: one reason from a closed list (design §6)."""

from dataclasses import dataclass

from truehit.reference.file import Filer
from truehit.reference.find import Finder, Found
from truehit.reference.live import Live
from truehit.reference.pool import Pool
from truehit.spec.geometry import Geometry, Group, Kind
from truehit.spec.tokens import TokenPath
from truehit.spec.trace import GroupReach, Miss
from truehit.spec.units import floor_to


@dataclass(frozen=True, slots=True)
class MissReason:
    """No reason: everything findable was used."""

    reason: str | None = None
    vetoed_by: str | None = None

    @property
    def text(self) -> str | None:
        if self.vetoed_by is not None:
            return f"{self.reason}({self.vetoed_by})"
        return self.reason


class Reasons:
    """Remembers whose tokens were seen, to tell *not shared* from *lost*."""

    __slots__ = ("_filer", "_finder", "_geometry", "_pool", "_seen")

    def __init__(self, geometry: Geometry, pool: Pool, filer: Filer, finder: Finder) -> None:
        self._geometry = geometry
        self._pool = pool
        self._filer = filer
        self._finder = finder
        self._seen: list[tuple[TokenPath, Live]] = []

    def remember(self, live: Live) -> None:
        """A request was submitted."""
        self._seen.append((live.path, live))

    def _shared(self, live: Live) -> tuple[int, int]:
        """The longest prefix shared with tokens known complete (its own, before a preemption,
        included), and with tokens of a running request, computed or not."""
        computed, pending = min(live.reached, live.known), 0
        for path, other in self._seen:
            if other is live:
                continue
            shared = min(live.path.shared_tokens(path), live.known)
            computed = max(computed, min(shared, other.reached))
            if other.pages or other.states:
                pending = max(pending, shared)
        return computed, pending

    def _findable(self, shared: int, cap: int) -> int:
        """What a lookup could hit of so many shared tokens if nothing else stood in the way."""
        geometry = self._geometry
        hashed = max(shared - geometry.lookahead_tokens, 0)
        return floor_to(min(hashed, cap), geometry.alignment_tokens)

    def explain(self, live: Live, found: Found) -> MissReason:
        """The one reason for a hit below what is shared."""
        shared, pending = self._shared(live)
        longest, hit = max(shared, pending), found.hit
        if found.offer > hit and self._geometry.state_groups:
            return self._state_reason(live, found)
        findable = self._findable(shared, found.cap)
        if hit < findable:
            return self._attention_reason(live, found, findable)
        if hit < self._findable(pending, found.cap):
            return MissReason(Miss.UNCOMMITTED)
        if hit == 0 and longest == 0:
            return MissReason(Miss.NOT_SHARED)
        if hit < longest and longest > found.cap:
            return MissReason(Miss.CAPPED)
        if hit == 0:
            return MissReason(Miss.BELOW_FLOOR)
        return MissReason()

    def _state_reason(self, live: Live, found: Found) -> MissReason:
        """Attention offered more than the state groups have."""
        masked = False
        for position in range(found.offer, found.hit, -self._geometry.alignment_tokens):
            for group in self._geometry.state_groups:
                key = self._finder.key(live, group.name, position)
                if key in self._pool.lost:
                    return MissReason(Miss.EVICTED)
                masked = masked or key in self._filer.masked
        return MissReason(Miss.MASKED if masked else Miss.NO_STATE)

    def _attention_reason(self, live: Live, found: Found, findable: int) -> MissReason:
        """Attention offered less than is shared and could be found."""
        hit, alignment = found.hit, self._geometry.alignment_tokens
        for match in found.matches:
            if self._lost(live, match.group, match.tokens, hit, findable):
                return MissReason(Miss.EVICTED)
        reaches = {reach.group: reach for reach in found.reaches}
        groups = [(match.group, reaches[match.group.name]) for match in found.matches]
        if any(_drops_below(reach, hit, found.cap, alignment) for _, reach in groups):
            return MissReason(Miss.DROPPED)
        if not groups:
            return MissReason(Miss.BELOW_FLOOR)
        # Windows with holes may all reach further than they do together.
        lowest, reach = min(
            groups, key=lambda pair: (pair[1].reach_tokens, pair[0].kind is Kind.FULL_ATTENTION)
        )
        furthest = max(reach.reach_tokens for _, reach in groups)
        if reach.reach_tokens < furthest or hit < reach.reach_tokens:
            return MissReason(Miss.VETOED_BY, lowest.name)
        return MissReason(Miss.BELOW_FLOOR)

    def _lost(self, live: Live, group: Group, matched: int, low: int, high: int) -> bool:
        """A page that a resume in (low, high] needs was evicted or reset."""
        unit = self._geometry.lookup_unit_tokens(group)
        first = matched
        if group.kind is Kind.SLIDING_WINDOW:
            first = max(low - (group.window_tokens or 1), 0)
        positions = range(floor_to(first, unit) + unit, high + 1, unit)
        keys = (self._finder.key(live, group.name, position) for position in positions)
        return any(key in self._pool.lost for key in keys)


def _drops_below(reach: GroupReach, hit: int, cap: int, alignment: int) -> bool:
    """The group itself is what limits the hit, and it would not without its drop."""
    if reach.drop_tokens == 0 or reach.reach_tokens > hit:
        return False
    return floor_to(min(reach.match_tokens, cap), alignment) > hit

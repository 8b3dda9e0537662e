"""Why a lookup hit less than it shares: one reason from a closed list (design §6)."""

from dataclasses import dataclass

from truehit.reference.file import Filer
from truehit.reference.find import Finder, Found
from truehit.reference.live import Live
from truehit.reference.pool import Key, Pool
from truehit.spec.geometry import Geometry
from truehit.spec.tokens import TokenPath
from truehit.spec.trace import Miss
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

    def _shared(self, live: Live) -> tuple[int, bool]:
        """The longest prefix shared with earlier computed tokens, and with tokens still in
        flight."""
        computed = pending = 0
        for path, other in self._seen:
            if other is live:
                continue
            shared = min(live.path.shared_tokens(path), live.known)
            computed = max(computed, min(shared, other.reached))
            pending = max(pending, shared if other.ended is None else 0)
        return computed, pending > computed

    def explain(self, live: Live, found: Found) -> MissReason:
        """The one reason for a hit below what is shared."""
        shared, pending = self._shared(live)
        hit, alignment = found.hit, self._geometry.alignment_tokens
        if shared == 0 and hit == 0:
            return MissReason(Miss.UNCOMMITTED if pending else Miss.NOT_SHARED)
        if hit >= shared:
            return MissReason()
        if found.offer > hit and self._geometry.state_groups:
            return self._state_reason(live, found, pending)
        if shared < alignment:
            return MissReason(Miss.BELOW_FLOOR)
        best = max((m.tokens for m in found.matches), default=0)
        lowest = min(found.matches, key=lambda m: m.tokens, default=None)
        wanted = floor_to(min(shared, found.cap), alignment)
        if hit >= wanted:
            return MissReason(Miss.CAPPED) if shared > found.cap else MissReason()
        for match in found.matches:
            if self._lost(live, match.group.name, match.tokens, wanted):
                return MissReason(Miss.EVICTED)
        if any(
            r.drop_tokens and floor_to(min(r.match_tokens, found.cap), alignment) > hit
            for r in found.reaches
        ):
            return MissReason(Miss.DROPPED)
        if lowest is not None and lowest.tokens < best:
            return MissReason(Miss.VETOED_BY, lowest.group.name)
        if pending:
            return MissReason(Miss.UNCOMMITTED)
        return MissReason(Miss.CAPPED if shared > found.cap else Miss.BELOW_FLOOR)

    def _state_reason(self, live: Live, found: Found, pending: bool) -> MissReason:
        groups = self._geometry.state_groups
        alignment = self._geometry.alignment_tokens
        masked = False
        position = found.offer
        while position > found.hit:
            for group in groups:
                key = self._finder.key(live, group.name, position)
                if key is not None and self._is_lost(key):
                    return MissReason(Miss.EVICTED)
                masked = masked or key in self._filer.masked
            position -= alignment
        if masked:
            return MissReason(Miss.MASKED)
        return MissReason(Miss.UNCOMMITTED if pending else Miss.NO_STATE)

    def _is_lost(self, key: Key) -> bool:
        return key in self._pool.evicted

    def _lost(self, live: Live, group: str, low: int, high: int) -> bool:
        """A page of the group in (low, high] was evicted."""
        block = next(g.block_tokens for g in self._geometry.groups if g.name == group)
        position = floor_to(low, block) + block
        while position <= high:
            key = self._finder.key(live, group, position)
            if key is not None and self._is_lost(key):
                return True
            position += block
        return False

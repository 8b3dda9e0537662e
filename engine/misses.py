"""Why a lookup hit less than it shares: one reason from the closed list of design §6.

Only who traces asks. It compares tokens with those of every request seen, so it costs time and
memory that serving does not pay."""

from dataclasses import dataclass

import numpy as np

from truehit.engine import fields as f
from truehit.engine.host import Host
from truehit.engine.memory import Int32
from truehit.spec.trace import Miss

Key = tuple[int, ...]
Reason = tuple[str | None, str | None]
NO_REASON: Reason = (None, None)


@dataclass(slots=True)
class Seen:
    """A request that was submitted: all tokens it will ever have, and the most of them that were
    known complete in any residency."""

    number: int
    salt: str
    tokens: Int32
    reached: int = 0


def _shared(one: Seen, other: Seen) -> int:
    """How many leading tokens two requests have in common."""
    if one.salt != other.salt:
        return 0
    width = min(len(one.tokens), len(other.tokens))
    differ = one.tokens[:width] != other.tokens[:width]
    return int(np.argmax(differ)) if differ.any() else width


class Misses:
    """Remembers keys that went (`lost`), states that were not kept (`masked`), and all tokens."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self.seen: list[Seen] = []
        self.lost: set[Key] = set()
        self.masked: set[Key] = set()

    def _key(self, slot: int, group: int, tokens: int) -> Key | None:
        core = self._host.core
        unit, rest = divmod(tokens, self._host.geometry.hash_unit_tokens)
        if rest or unit > core.request[slot, f.R_HASHED_UNITS]:
            return None
        return (group, *core.key[core.request[slot, f.R_KEYS] + unit - 1].tolist())

    def published(self, number: int, group: int, positions: list[int]) -> None:
        """These keys are there again."""
        slot = self._host.slots[number]
        for position in positions:
            key = self._key(slot, group, position)
            if key is not None:
                self.lost.discard(key)

    def progressed(self, number: int, processed: int) -> None:
        """So many tokens of a request are known complete."""
        self.seen[number].reached = max(self.seen[number].reached, processed)

    def _is_running(self, number: int) -> bool:
        slot = self._host.slots.get(number)
        return slot is not None and self._host.core.request[slot, f.R_STATUS] == f.RUNNING

    def _shares(self, slot: int) -> tuple[int, int]:
        """The longest prefix shared with tokens known complete, and with those of a running
        request, computed or not."""
        row = self._host.core.request[slot]
        me, known = self.seen[int(row[f.R_ORDER])], int(row[f.R_KNOWN])
        computed, pending = min(me.reached, known), 0
        for other in self.seen:
            if other is me:
                continue
            shared = min(_shared(me, other), known)
            computed = max(computed, min(shared, other.reached))
            if self._is_running(other.number):
                pending = max(pending, shared)
        return computed, pending

    def explain(self, slot: int) -> Reason:
        """The one reason for the last lookup, and the group that vetoes."""
        found = self._host.core.found
        hit, cap, offer = (int(found[at]) for at in (f.M_HIT, f.M_CAP, f.M_OFFER))
        shared, pending = self._shares(slot)
        if offer > hit and self._host.geometry.state_groups:
            return self._why_no_state(slot, hit, offer), None
        findable = self._findable(shared, cap)
        if hit < findable:
            return self._why_attention(slot, hit, cap, findable)
        longest = max(shared, pending)
        if hit < self._findable(pending, cap):
            return Miss.UNCOMMITTED, None
        if hit == 0 and longest == 0:
            return Miss.NOT_SHARED, None
        if hit < longest and longest > cap:
            return Miss.CAPPED, None
        return (Miss.BELOW_FLOOR, None) if hit == 0 else NO_REASON

    def _findable(self, shared: int, cap: int) -> int:
        geometry = self._host.geometry
        hashed = max(shared - geometry.lookahead_tokens, 0)
        alignment = geometry.alignment_tokens
        return min(hashed, cap) // alignment * alignment

    def _why_no_state(self, slot: int, hit: int, offer: int) -> str:
        core, was_masked = self._host.core, False
        for position in range(offer, hit, -self._host.geometry.alignment_tokens):
            for group in np.flatnonzero(core.group[:, f.G_KIND] == f.STATE):
                key = self._key(slot, int(group), position)
                if key in self.lost:
                    return Miss.EVICTED
                was_masked = was_masked or key in self.masked
        return Miss.MASKED if was_masked else Miss.NO_STATE

    def _why_attention(self, slot: int, hit: int, cap: int, findable: int) -> Reason:
        core, geometry = self._host.core, self._host.geometry
        kinds, seek = core.group[:, f.G_KIND], core.seek
        groups = [int(g) for g in np.flatnonzero((kinds == f.FULL) | (kinds == f.WINDOW))]
        if any(self._is_lost(slot, g, hit, findable) for g in groups):
            return Miss.EVICTED, None
        alignment = geometry.alignment_tokens
        for g in groups:
            undropped = min(int(seek[g, f.A_MATCHED]), cap) // alignment * alignment
            if core.group[g, f.G_DROP] and seek[g, f.A_REACH] <= hit < undropped:
                return Miss.DROPPED, None
        if not groups:
            return Miss.BELOW_FLOOR, None
        reach = {g: int(seek[g, f.A_REACH]) for g in groups}
        lowest = min(groups, key=lambda g: (reach[g], kinds[g] == f.FULL))
        if reach[lowest] < max(reach.values()) or hit < reach[lowest]:
            return Miss.VETOED_BY, geometry.groups[lowest].name
        return Miss.BELOW_FLOOR, None

    def _is_lost(self, slot: int, group: int, low: int, high: int) -> bool:
        """A page that a resume in (low, high] needs was evicted or reset."""
        geometry, core = self._host.geometry, self._host.core
        unit = geometry.lookup_unit_tokens(geometry.groups[group])
        first = int(core.seek[group, f.A_MATCHED])
        if core.group[group, f.G_KIND] == f.WINDOW:
            first = max(low - int(core.group[group, f.G_WINDOW]), 0)
        positions = range(first // unit * unit + unit, high + 1, unit)
        return any(self._key(slot, group, position) in self.lost for position in positions)

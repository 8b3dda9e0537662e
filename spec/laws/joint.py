"""joint: the hit is the largest position <= offer at which every participating group can resume.

What a group can resume at is asked of the ledger's own keys. Full attention: every position up to
its match less the drop, the match being its leading run of full pages within the limit, then (fine
hits) the longest partial key inside the next page. A window: positions whose last window - 1
entries have their pages. A state group: positions that have a key. The fix-point walks down from
the cap on the alignment.

*verified*: the local hit of every lookup, exactly; it is not above the cap.

*not verified*: what a group reports of itself (its match, drop and reach are recorded, not law);
external tokens; whether the keys are true (provenance) or visible too early (commit); a full page
key beyond the limit is not cut down to a position inside it, as no released lookup does.
"""

from collections.abc import Mapping
from typing import ClassVar

from truehit.spec.formulas import match_query
from truehit.spec.laws.base import Handler, Law, Report, Subscription, ViolationClass
from truehit.spec.laws.pages import LeadingPages
from truehit.spec.ledger import Ledger
from truehit.spec.ledger_records import GroupBook
from truehit.spec.tokens import TokenPath
from truehit.spec.trace import End, Lookup, Plane
from truehit.spec.units import floor_to


class Joint(Law):
    name: ClassVar[str] = "joint"
    sentence: ClassVar[str] = (
        "the joint hit is the largest position not above the offer at which every participating "
        "group can resume: an intersection, not a minimum of maxima; no group raises it"
    )
    planes: ClassVar[frozenset[Plane]] = frozenset({Plane.LOOKUP, Plane.KEYS})

    def __init__(self, ledger: Ledger, report: Report) -> None:
        super().__init__(ledger, report)
        self._full = [g for g in ledger.by_index if g.is_full]
        self._windows = [g for g in ledger.by_index if g.is_window]
        self._states = [g for g in ledger.by_index if g.is_state]
        self._pages = LeadingPages(ledger)

    def handlers(self) -> Mapping[Subscription, Handler]:
        return {Lookup: self.on_lookup, End: self.on_end}

    def on_end(self, event: End) -> None:
        self._pages.forget(event.request)

    def on_lookup(self, event: Lookup) -> None:
        if event.local_tokens > event.cap_tokens:
            self._say(event, f"hits {event.local_tokens}, above its cap {event.cap_tokens}")
            return
        expected = self.largest(event.request, event.cap_tokens)
        if event.local_tokens > expected:
            why = f"hits {event.local_tokens}, but all groups together can resume at {expected}"
            self._say(event, why)
        elif event.local_tokens < expected:
            why = f"hits {event.local_tokens}, but every group can resume at {expected}"
            self._say(event, why, ViolationClass.WASTE)

    def largest(self, name: str, cap: int) -> int:
        """The largest position <= cap on the alignment at which every group can resume."""
        path = self.ledger.requests[name].path
        alignment = self.ledger.geometry.alignment_tokens
        candidate = floor_to(cap, alignment)
        for group in self._full:
            match = self._match(name, group, path, cap)
            drop = self.ledger.geometry.drop_tokens(group.group)
            candidate = min(candidate, floor_to(max(match - drop, 0), alignment))
        while candidate > 0:
            before = candidate
            for group in self._states:
                candidate = self.ledger.keys.largest_state(
                    group.index, path, candidate, cap + 1, alignment
                )
            for group in self._windows:
                candidate = self._largest_window(group, path, candidate, cap)
            if candidate == before:
                break
        return candidate

    def _limit(self, group: GroupBook, cap: int) -> int:
        """How far the group's keys may reach: within the cap and its margin, and what can be
        hashed."""
        query = match_query(self.ledger.geometry, group.group, cap + 1, cap)
        if query.lookahead:
            return max(0, min(query.shared - query.lookahead, query.limit))
        return min(query.shared, query.limit + query.drop) if query.margin else query.limit

    def _match(self, name: str, group: GroupBook, path: TokenPath, cap: int) -> int:
        """Tokens that full attention matches: a leading run of pages, then a partial key."""
        keys, size, index = self.ledger.keys, group.block_tokens, group.index
        limit = self._limit(group, cap)
        pages = self._pages.count(name, group, path, limit)
        if self.ledger.geometry.fine_hits:
            unit = self.ledger.geometry.hash_unit_tokens
            position = floor_to(min(limit, (pages + 1) * size - 1), unit)
            while position > pages * size:
                if keys.finds(index, path, position):
                    return position
                position -= unit
        return pages * size

    def _largest_window(self, group: GroupBook, path: TokenPath, candidate: int, cap: int) -> int:
        """The largest aligned position <= candidate whose window of pages is found."""
        keys, size, index = self.ledger.keys, group.block_tokens, group.index
        geometry = self.ledger.geometry
        alignment, drop = geometry.alignment_tokens, geometry.drop_tokens(group.group)
        limit = self._limit(group, cap)
        seen = (group.group.window_tokens or 1) - 1
        position = min(candidate, floor_to(max(limit - drop, 0), alignment))
        while position > 0:
            end = position + drop
            column = (end + size - 1) // size - 1
            first = max(0, position - seen) // size
            while column >= first and keys.finds(index, path, (column + 1) * size):
                column -= 1
            if column < first:
                return position
            position = floor_to(min(column * size, position - 1), alignment)
        return 0

    def _say(
        self, event: Lookup, why: str, violation_class: ViolationClass = ViolationClass.CORRUPT
    ) -> None:
        sentence = f"request {event.request}: {why} (step {event.step})"
        self.say(violation_class, event.step, event.request, sentence)

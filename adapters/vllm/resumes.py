"""Where each group could resume a request, read off the keys that a ledger holds.

A released scheduler says what it hits, not what each of its groups matched. The keys are in its
trace, so both can be found again: what a group matches, what it gives back of that, and what all
attention groups offer together.
"""

from truehit.spec.formulas import match_query
from truehit.spec.ledger import Ledger
from truehit.spec.ledger_pages import first_entry_read
from truehit.spec.ledger_records import GroupBook
from truehit.spec.tokens import TokenPath
from truehit.spec.trace import GroupReach
from truehit.spec.units import ceil_div, floor_to


class Resumes:
    """Asks the keys of one ledger, which goes on changing. `cap` is that of a lookup."""

    __slots__ = ("_alignment", "_geometry", "_keys", "attention", "groups", "states")

    def __init__(self, ledger: Ledger) -> None:
        self._geometry = ledger.geometry
        self._alignment = ledger.geometry.alignment_tokens
        self._keys = ledger.keys
        self.groups = tuple(g for g in ledger.by_index if g.is_paged or g.is_state)
        self.attention = tuple(g for g in self.groups if g.is_paged)
        self.states = tuple(g for g in self.groups if g.is_state)

    def reaches(self, path: TokenPath, cap: int) -> tuple[GroupReach, ...]:
        """What every group matches and could resume at if it were alone."""
        return tuple(self._reach(group, path, cap) for group in self.groups)

    def offer(self, path: TokenPath, cap: int) -> int:
        """The largest position at which all attention groups can resume."""
        position = floor_to(cap, self._alignment)
        while position > 0:
            before = position
            for group in self.attention:
                position = min(position, self._resume(group, path, position, cap))
            if position == before:
                break
        return position

    def _reach(self, group: GroupBook, path: TokenPath, cap: int) -> GroupReach:
        if group.is_state:
            alone = self._keys.largest_state(group.index, path, cap, cap + 1, self._alignment)
            return GroupReach(group.name, alone, 0, alone)
        match = self._match(group, path, cap)
        drop = self._geometry.drop_tokens(group.group)
        return GroupReach(group.name, match, drop, self._resume(group, path, cap, cap))

    def _resume(self, group: GroupBook, path: TokenPath, candidate: int, cap: int) -> int:
        """The largest aligned position <= candidate at which an attention group can resume."""
        drop = self._geometry.drop_tokens(group.group)
        left = max(self._match(group, path, cap) - drop, 0)
        position = floor_to(min(left, candidate), self._alignment)
        while group.is_window and position > 0 and not self._is_seen(group, path, position, drop):
            position -= self._alignment
        return position

    def _limit(self, group: GroupBook, cap: int) -> int:
        """How far the keys of a match may reach."""
        query = match_query(self._geometry, group.group, cap + 1, cap)
        if query.lookahead:
            return max(0, min(query.shared - query.lookahead, query.limit))
        return min(query.shared, query.limit + query.drop) if query.margin else query.limit

    def _match(self, group: GroupBook, path: TokenPath, cap: int) -> int:
        """Full attention: a run of pages from the start, then a partial key; a window: its last
        page."""
        size, limit = group.block_tokens, self._limit(group, cap)
        ends = range(size, limit + 1, size)
        if group.is_window:
            return next((end for end in reversed(ends) if self._finds(group, path, end)), 0)
        matched = 0
        for end in ends:
            if not self._finds(group, path, end):
                break
            matched = end
        if not self._geometry.fine_hits:
            return matched
        unit = self._geometry.hash_unit_tokens
        furthest = floor_to(min(limit, matched + size - 1), unit)
        partial = range(furthest, matched, -unit)
        return next((end for end in partial if self._finds(group, path, end)), matched)

    def _is_seen(self, group: GroupBook, path: TokenPath, position: int, drop: int) -> bool:
        """Every page that the next token looks at is there, and those that are given back."""
        size = group.block_tokens
        first = first_entry_read(group, position) // size
        last = ceil_div(position + drop, size)
        return all(self._finds(group, path, (page + 1) * size) for page in range(first, last))

    def _finds(self, group: GroupBook, path: TokenPath, tokens: int) -> bool:
        return self._keys.finds(group.index, path, tokens)

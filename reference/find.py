"""The lookup: the largest position at which every participating group can resume, and why not more.

An intersection, not a minimum of maxima: the candidate only goes down, group by group, until none
lowers it."""

from dataclasses import dataclass

from truehit.reference import decide
from truehit.reference.live import Live
from truehit.reference.pool import Key, Pool
from truehit.reference.rules.lookup import ResumeQuery, lookup_cap, match_limit
from truehit.reference.ruleset import Candidate, RuleSet
from truehit.spec.geometry import BlockDrop, DropCap, Geometry, Group, Kind
from truehit.spec.trace import GroupReach
from truehit.spec.units import floor_to


@dataclass(frozen=True, slots=True)
class Match:
    """What one attention group found: `tokens` from the start, and the block of each column (0:
    none)."""

    group: Group
    tokens: int
    blocks: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """The answer of a lookup. `offer`: what attention offered; `states`: block per state group at
    `hit`."""

    cap: int
    hit: int
    offer: int
    junction: int
    matches: tuple[Match, ...]
    states: tuple[tuple[str, int], ...]
    reaches: tuple[GroupReach, ...]


class Finder:
    """Lookups of one engine: reads the pool, changes nothing."""

    __slots__ = ("_geometry", "_lookahead", "_pool", "_rules")

    def __init__(self, geometry: Geometry, rules: RuleSet, pool: Pool) -> None:
        self._geometry = geometry
        self._rules = rules
        self._pool = pool
        self._lookahead = geometry.lookahead_tokens

    def key(self, live: Live, group: str, tokens: int) -> Key | None:
        """The key of the request's prefix, or None while its lookahead tokens are not known."""
        if tokens + self._lookahead > live.known:
            return None
        return Key(group, tokens, live.path.prefix(tokens + self._lookahead))

    def _block(self, live: Live, group: str, tokens: int) -> int | None:
        key = self.key(live, group, tokens)
        return None if key is None else self._pool.find(key)

    def find(self, live: Live) -> Found:
        """Look the request's known tokens up."""
        geometry = self._geometry
        cap = lookup_cap(live.known)
        matches = tuple(self._match(live, group, cap) for group in geometry.attention_groups)
        offer = self._attend(live, matches, cap, None)
        hit = self._joint(live, matches, cap, offer)
        states = []
        for group in geometry.state_groups:
            block = self._block(live, group.name, hit) if hit else None
            if block is not None:
                states.append((group.name, block))
        junction = offer if geometry.state_groups and offer > hit else 0
        reaches = self._reaches(live, matches, cap)
        return Found(cap, hit, offer, junction, matches, tuple(states), reaches)

    def _match(self, live: Live, group: Group, cap: int) -> Match:
        geometry, drop = self._geometry, self._geometry.drop
        margin = isinstance(drop, BlockDrop) and drop.cap is DropCap.MARGIN
        hashed = live.known - self._lookahead
        limit = match_limit(cap, geometry.drop_tokens(group), margin, max(hashed, 0))
        if group.kind is Kind.SLIDING_WINDOW:
            return self._match_window(live, group, limit)
        blocks: list[int] = []
        while (len(blocks) + 1) * group.block_tokens <= limit:
            block = self._block(live, group.name, (len(blocks) + 1) * group.block_tokens)
            if block is None:
                break
            blocks.append(block)
        matched = len(blocks) * group.block_tokens
        if geometry.fine_hits:
            unit = geometry.hash_unit_tokens
            tokens = floor_to(min(limit, matched + group.block_tokens - 1), unit)
            while tokens > matched:
                block = self._block(live, group.name, tokens)
                if block is not None:
                    return Match(group, tokens, (*blocks, block))
                tokens -= unit
        return Match(group, matched, tuple(blocks))

    def _match_window(self, live: Live, group: Group, limit: int) -> Match:
        columns = limit // group.block_tokens
        blocks = tuple(
            self._block(live, group.name, (column + 1) * group.block_tokens) or 0
            for column in range(columns)
        )
        present = [column for column, block in enumerate(blocks) if block]
        matched = (present[-1] + 1) * group.block_tokens if present else 0
        return Match(group, matched, blocks)

    def _window_accepts(self, match: Match, position: int) -> bool:
        """Every page the next token needs is there, and the dropped ones beyond."""
        group = match.group
        drop = self._geometry.drop_tokens(group)
        first = max(0, position - (group.window_tokens or 1) + 1) // group.block_tokens
        last = (position + drop + group.block_tokens - 1) // group.block_tokens
        return last <= len(match.blocks) and all(match.blocks[first:last])

    def _accept(self, match: Match, cap: int, candidate: int | None) -> int:
        """The largest position the attention group can resume at."""
        geometry = self._geometry
        query = ResumeQuery(
            match.tokens, cap, geometry.drop_tokens(match.group), geometry.alignment_tokens
        )
        position = decide.resume_limit(self._rules, query, candidate)
        if match.group.kind is Kind.SLIDING_WINDOW:
            while position > 0 and not self._window_accepts(match, position):
                position -= geometry.alignment_tokens
        return max(position, 0)

    def _attend(
        self, live: Live, matches: tuple[Match, ...], cap: int, candidate: int | None
    ) -> int:
        """The largest position all attention groups can resume at."""
        hashed = max(live.known - self._lookahead, 0)
        position = floor_to(min(cap, hashed), self._geometry.alignment_tokens)
        if candidate is not None:
            position = min(position, candidate)
        changed = True
        while changed:
            before = position
            for match in matches:
                position = min(position, self._accept(match, cap, candidate))
                candidate = position
            changed = position < before and len(matches) > 1
        return position

    def _state(self, live: Live, groups: tuple[Group, ...], limit: int) -> int:
        """The largest position at which each of these state groups has a key."""
        alignment = self._geometry.alignment_tokens
        position = floor_to(limit, alignment)
        while position > 0:
            if all(self._block(live, group.name, position) is not None for group in groups):
                return position
            position -= alignment
        return 0

    def _joint(self, live: Live, matches: tuple[Match, ...], cap: int, offer: int) -> int:
        if not self._geometry.state_groups:
            return offer
        position = offer
        while True:
            searched = decide.state_candidate(self._rules, self._geometry, position)
            found = self._state(live, self._geometry.state_groups, min(searched, cap))
            if found == position or self._rules.candidate is Candidate.RAISED:
                return found
            lowered = self._attend(live, matches, cap, found)
            if lowered == found:
                return found
            position = lowered

    def _reaches(self, live: Live, matches: tuple[Match, ...], cap: int) -> tuple[GroupReach, ...]:
        geometry = self._geometry
        reaches = [
            GroupReach(
                m.group.name,
                m.tokens,
                geometry.drop_tokens(m.group),
                self._accept(m, cap, None),
            )
            for m in matches
        ]
        for group in geometry.state_groups:
            alone = self._state(live, (group,), cap)
            reaches.append(GroupReach(group.name, alone, 0, alone))
        return tuple(reaches)

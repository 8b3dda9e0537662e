"""One reason for every miss of a real scheduler, which gives none: derived from its trace alone.

The trace is walked with a ledger. At each lookup, what the request shares with others is compared
with what the keys of each group would have allowed, and the first of these that explains the hit is
its reason:

* *uncommitted*: what more could be hit is of the same step, or not computed yet;
* *evicted*, *masked*, *no_state*: attention offered more than the state groups had: a key of theirs
  went, or a state was computed and got no key, or there was none;
* *evicted*, *dropped*, *vetoed_by*, *below_floor*: attention itself offered less than is shared;
* *not_shared*, *capped*, *below_floor*: there was no more to be hit.

Where the engine told a junction, that is its own offer. Otherwise the offer follows from the keys
by the formulas of the geometry; a scheduler that hits less than those keys allow has given back
more than it had to (*dropped*), or let one group overrule the others (*vetoed_by*).
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from truehit.adapters.vllm.remembered import Remembered
from truehit.adapters.vllm.resumes import Resumes
from truehit.spec.geometry import Geometry
from truehit.spec.geometry_file import geometry_from_json
from truehit.spec.laws.base import Report
from truehit.spec.laws.joint import Joint
from truehit.spec.laws.judge import Judge
from truehit.spec.ledger import Ledger, LedgerError
from truehit.spec.ledger_records import GroupBook
from truehit.spec.tokens import TokenPath
from truehit.spec.trace import End, Event, GroupReach, Header, Lookup, Miss
from truehit.spec.units import ceil_div, floor_to

Reason = tuple[Miss | None, str | None]
"""The reason, and the group that vetoed. None: everything that could be hit was."""


def explained(trace: Iterable[Event]) -> tuple[Event, ...]:
    """The same trace; its lookups have their reaches and one reason each. What comes after an event
    that contradicts those before it stays as it was."""
    events = iter(trace)
    header = next(events)
    assert isinstance(header, Header)
    geometry = geometry_from_json(header.geometry)
    # No law is asked here: a judge without planes only keeps the ledger.
    judge = Judge(geometry, replace(header, planes=()))
    return (header, *_explained(events, judge, Reasons(geometry, judge.ledger)))


def _explained(events: Iterator[Event], judge: Judge, reasons: "Reasons") -> Iterator[Event]:
    for event in events:
        yield reasons.of(event) if isinstance(event, Lookup) else event
        try:
            judge.feed(event)
        except LedgerError:
            yield from events
            return
        reasons.note(event)


class Reasons:
    """Asked at each lookup, before the ledger books it; told of each event, after."""

    def __init__(self, geometry: Geometry, ledger: Ledger) -> None:
        self._geometry = geometry
        self._ledger = ledger
        self._remembered = Remembered(ledger)
        self._resumes = Resumes(ledger)
        self._joint = Joint(ledger, Report())

    def note(self, event: Event) -> None:
        """The ledger has booked the event."""
        self._remembered.note(event)
        if isinstance(event, End):
            self._joint.on_end(event)

    def of(self, event: Lookup) -> Lookup:
        """The lookup with what its groups could reach, and why it hit no more."""
        if event.request not in self._remembered.seen:
            return event
        path = self._remembered.seen[event.request].path
        reaches = event.reaches or self._resumes.reaches(path, event.cap_tokens)
        reason, group = self._reason(event, path, reaches)
        return replace(event, reaches=reaches, reason=reason, vetoed_by=group)

    def _reason(self, event: Lookup, path: TokenPath, reaches: tuple[GroupReach, ...]) -> Reason:
        hit, cap = event.local_tokens, event.cap_tokens
        shared, pending = self._remembered.shared(event.request, cap + 1)
        if event.junction_tokens is not None:
            offer = floor_to(event.junction_tokens, self._geometry.alignment_tokens)
            promised = hit
        else:
            offer = self._resumes.offer(path, cap)
            promised = self._joint.largest(event.request, cap)
        findable = self._findable(shared, cap)
        goal = max(offer, promised)
        if hit < goal and self._is_new(event.step, path, goal, hit < promised, reaches):
            return Miss.UNCOMMITTED, None
        if hit < promised:
            return self._lowered(reaches)
        if hit < offer and self._resumes.states:
            return self._state_reason(path, hit, offer), None
        if hit < findable:
            return self._attention_reason(path, hit, findable, cap, reaches)
        return self._end_reason(hit, cap, shared, pending)

    def _end_reason(self, hit: int, cap: int, shared: int, pending: int) -> Reason:
        """Nothing that was complete stood in the way."""
        longest = max(shared, pending)
        if hit < self._findable(pending, cap):
            return Miss.UNCOMMITTED, None
        if hit == 0 and longest == 0:
            return Miss.NOT_SHARED, None
        if hit < longest and longest > cap:
            return Miss.CAPPED, None
        return (Miss.BELOW_FLOOR if hit == 0 else None), None

    def _findable(self, shared: int, cap: int) -> int:
        """What a lookup could hit of so many shared tokens."""
        hashed = max(shared - self._geometry.lookahead_tokens, 0)
        return floor_to(min(hashed, cap), self._geometry.alignment_tokens)

    def _is_new(
        self,
        step: int,
        path: TokenPath,
        goal: int,
        has_state: bool,
        reaches: tuple[GroupReach, ...],
    ) -> bool:
        """A key that a hit of `goal` tokens rests on is of this step."""
        keys = self._ledger.keys
        ends: list[tuple[GroupBook, int]] = []
        for group, reach in self._of_attention(reaches):
            pages = ceil_div(goal + reach.drop_tokens, group.block_tokens)
            ends.append((group, min(reach.match_tokens, pages * group.block_tokens)))
        if has_state:
            ends.extend((group, goal) for group in self._resumes.states)
        found = (keys.by_key.get(keys.key(group.index, path, end)) for group, end in ends)
        return any(entry is not None and entry.step == step for entry in found)

    def _lowered(self, reaches: tuple[GroupReach, ...]) -> Reason:
        """Every group has what a higher position needs."""
        if any(reach.drop_tokens for reach in reaches):
            return Miss.DROPPED, None
        return Miss.VETOED_BY, min(reaches, key=lambda reach: reach.reach_tokens).group

    def _state_reason(self, path: TokenPath, hit: int, offer: int) -> Miss:
        """Attention offered more than the state groups have."""
        keys = [
            self._ledger.keys.key(group.index, path, position)
            for position in range(offer, hit, -self._geometry.alignment_tokens)
            for group in self._resumes.states
        ]
        if any(key in self._remembered.lost for key in keys):
            return Miss.EVICTED
        unkept = self._remembered.made.intersection(keys) - self._ledger.keys.by_key.keys()
        return Miss.MASKED if unkept else Miss.NO_STATE

    def _attention_reason(
        self, path: TokenPath, hit: int, findable: int, cap: int, reaches: tuple[GroupReach, ...]
    ) -> Reason:
        """Attention offered less than is shared and could be found."""
        pairs = self._of_attention(reaches)
        if any(self._is_lost(group, path, reach, hit, findable) for group, reach in pairs):
            return Miss.EVICTED, None
        alignment = self._geometry.alignment_tokens
        if any(_drops_below(reach, hit, cap, alignment) for _, reach in pairs):
            return Miss.DROPPED, None
        if not pairs:
            return Miss.BELOW_FLOOR, None
        # Windows with holes may all reach further than they do together.
        lowest, reach = min(pairs, key=lambda pair: (pair[1].reach_tokens, pair[0].is_full))
        furthest = max(reach.reach_tokens for _, reach in pairs)
        if reach.reach_tokens < furthest or hit < reach.reach_tokens:
            return Miss.VETOED_BY, lowest.name
        return Miss.BELOW_FLOOR, None

    def _is_lost(
        self, group: GroupBook, path: TokenPath, reach: GroupReach, low: int, high: int
    ) -> bool:
        """A page that a resume in (low, high] needs has lost its key."""
        unit = self._geometry.lookup_unit_tokens(group.group)
        window = group.group.window_tokens
        first = reach.match_tokens if window is None else max(low - window, 0)
        ends = range(floor_to(first, unit) + unit, high + 1, unit)
        return any(
            self._ledger.keys.key(group.index, path, end) in self._remembered.lost for end in ends
        )

    def _of_attention(self, reaches: tuple[GroupReach, ...]) -> list[tuple[GroupBook, GroupReach]]:
        by_name = {reach.group: reach for reach in reaches}
        return [(group, by_name[group.name]) for group in self._resumes.attention]


def _drops_below(reach: GroupReach, hit: int, cap: int, alignment: int) -> bool:
    """The group itself is what limits the hit, and it would not without its drop."""
    if reach.drop_tokens == 0 or reach.reach_tokens > hit:
        return False
    return floor_to(min(reach.match_tokens, cap), alignment) > hit

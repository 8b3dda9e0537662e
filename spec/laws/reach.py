"""reach: kept positions are findable, are published as due, and are hit by who shares them.

Kept positions: legal(P), extend(P), junctions, multiples of the retention period (`kept.py`). One
falls due when a prefill chunk is known complete that ends at least its drop and lookahead beyond
it.

*verified*: at every lookup, the local hit is not below the deepest due position that attention can
offer for the prefix shared with committed prefills of the same salt, unless a needed key was
evicted, taken back or reset since; send 2 and extensions are special cases. When a kept position
falls due, its key is findable in every state group (or was, and was evicted), unless its request
was aborted, preempted or failed. State keys are published only where a lookup can land: on the
alignment.

*not verified*: positions beyond the prompt (what decode keeps); prefixes of more nodes than the
memory holds (max(1024, 4 * pool blocks) segments, the oldest are forgotten); everything before a
reset, and requests that were alive at it; whether a prefix was shared with a request whose prefill
never completed beyond what its complete chunks computed; hits lost to external tokens.
"""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from truehit.spec.formulas import offer
from truehit.spec.laws.base import Handler, Law, Report, Subscription, ViolationClass
from truehit.spec.laws.kept import Kept
from truehit.spec.laws.pages import LeadingPages
from truehit.spec.laws.reach_memory import ReachMemory
from truehit.spec.ledger import Ledger
from truehit.spec.ledger_pages import first_entry_read
from truehit.spec.ledger_records import Key, RequestBook
from truehit.spec.trace import (
    Complete,
    End,
    EndWhy,
    Lookup,
    Plane,
    Publish,
    Reset,
    Schedule,
    Submit,
    Unpublish,
    UnpublishWhy,
)


@dataclass(frozen=True, slots=True)
class Passed:
    """A prefill chunk whose step is not yet known complete."""

    step: int
    request: RequestBook
    residency: int
    start: int
    end: int


class Reach(Law):
    name: ClassVar[str] = "reach"
    sentence: ClassVar[str] = (
        "kept positions are findable positions; an unchanged prompt hits legal(P) on send 2 and a "
        "longer one extend(P), unless a needed key was evicted or taken back; a sibling hits the "
        "deepest kept position its match offers"
    )
    planes: ClassVar[frozenset[Plane]] = frozenset({Plane.LOOKUP, Plane.SCHEDULE, Plane.KEYS})

    def __init__(self, ledger: Ledger, report: Report) -> None:
        super().__init__(ledger, report)
        geometry = ledger.geometry
        self._kept = Kept(geometry)
        self._pages = LeadingPages(ledger)
        self._states = [g for g in ledger.by_index if g.is_state]
        self._attention = [g for g in ledger.by_index if g.is_paged]
        drops = (geometry.drop_tokens(g) for g in geometry.attention_groups)
        self._margin = max(drops, default=0) + geometry.lookahead_tokens
        self._memory = ReachMemory(geometry.pool_blocks, self._margin)
        self._passed: deque[Passed] = deque()
        self._due_upto: dict[int, int] = {}
        """Residency -> tokens up to which its kept positions were considered."""
        self._ended: dict[int, bool] = {}
        """Residencies that ended with chunks perhaps not yet known complete -> whether they ended
        well."""
        self._barred_residency = 0

    def handlers(self) -> Mapping[Subscription, Handler]:
        return {
            Submit: self.on_submit,
            Lookup: self.on_lookup,
            Schedule: self.on_schedule,
            Publish: self.on_publish,
            Unpublish: self.on_unpublish,
            Reset: self.on_reset,
            End: self.on_end,
            Complete: self.on_complete,
        }

    def on_submit(self, event: Submit) -> None:
        self._memory.open(self.ledger.requests[event.request].path)

    def on_schedule(self, event: Schedule) -> None:
        if event.start < event.prefill_end and event.start < event.end:
            request = self.ledger.requests[event.request]
            chunk = Passed(event.step, request, request.residency, event.start, event.end)
            self._passed.append(chunk)

    def on_publish(self, event: Publish) -> None:
        ledger, memory = self.ledger, self._memory
        if memory.has_lost:
            for entry in ledger.published:
                memory.regain(entry.key)
        if not ledger.groups[event.group].is_state:
            return
        alignment = ledger.geometry.alignment_tokens
        for tokens, _ in event.keys:
            if tokens % alignment:
                self._say(
                    event.step,
                    event.request,
                    f"publishes the state at {tokens} tokens, where no lookup can land: hits are "
                    f"multiples of {alignment}",
                    tokens,
                )

    def on_unpublish(self, event: Unpublish) -> None:
        if event.why != UnpublishWhy.PROMOTED:
            for entry in self.ledger.removed:
                if entry.key not in self.ledger.keys.by_key:
                    self._memory.lose(entry)

    def on_reset(self, event: Reset) -> None:
        self._memory.clear()
        self._barred_residency = self.ledger.latest_residency

    def on_end(self, event: End) -> None:
        self._pages.forget(event.request)
        chunk = self.ledger.requests[event.request].chunk
        if chunk is not None:
            self._ended[chunk.residency] = event.why == EndWhy.FINISH

    def on_complete(self, event: Complete) -> None:
        if event.of is None:
            return
        passed = self._passed
        while passed and passed[0].step <= event.of:
            chunk = passed.popleft()
            well = self._ended.get(chunk.residency, True)
            failed = chunk.step == event.of and chunk.request.name in event.failed
            if well and not failed and chunk.residency > self._barred_residency:
                self._commit(event.step, chunk)
        if self._ended:
            pending = {chunk.residency for chunk in passed}
            for residency in [r for r in self._ended if r not in pending]:
                del self._ended[residency]
                self._due_upto.pop(residency, None)

    def on_lookup(self, event: Lookup) -> None:
        ledger, geometry = self.ledger, self.ledger.geometry
        path = ledger.requests[event.request].path
        known = min(event.cap_tokens + 1, path.tokens)
        shared = self._memory.shared_tokens(path, known)
        if shared <= event.local_tokens:
            return
        offered = offer(geometry, shared, event.cap_tokens)
        if offered <= event.local_tokens:
            return
        due = self._memory.due_upto(path, offered, known)
        due = [position for position in due if position > event.local_tokens]
        if not due:
            return
        left = self._offered_by_pages(event.request, shared)
        for position in due:
            if position <= left and not self._was_lost(event.request, position):
                self._say(
                    event.step,
                    event.request,
                    f"hits {event.local_tokens}, but shares {shared} tokens with a committed "
                    "prefill that "
                    f"kept {position}",
                    position,
                )
                return

    def _commit(self, step: int, chunk: Passed) -> None:
        """The chunk is known complete: what it computed is shared, what it kept is findable."""
        request = chunk.request
        end = min(chunk.end, request.prompt_tokens)
        self._memory.extend(request.path, end)
        considered = self._due_upto.get(chunk.residency, chunk.start)
        ready = end - self._margin
        for position in self._kept.between(request, considered, ready):
            self._memory.add_due(request.path, position)
            for group in self._states:
                key = self.ledger.keys.key(group.index, request.path, position)
                if key not in self.ledger.keys.by_key and not self._memory.is_lost(key):
                    self._say(
                        step,
                        request.name,
                        f"passed the kept position {position} in step {chunk.step} but group "
                        f"{group.name} has no key there",
                        position,
                    )
        self._due_upto[chunk.residency] = max(considered, ready)

    def _offered_by_pages(self, name: str, shared: int) -> int:
        """Positions above this are excused: a page they need was evicted or taken back."""
        ledger = self.ledger
        path = ledger.requests[name].path
        left = shared
        for group in self._attention:
            if not group.is_full:
                continue
            size = group.block_tokens
            limit = max(0, shared - ledger.geometry.lookahead_tokens)
            pages = self._pages.count(name, group, path, limit)
            if (pages + 1) * size > limit:
                continue
            missing = ledger.keys.key(group.index, path, (pages + 1) * size)
            if self._memory.is_lost(missing):
                drop = ledger.geometry.drop_tokens(group.group)
                left = min(left, max(0, pages * size - drop))
        return left

    def _was_lost(self, name: str, position: int) -> bool:
        """A key that a resume at the position needs is missing because it went."""
        ledger = self.ledger
        path = ledger.requests[name].path
        needed = [ledger.keys.key(group.index, path, position) for group in self._states]
        for group in self._attention:
            size = group.block_tokens
            end = position + ledger.geometry.drop_tokens(group.group)
            if end % size:
                needed.append(ledger.keys.key(group.index, path, end))
            if group.is_window:
                first = first_entry_read(group, position) // size
                pages = range(first, end // size)
                needed.extend(ledger.keys.key(group.index, path, (p + 1) * size) for p in pages)
        return any(self._is_gone(key) for key in needed)

    def _is_gone(self, key: Key) -> bool:
        return key not in self.ledger.keys.by_key and self._memory.is_lost(key)

    def _say(self, step: int, request: str, why: str, position: int) -> None:
        sentence = f"request {request}: {why} (step {step})"
        self.say(ViolationClass.WASTE, step, request, sentence, position_tokens=position)

"""One step of the oracle: schedule running, then waiting; run the device; learn what is complete.

First come first served or by priority. A running request that finds no block preempts the latest
(or least urgent) one. A waiting request that does not fit ends admission for this step. With
reservation, a request is admitted only if all of it fits beside what earlier requests may still
take, so nothing is ever preempted."""

from truehit.reference import decide
from truehit.reference.allocate import Allocator, Work
from truehit.reference.asserted import asserted_admission
from truehit.reference.device import Device
from truehit.reference.file import Filer
from truehit.reference.find import Finder, Found
from truehit.reference.live import Chunk, Live
from truehit.reference.offers import Offer, StepBudget
from truehit.reference.pool import Pool
from truehit.reference.reasons import Reasons
from truehit.reference.record import Recorder
from truehit.reference.rules.admit import AdmitQuery, fits_now
from truehit.reference.rules.visible import complete_step
from truehit.reference.ruleset import RuleSet, Visibility
from truehit.spec.geometry import Geometry
from truehit.spec.scenario import Policy
from truehit.spec.trace import (
    Complete,
    Cut,
    End,
    EndWhy,
    Hold,
    Lookup,
    Reset,
    Schedule,
    Table,
    TableOp,
)


class Engine:
    """The oracle. Mutable; one per scenario run."""

    def __init__(
        self,
        geometry: Geometry,
        rules: RuleSet,
        policy: Policy,
        encoder_budget_tokens: int | None,
    ) -> None:
        self.geometry = geometry
        self.rules = rules
        self.recorder = Recorder()
        self.pool = Pool(geometry.pool_blocks)
        self.finder = Finder(geometry, rules, self.pool)
        self.filer = Filer(geometry, self.pool, self.finder, self.recorder)
        self.allocator = Allocator(geometry, rules, self.pool, self.recorder)
        self.device = Device(geometry, self.recorder)
        self.reasons = Reasons(geometry, self.pool, self.filer, self.finder)
        self.running: list[Live] = []
        self.waiting: list[Live] = []
        self.in_flight: list[list[Chunk]] = []
        self._policy = policy
        self._encoder_budget = encoder_budget_tokens
        self._budget = StepBudget(geometry, 0, encoder_budget_tokens)
        self._preempting = False
        self._chunks: list[Chunk] = []

    # --- requests ---------------------------------------------------------------------------

    def submit(self, live: Live) -> None:
        """Queue a request, or refuse what can never fit with the number that would."""
        message = self._refusal(live)
        if message is not None:
            live.ended = EndWhy.REFUSED
            self.recorder.emit(End(self.recorder.step, live.name, EndWhy.REFUSED, message))
            return
        self.waiting.append(live)
        self._sort_waiting()

    def _refusal(self, live: Live) -> str | None:
        """Why the request can never be served, or None."""
        needed = self.geometry.request_blocks(live.request.total_tokens)
        have = self.pool.blocks - 1
        total, longest = live.request.total_tokens, self.geometry.max_model_tokens
        if total > longest:
            return f"is {total} tokens, max_model_tokens is {longest}; {total} would do"
        if needed > have:
            return f"needs {needed} blocks, the pool has {have}; a pool of {needed + 1} would do"
        largest = max((item.tokens for item in live.request.encoder_items), default=0)
        if self._encoder_budget is not None and largest > self._encoder_budget:
            return (
                f"an input of {largest} tokens exceeds the encoder budget of "
                f"{self._encoder_budget}; a budget of {largest} would do"
            )
        return None

    def _sort_waiting(self) -> None:
        """By priority and arrival, or by arrival: a preempted request returns to its own place."""
        by_priority = self._policy is Policy.PRIORITY
        self.waiting.sort(key=lambda live: live.rank if by_priority else (0, live.order))

    def end(self, live: Live, why: EndWhy) -> None:
        """Release everything; a preempted request goes back to its place in the queue."""
        self.recorder.emit(End(self.recorder.step, live.name, why))
        for states in live.states.values():
            self.pool.release([block for block in reversed(states.columns) if block])
        for pages in live.pages.values():
            self.pool.release([block for block in reversed(pages.columns) if block])
        self._chunks = [chunk for chunk in self._chunks if chunk.live is not live]
        self.allocator.copies[:] = [c for c in self.allocator.copies if c.live is not live]
        live.reset_tables()
        if live in self.running:
            self.running.remove(live)
        if live in self.waiting:
            self.waiting.remove(live)
        if why is EndWhy.PREEMPT:
            self.waiting.append(live)
            self._sort_waiting()
        else:
            live.ended = why

    def reset(self) -> None:
        """Drop all keys."""
        self.pool.drop_all_keys()
        self.recorder.emit(Reset(self.recorder.step))

    def in_flight_work(self) -> bool:
        """Some step that scheduled something is not yet known complete."""
        return any(self.in_flight)

    # --- one step ---------------------------------------------------------------------------

    def step(self, budget_tokens: int, failing: frozenset[str]) -> int:
        """Schedule, run and complete one step; returns the tokens scheduled."""
        self._budget = StepBudget(self.geometry, budget_tokens, self._encoder_budget)
        self._chunks = []
        self._preempting = False
        self.filer.fresh.clear()
        self._schedule_running()
        if not self._preempting:
            self._schedule_waiting()
        scheduled = sum(chunk.end - chunk.start for chunk in self._chunks)
        self._run_device(failing)
        self.in_flight.append(self._chunks)
        self._complete()
        self.recorder.next_step()
        return scheduled

    def _schedule_running(self) -> None:
        for live in list(self.running):
            if live not in self.running or self._awaits_end(live):
                continue
            if self._budget.tokens_left <= 0:
                break
            offer = self._budget.offer(live)
            if offer.tokens == 0:
                self._emit_nothing(live, offer, "nothing was left to offer")
                continue
            work = self._work(live, offer, None, 0)
            if work.end == work.start:
                self._emit_nothing(live, offer, "deferred by the splitter")
            elif self._make_room(live, work):
                self._book(live, work, offer)

    def _schedule_waiting(self) -> None:
        for live in list(self.waiting):
            if self._budget.tokens_left <= 0 or len(self.running) >= self.geometry.max_running:
                return
            found = self.finder.find(live)
            external = min(live.request.external_tokens, live.known - 1 - found.hit)
            external = external if live.residency == 0 else 0
            start = found.hit + max(external, 0)
            reason = self._emit_lookup(live, found, start)
            if self._deferred(found):
                return
            live.kept = decide.kept_positions(
                self.rules, self.geometry, live.prompt, found.junction
            )
            live.prefill_end, live.computed = live.known, start
            offer = self._budget.offer(live)
            if offer.tokens == 0:
                self._emit_nothing(live, offer, "nothing was left to offer")
                continue
            work = self._work(live, offer, found, start if external > 0 else 0)
            if work.end == work.start:
                self._emit_nothing(live, offer, "deferred by the splitter")
                return
            if not self._admits(live, work):
                self._emit_nothing(live, Offer(offer.tokens, 0, Cut.POOL), "does not fit yet")
                return
            self._admit(live, start, reason)
            self._book(live, work, offer)

    def _admit(self, live: Live, start: int, reason: str | None) -> None:
        self.waiting.remove(live)
        self.running.append(live)
        live.device_tokens = live.processed = start
        if live.hit is None:
            live.hit, live.reason = start, reason

    def _deferred(self, found: Found) -> bool:
        """The hit is on a state that was filed in this step and may not be read in it."""
        step = self.recorder.step
        readable = decide.first_lookup(self.rules, step, self.geometry.steps_in_flight)
        return readable > step and any(block in self.filer.fresh for _, block in found.states)

    def _awaits_end(self, live: Live) -> bool:
        """Steps in flight may already generate all that is left."""
        sampling = sum(1 for chunk in live.chunks if chunk.sampling)
        return live.generated + sampling >= live.request.output_tokens

    def _work(self, live: Live, offer: Offer, found: Found | None, loaded: int) -> Work:
        end, checkpoint = live.computed + offer.tokens, 0
        if self.geometry.state_groups:
            query = decide.split_query(self.rules, self.geometry, live, offer.tokens)
            end, checkpoint = decide.chunk(self.rules, query)
        return Work(live, live.computed, end, checkpoint, found, loaded)

    def _make_room(self, live: Live, work: Work) -> bool:
        """Preempt until the work fits; False if the request itself had to go."""
        while self.allocator.need(work) > self.pool.free_count:
            victim = self.running[-1]
            if self._policy is Policy.PRIORITY:
                victim = max(self.running, key=lambda other: other.rank)
            for chunk in self._chunks:
                if chunk.live is victim:
                    self._budget.give_back(chunk)
            self._preempting = True
            self.end(victim, EndWhy.PREEMPT)
            if victim is live:
                return False
        return True

    def _admits(self, live: Live, work: Work) -> bool:
        query = AdmitQuery(
            free=self.pool.free_count,
            owed=sum(self._owed(other) for other in self.running),
            needed=self.allocator.need(work),
            whole=self.geometry.request_blocks(live.request.total_tokens),
        )
        return asserted_admission(query) if self.geometry.reserve_full_sequence else fits_now(query)

    def _owed(self, live: Live) -> int:
        """What an admitted request may still take under its reservation."""
        most = self.geometry.request_blocks(live.request.total_tokens)
        return most - self.allocator.kept_alone(live)

    def _book(self, live: Live, work: Work, offer: Offer) -> None:
        step, recorder = self.recorder.step, self.recorder
        prefill = work.start < live.prefill_end
        cut = Cut.SPLIT if work.end < work.start + offer.tokens else offer.cut
        recorder.emit(
            Schedule(
                step,
                live.name,
                work.start,
                work.end,
                offer.tokens,
                live.prefill_end,
                offer.drafts,
                cut,
                work.checkpoint or None,
            )
        )
        need = self.allocator.need(work)
        recorder.emit(Table(step, live.name, "", TableOp.ESTIMATE, count=need))
        exports = self.allocator.allocate(work)
        chunk = Chunk(
            step,
            live,
            live.residency,
            work.start,
            work.end,
            offer.drafts,
            sampling=work.end >= live.prefill_end,
            checkpoint=work.checkpoint,
            exports=exports,
            tails=self.allocator.tails(work) if prefill else {},
            loaded=(work.found.hit, work.loaded) if work.found and work.loaded else None,
            encoder_tokens=self._budget.spend(live, work.start, work.end),
        )
        self._chunks.append(chunk)
        live.chunks.append(chunk)
        live.computed = work.end
        live.turns += 1
        if prefill:
            live.carve.append(work.end)
        if self.rules.visibility is not Visibility.COMMIT:
            self.filer.file(chunk, min(work.end, live.known))

    # --- the device, and what is known of it ------------------------------------------------

    def _run_device(self, failing: frozenset[str]) -> None:
        for chunk in self._chunks:
            chunk.live.broken = chunk.live.broken or chunk.live.name in failing
        self.device.copy_pages([c for c in self.allocator.copies if not c.live.broken])
        self.allocator.copies.clear()
        for chunk in self._chunks:
            live = chunk.live
            if live.broken:
                chunk.runs = False
                continue
            if chunk.loaded is not None:
                self.device.load(live, *chunk.loaded)
            width, planned_end = chunk.end - chunk.start, chunk.end
            chunk.start = live.device_tokens
            chunk.end = chunk.start + width
            self.device.run(chunk, planned_end)

    def _release_held(self) -> None:
        """Sources of copies stay until the step that made them can no longer publish them."""
        step = self.recorder.step
        due = [source for source in self.allocator.held if source.until_step <= step]
        for source in due:
            self.recorder.emit(Hold(step, source.group, (source.block,), "copy", False))
            self.pool.release([source.block])
            self.allocator.held.remove(source)

    def _complete(self) -> None:
        step = self.recorder.step
        done: list[Chunk] = []
        of = complete_step(step, self.geometry.steps_in_flight)
        if len(self.in_flight) >= self.geometry.steps_in_flight:
            done = self.in_flight.pop(0)
        accepted: list[tuple[str, int]] = []
        failed: list[str] = []
        for chunk in done:
            live = chunk.live
            if chunk.residency != live.residency:
                continue
            if not chunk.runs:
                failed.append(live.name)
                self.end(live, EndWhy.PREEMPT)
                continue
            if chunk.drafts:
                accepted.append((live.name, chunk.accepted))
            self._learn(live, chunk)
        self._release_held()
        self.recorder.emit(
            Complete(
                step,
                of if of >= 0 else None,
                tuple(accepted),
                tuple(failed),
                self.pool.referenced_count,
                self.pool.keyed_free_count,
                self.pool.free_count - self.pool.keyed_free_count,
            )
        )

    def _learn(self, live: Live, chunk: Chunk) -> None:
        """A chunk is known complete: publish, retire, finish."""
        live.chunks.popleft()
        live.processed = chunk.done_tokens
        live.reached = max(live.reached, live.processed)
        live.known += chunk.sampled
        live.computed -= chunk.end - chunk.done_tokens
        if self.rules.visibility is Visibility.COMMIT:
            self.filer.file(chunk, live.processed)
        self.filer.retire(live)
        if live.generated >= live.request.output_tokens:
            self.end(live, EndWhy.FINISH)

    # --- what is said -----------------------------------------------------------------------

    def _emit_nothing(self, live: Live, offer: Offer, why: str) -> None:
        step = self.recorder.step
        self.recorder.emit(
            Schedule(
                step,
                live.name,
                live.computed,
                live.computed,
                offer.tokens,
                live.prefill_end,
                cut=offer.cut,
                reason=why,
            )
        )

    def _emit_lookup(self, live: Live, found: Found, start: int) -> str | None:
        miss = self.reasons.explain(live, found)
        self.recorder.emit(
            Lookup(
                self.recorder.step,
                live.name,
                found.cap,
                found.reaches,
                found.hit,
                start - found.hit,
                start,
                found.junction or None,
                miss.reason,
                miss.vetoed_by,
            )
        )
        return miss.text

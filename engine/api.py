"""The engine for serving: submit token ids, schedule a step, commit its results.

    engine = Engine(geometry)
    request = engine.submit(token_ids, output_tokens=200, salt="tenant-7")
    batch = engine.schedule()
    ...                                  # run batch.starts .. batch.ends on the device
    finished = engine.commit(sampled_tokens, counts)

Every operation either happens or raises `Refused` and leaves the engine as it was. With several
steps in flight, `schedule` may be called that many times before the first `commit`."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from truehit.engine import entry
from truehit.engine import fields as f
from truehit.engine.batch import Batch
from truehit.engine.host import Arrival, Host
from truehit.engine.memory import Int32, Int64, UInt8
from truehit.engine.refusal import refusal_of
from truehit.engine.refused import Refused
from truehit.engine.rules import RULES
from truehit.engine.values import (
    Tokens,
    int32_of,
    int64_of,
    salt_of,
    uint8_of,
    whole_number,
)
from truehit.spec.geometry import Geometry
from truehit.spec.geometry_checks import GeometryError, check
from truehit.spec.scenario import Policy


@dataclass(frozen=True, slots=True)
class Hit:
    """What a lookup finds for a waiting request. `blocks[g]`: blocks of the columns group g would
    adopt (state groups: the one that holds the state at the hit)."""

    hit_tokens: int
    offer_tokens: int
    blocks: tuple[Int32, ...]


@dataclass(frozen=True, slots=True)
class Statistics:
    """Counts since the start, except the first five, which are of now."""

    running: int
    waiting: int
    steps_in_flight: int
    free_blocks: int
    keyed_free_blocks: int
    steps: int
    submitted: int
    published_keys: int
    evicted_blocks: int


class Engine:
    """One engine. `rules`: a named rule set; anything but "default" is a known defect."""

    def __init__(
        self,
        geometry: Geometry,
        rules: str = "default",
        policy: Policy = Policy.FCFS,
    ) -> None:
        """Refused for a geometry that cannot work (see spec.geometry_checks) or unknown rules."""
        try:
            check(geometry)
        except GeometryError as mistake:
            raise Refused(str(mistake)) from mistake
        if rules not in RULES:
            raise Refused(f"rules: {rules!r} is not known; 'default' works")
        self.geometry = geometry
        self._host = Host(geometry, rules, policy)
        self._all = np.ones(geometry.max_running, np.uint8)

    @property
    def host(self) -> Host:
        """What is below: for who traces or audits."""
        return self._host

    # --- requests ---------------------------------------------------------------------------

    def submit(
        self, tokens: Tokens, *, output_tokens: int, salt: str = "", priority: int = 0
    ) -> int:
        """Queue a request of `tokens`, of which at most `output_tokens` more are generated; returns
        its number. Refused when it is empty or can never be served."""
        ids = int32_of("tokens", tokens)
        if len(ids) == 0:
            raise Refused("tokens: 0 of them are no prompt; 1 works")
        output = whole_number("output_tokens", output_tokens, 1, 10**30)
        message = refusal_of(self.geometry, len(ids) + output, 0, None)
        if message is not None:
            raise Refused(f"request {message}")
        rank = whole_number("priority", priority, -(2**63), 2**63 - 1)
        return self._host.submit(Arrival(ids, output, salt_of(salt), rank))

    def _slot(self, request: int) -> int:
        slots = self._host.slots
        is_number = isinstance(request, int | np.integer)
        if is_number and request in slots:
            return slots[request]
        works = f"{next(iter(slots))} works" if slots else "submitting 1 works"
        raise Refused(f"request {request!r} is not known or has ended; {works}")

    def abort(self, request: int) -> None:
        """The client gives up. Refused for an unknown request."""
        self._slot(request)
        self._host.end(request, f.END_ABORT)

    def preempt(self, request: int) -> None:
        """Take a running request's blocks back; it queues again. Refused unless it runs."""
        slot = self._slot(request)
        if self._host.core.request[slot, f.R_STATUS] != f.RUNNING:
            raise Refused(f"request {request} is not running; a running one works")
        self._host.end(request, f.END_PREEMPT)

    def reset_cache(self) -> None:
        """Nothing is findable any more."""
        self._host.reset()

    def find(self, request: int) -> Hit:
        """What a waiting request would hit now. Refused unless it waits."""
        slot = self._slot(request)
        host, core = self._host, self._host.core
        if core.request[slot, f.R_STATUS] != f.WAITING:
            raise Refused(f"request {request} is running; a waiting one works")
        hit = entry.look_up(host.handle, slot)
        found, seek = core.found, core.seek
        blocks = []
        for g, kind in enumerate(core.group[:, f.G_KIND].tolist()):
            if kind == f.STATE:
                blocks.append(seek[g : g + 1, f.A_STATE].astype(np.int32))
            else:
                block = core.group[g, f.G_BLOCK]
                blocks.append(core.match[g, : (hit + block - 1) // block])
        return Hit(hit, int(found[f.M_OFFER]), tuple(blocks))

    # --- steps ------------------------------------------------------------------------------

    def schedule(self, budget_tokens: int | None = None) -> Batch:
        """Schedule one step of at most so many tokens (default and most: the geometry's budget,
        on which reservations count). Refused when that is not positive, or too many steps are in
        flight."""
        host = self._host
        budget = self.geometry.budget_tokens
        if budget_tokens is not None:
            budget = whole_number("budget_tokens", budget_tokens, 1, budget)
        depth = self.geometry.steps_in_flight
        if len(host.in_flight) >= depth:
            raise Refused(f"{depth} steps are in flight; committing 1 of them works")
        slice_ = host.schedule(budget)
        return Batch(host.core, slice_, host.in_flight[-1][1])

    def commit(
        self, tokens: Tokens, counts: Tokens | Int64, ran: Sequence[bool] | None = None
    ) -> list[int]:
        """The results of the oldest step in flight: `counts[i]` tokens were sampled for row i, all
        of them in `tokens` in row order; a row that did not run is preempted. Returns the requests
        that finished. Refused when the numbers do not belong to the step."""
        host = self._host
        if not host.in_flight:
            raise Refused("no step is in flight; scheduling 1 works")
        slice_, rows = host.in_flight[0]
        sampled = int64_of(counts, rows)
        alive = self._all[:rows] if ran is None else uint8_of(ran, rows)
        ids = int32_of("tokens", tokens)
        self._check_results(slice_, sampled, alive, ids)
        status = host.commit(sampled, alive, ids)
        if not host.has_settled:
            return []
        slots = host.core.chunk[slice_, :rows, f.C_SLOT][status == f.FINISHED]
        return [int(number) for number in host.core.request[slots, f.R_ORDER]]

    def _check_results(self, slice_: int, counts: Int64, ran: UInt8, tokens: Int32) -> None:
        total = entry.checked_total(self._host.handle, slice_, counts, ran)
        if total < 0:
            row = -1 - total
            least, most = entry.count_bounds(self._host.handle, slice_, row, bool(ran[row]))
            raise Refused(
                f"counts: row {row} has {int(counts[row])} tokens; {least} to {most} work"
            )
        if len(tokens) != total:
            raise Refused(f"tokens: {len(tokens)} were given; {total} work")

    def statistics(self) -> Statistics:
        """Counts, cheap enough for every step."""
        host, now = self._host, self._host.core.now
        return Statistics(
            running=int(now[f.N_RUNNING]),
            waiting=len(host.waiting),
            steps_in_flight=len(host.in_flight),
            free_blocks=int(now[f.N_FREE]),
            keyed_free_blocks=int(now[f.N_KEYED_FREE]),
            steps=int(now[f.N_STEP]) + 1,
            submitted=host.submitted,
            published_keys=int(now[f.N_PUBLISHED]),
            evicted_blocks=int(now[f.N_EVICTED]),
        )

    def table(self, request: int, group: int) -> Int32:
        """The block table of a request in one group, int32[columns]; 0: a hole. A view."""
        number = whole_number("group", group, 0, len(self.geometry.groups) - 1)
        row = self._host.core.table[self._slot(request), number]
        first, length = int(row[f.T_AT]), int(row[f.T_LENGTH])
        return self._host.core.column[first : first + length]

"""The host side of the engine: slots and queues in Python, every step in compiled code.

It trusts its caller; `api.Engine` checks input, `run` feeds it scenarios. Per request it costs a
few Python operations at arrival, admission and end, and none in between."""

from bisect import insort
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from truehit.engine import entry, filing
from truehit.engine import fields as f
from truehit.engine.compiled import IS_COMPILED
from truehit.engine.growth import Ranges, grown, with_keys
from truehit.engine.handle import table_of
from truehit.engine.memory import Core, Int32, Int64, UInt8, new_core
from truehit.engine.rules import RULES, VISIBLE_COMMIT
from truehit.engine.sha256 import digest_of_salt
from truehit.spec.geometry import Geometry, Kind
from truehit.spec.scenario import Policy


@dataclass(frozen=True, slots=True)
class Arrival:
    """One submission. `tokens`: the prompt (int32). `items`: (at, tokens) of inputs that need an
    encoder run. `external_tokens`, `shares`: see spec.scenario.Request."""

    tokens: Int32
    output_tokens: int
    salt: str = ""
    priority: int = 0
    external_tokens: int = 0
    shares: tuple[int, ...] = ()
    items: tuple[tuple[int, int], ...] = ()


class Watch(Protocol):
    """Who follows an engine event by event; `host.core.log` is theirs to empty."""

    def make_room(self) -> None:
        """Before compiled code runs: the log must hold all it may say."""

    def drain(self) -> None:
        """After compiled code ran: take what the log says."""

    def looked_up(self, slot: int) -> None:
        """The lookup of a waiting request was made; `host.core.found` has it."""


class Auditor(Protocol):
    """Who judges every step of an engine while it serves."""

    def scheduled(self, slice_: int, rows: int) -> None:
        """A step was scheduled."""

    def ran(self, slice_: int, rows: int, counts: Int64, ran: UInt8) -> None:
        """The results of a step have come and are not learned yet."""

    def learned(self) -> None:
        """Keys were published."""


class Host:
    """One engine. `slots`: request number to slot. `waiting`: (priority, number, slot), sorted.
    `has_settled`: a request finished or failed in the last commit."""

    def __init__(
        self,
        geometry: Geometry,
        rules: str = "default",
        policy: Policy = Policy.FCFS,
        encoder_budget_tokens: int | None = None,
    ) -> None:
        self.geometry = geometry
        self.rules = RULES[rules]
        self.use(new_core(geometry, self.rules, policy, encoder_budget_tokens))
        self.slots: dict[int, int] = {}
        self.waiting: list[tuple[int, int, int]] = []
        self.in_flight: list[tuple[int, int]] = []
        self.watch: Watch | None = None
        self.audit: Auditor | None = None
        self.submitted = 0
        self.has_settled = False
        self._by_priority = policy is Policy.PRIORITY
        self._free_slots: list[int] = []
        self._slots_used = 0
        self._tokens, self._columns, self._extras = Ranges(), Ranges(), Ranges()
        self._keys = Ranges(filing.ODD_ROW + 1)
        self._is_open = False

    def use(self, core: Core) -> None:
        """Go on with these arrays; `handle` is how compiled code finds them."""
        self.core = core
        self._table = table_of(core)
        self.handle: object = self._table.ctypes.data if IS_COMPILED else core

    # --- requests ---------------------------------------------------------------------------

    def _sizes(self, arrival: Arrival) -> tuple[int, list[int], int]:
        """Key units, columns per group and extras of a request."""
        geometry = self.geometry
        total = len(arrival.tokens) + arrival.output_tokens
        reached = total + (1 + geometry.drafts) * (geometry.steps_in_flight + 1)
        columns = [
            1
            if group.kind is Kind.CIRCULAR_BUFFER
            else reached // group.block_tokens + 3 + geometry.drafts
            for group in geometry.groups
        ]
        extras = len(arrival.shares) + 3 * len(arrival.items)
        return total // geometry.hash_unit_tokens + 1, columns, extras

    def _new_slot(self) -> int:
        if self._free_slots:
            return self._free_slots.pop()
        slot = self._slots_used
        self._slots_used += 1
        core, rows = self.core, slot + 1
        if rows > core.request.shape[0]:
            self.use(
                core._replace(
                    request=grown(core.request, rows),
                    table=grown(core.table, rows),
                    chain=grown(core.chain, rows),
                )
            )
        return slot

    def submit(self, arrival: Arrival) -> int:
        """Queue a request that can be served; returns its number."""
        units, columns, extras = self._sizes(arrival)
        total = len(arrival.tokens) + arrival.output_tokens
        slot, number = self._new_slot(), self.submitted
        at_tokens, at_keys = self._tokens.take(total), self._keys.take(units)
        at_columns, at_extras = self._columns.take(sum(columns)), self._extras.take(extras)
        self._make_room(max(columns))
        core = self.core
        core.token[at_tokens : at_tokens + len(arrival.tokens)] = arrival.tokens
        values = [*arrival.shares]
        for at, tokens in arrival.items:
            values += [at, tokens, 0]
        core.extra[at_extras : at_extras + extras] = values
        at = at_columns
        for table, capacity in zip(core.table[slot], columns, strict=True):
            table[:] = 0
            table[f.T_AT], table[f.T_CAPACITY] = at, capacity
            at += capacity
        row = core.request[slot]
        residency = row[f.R_RESIDENCY]
        row[:] = 0
        row[f.R_RESIDENCY] = residency
        row[f.R_ORDER], row[f.R_PRIORITY] = number, arrival.priority
        row[f.R_PROMPT] = row[f.R_KNOWN] = len(arrival.tokens)
        row[f.R_OUTPUT], row[f.R_EXTERNAL] = arrival.output_tokens, arrival.external_tokens
        row[f.R_SHARES], row[f.R_ITEMS] = len(arrival.shares), len(arrival.items)
        row[f.R_PROMISE] = self.geometry.request_blocks(total)
        row[f.R_TOKENS], row[f.R_KEYS] = at_tokens, at_keys
        row[f.R_COLUMNS], row[f.R_EXTRA] = at_columns, at_extras
        core.chain[slot] = digest_of_salt(arrival.salt)
        entry.hash_units(self.handle, slot)
        self.slots[number] = slot
        self.submitted += 1
        self._queue(slot)
        return number

    def _make_room(self, columns: int) -> None:
        """Arenas that hold every range handed out, and lookups as wide as the widest table."""
        core = self.core
        match = core.match
        if columns > match.shape[1]:
            match = np.zeros((match.shape[0], 2 * columns), np.int32)
        larger = core._replace(
            token=grown(core.token, self._tokens.end),
            key=grown(core.key, self._keys.end),
            column=grown(core.column, self._columns.end),
            exported=grown(core.exported, self._columns.end),
            extra=grown(core.extra, self._extras.end + 1),
            match=match,
        )
        if any(old is not new for old, new in zip(core, larger, strict=True)):
            self.use(larger)

    def _queue(self, slot: int) -> None:
        """A preempted request returns to its own place."""
        row = self.core.request[slot]
        priority = int(row[f.R_PRIORITY]) if self._by_priority else 0
        insort(self.waiting, (priority, int(row[f.R_ORDER]), slot))

    def _unqueue(self, slot: int) -> None:
        self.waiting = [entry for entry in self.waiting if entry[2] != slot]

    def _free(self, slot: int) -> None:
        """The request has ended: its ranges and its slot serve others."""
        row, tables = self.core.request[slot], self.core.table[slot]
        total = int(row[f.R_PROMPT] + row[f.R_OUTPUT])
        self._tokens.give(int(row[f.R_TOKENS]), total)
        self._keys.give(int(row[f.R_KEYS]), total // self.geometry.hash_unit_tokens + 1)
        self._columns.give(int(row[f.R_COLUMNS]), int(tables[:, f.T_CAPACITY].sum()))
        self._extras.give(int(row[f.R_EXTRA]), int(row[f.R_SHARES] + 3 * row[f.R_ITEMS]))
        del self.slots[int(row[f.R_ORDER])]
        self._free_slots.append(slot)

    def end(self, number: int, why: int) -> None:
        """Abort a request, or preempt it."""
        slot = self.slots[number]
        self._before()
        entry.end_residency(self.handle, slot, why)
        self._after()
        if why == f.END_PREEMPT:
            self._queue(slot)
        else:
            self._unqueue(slot)
            self._free(slot)

    def reset(self) -> None:
        """Drop all keys."""
        self._before()
        entry.drop_all_keys(self.handle)
        self._after()

    # --- steps ------------------------------------------------------------------------------

    def _before(self) -> None:
        if self.watch is not None:
            self.watch.make_room()

    def _after(self) -> None:
        if self.watch is not None:
            self.watch.drain()

    def schedule(self, budget_tokens: int) -> int:
        """Schedule one step; returns its slice. Its chunks are `core.chunk[slice, :N_CHUNKS]`."""
        if self._is_open:
            self.close_step()
        if self.rules.visible != VISIBLE_COMMIT:
            self._room_for_everything()
        self._before()
        core = self.core
        entry.schedule_running(self.handle, budget_tokens)
        self._after()
        for slot in core.preempted[: core.now[f.N_PREEMPTED]]:
            self._queue(int(slot))
        if self.waiting and not core.now[f.N_PREEMPTED]:
            self._schedule_waiting()
        slice_ = int(core.now[f.N_SLICE])
        self.in_flight.append((slice_, int(core.now[f.N_CHUNKS])))
        self._is_open = True
        if self.audit is not None:
            self.audit.scheduled(*self.in_flight[-1])
            self.audit.learned()
        return slice_

    def _schedule_waiting(self) -> None:
        core, at = self.core, 0
        now, most = core.now, self.geometry.max_running
        while at < len(self.waiting):
            if now[f.N_TOKENS_LEFT] <= 0 or now[f.N_RUNNING] >= most:
                return
            slot = self.waiting[at][2]
            entry.look_up(self.handle, slot)
            if self.watch is not None:
                self.watch.looked_up(slot)
            self._before()
            outcome = entry.admit(self.handle, slot)
            self._after()
            if outcome == f.SCHEDULED:
                del self.waiting[at]
            elif outcome == f.NO_OFFER:
                at += 1
            else:
                return

    def _room_for_everything(self) -> None:
        """Where keys are filed at scheduling, a step may file whatever its requests hold."""
        unit, groups = self.geometry.hash_unit_tokens, len(self.geometry.groups)
        tokens = sum(
            int(self.core.request[slot, f.R_PROMPT] + self.core.request[slot, f.R_OUTPUT])
            for slot in self.slots.values()
        )
        keys = (tokens // unit + 4 * len(self.slots)) * groups
        self._grow_keys(keys)

    def _grow_keys(self, keys: int) -> None:
        larger = with_keys(self.core, keys)
        if larger is not self.core:
            self.use(larger)
            entry.spread_again(self.handle)

    def commit(self, counts: Int64, ran: UInt8, tokens: Int32) -> Int32:
        """The oldest step in flight is known complete; returns what became of each of its rows."""
        slice_, rows = self.in_flight[0]
        row = 0
        if self.audit is not None:
            self.audit.ran(slice_, rows, counts, ran)
        while True:
            self._before()
            row = entry.learn_step(self.handle, slice_, row, rows, counts, ran, tokens)
            self._after()
            if row == rows:
                break
            self._grow_keys(self.core.record.shape[0])
        if self.audit is not None:
            self.audit.learned()
        del self.in_flight[0]
        status = self.core.status[:rows]
        self.has_settled = bool(self.core.now[f.N_SETTLED])
        if self.has_settled:
            self._settle(slice_, status)
        self.close_step()
        return status

    def _settle(self, slice_: int, status: Int32) -> None:
        """Requests that finished leave; those that failed queue again."""
        for row in np.flatnonzero(status > f.LEARNED):
            slot = int(self.core.chunk[slice_, row, f.C_SLOT])
            if status[row] == f.FINISHED:
                self._free(slot)
            else:
                self._queue(slot)

    def close_step(self) -> None:
        """Nothing more happens in this step."""
        self._is_open = False
        if self.core.now[f.N_HELD]:
            self._before()
            entry.release_held(self.handle)
            self._after()

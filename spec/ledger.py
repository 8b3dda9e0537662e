"""The ledger: what a trace has written down so far. Updated once per event, before the laws look.

It knows token paths, block tables, references, contents as ghosts, keys, and which steps are
complete. It believes no claim: contents follow from writes, copies and transfers, references from
tables and holds. What it meets on the way and a law has to judge is left in `facts` and
`false_entries` until the step is closed. Memory: O(pool + live requests), and one interned node a
distinct token segment.
"""

from collections.abc import Callable
from typing import Any

from truehit.spec.formulas import extend, legal
from truehit.spec.geometry import Geometry
from truehit.spec.ledger_device import Device
from truehit.spec.ledger_keys import Keys
from truehit.spec.ledger_pool import Pool
from truehit.spec.ledger_records import (
    Chunk,
    Entry,
    Fact,
    GroupBook,
    RequestBook,
    TableBook,
    group_books,
)
from truehit.spec.ledger_tables import Tables
from truehit.spec.tokens import Segment, TokenTree
from truehit.spec.trace import (
    Complete,
    Copy,
    End,
    EndWhy,
    Hold,
    Lookup,
    Publish,
    Read,
    Reset,
    Schedule,
    Submit,
    Table,
    TableOp,
    Transfer,
    Unpublish,
    Write,
)
from truehit.spec.units import floor_to

Handler = Callable[[Any], None]


class LedgerError(ValueError):
    """A trace that contradicts itself: one sentence with the step."""


class Ledger:
    """`removed`: keys that the last unpublish or reset took away. `published`: keys of the last
    publish, `doubled` those that another block had. `taken`: blocks taken in this step, by
    request."""

    def __init__(self, geometry: Geometry) -> None:
        self.geometry = geometry
        self.groups: dict[str, GroupBook] = group_books(geometry)
        self.by_index: tuple[GroupBook, ...] = tuple(self.groups.values())
        self.tree = TokenTree()
        self.requests: dict[str, RequestBook] = {}
        self.keys = Keys(geometry.lookahead_tokens)
        self.pool = Pool(geometry.pool_blocks, self.keys.by_block)
        self.facts: list[Fact] = []
        self.tables = Tables(self.pool, self.keys, self.facts)
        self.device = Device(self.pool, self.keys, self.facts)
        self.false_entries: list[Entry] = []
        self.removed: list[Entry] = []
        self.published: list[Entry] = []
        self.doubled: list[Entry] = []
        self.taken: dict[str, int] = {}
        self.completed_step: int | None = None
        self.first_step: int | None = None
        self.last_step = 0
        self.latest_residency = 0
        self._ended: list[RequestBook] = []

    def handlers(self) -> dict[type, Handler]:
        return {
            Submit: self.on_submit,
            Lookup: self.on_lookup,
            Schedule: self.on_schedule,
            Hold: self.on_hold,
            Publish: self.on_publish,
            Unpublish: self.on_unpublish,
            Copy: self.on_copy,
            Read: self.on_read,
            Write: self.on_write,
            Transfer: self.on_transfer,
            Complete: self.on_complete,
            End: self.on_end,
            Reset: self.on_reset,
        }

    def table_handlers(self) -> dict[str, Handler]:
        tables = self.tables
        return {
            TableOp.PLACE: self._on_table(tables.place),
            TableOp.ADOPT: self._on_table(tables.adopt),
            TableOp.MOVE: self._on_table(tables.move),
            TableOp.NULL: self._on_table(tables.null),
            TableOp.COPY_ON_WRITE: self._on_table(tables.copy_on_write),
        }

    def request(self, step: int, name: str) -> RequestBook:
        """The record of a request; LedgerError if it was never submitted or left long ago."""
        try:
            return self.requests[name]
        except KeyError:
            raise LedgerError(f"step {step}: request {name} was not submitted") from None

    def table(self, step: int, request: str, group: str) -> TableBook:
        try:
            return self.requests[request].tables[group]
        except KeyError:
            self.request(step, request)
            known = ", ".join(self.groups)
            raise LedgerError(f"step {step}: no group {group}; {known} exist") from None

    def steps_unfinished_before(self, step: int) -> int:
        """How many earlier steps are not yet known complete."""
        known = self.completed_step
        if known is None:
            known = (self.first_step if self.first_step is not None else step) - 1
        return max(0, step - 1 - known)

    def on_submit(self, event: Submit) -> None:
        if self.first_step is None:
            self.first_step = event.step
        segments = event.segments
        if event.output_tokens:
            segments = (*segments, Segment(event.output, event.output_tokens))
        prompt = event.prompt_tokens
        self.latest_residency += 1
        self.requests[event.request] = RequestBook(
            name=event.request,
            path=self.tree.path(segments, event.salt),
            prompt_tokens=prompt,
            total_tokens=prompt + event.output_tokens,
            replay=legal(self.geometry, prompt),
            extend=extend(self.geometry, prompt),
            tables={name: TableBook(group) for name, group in self.groups.items()},
            residency=self.latest_residency,
        )

    def on_lookup(self, event: Lookup) -> None:
        junction = floor_to(event.junction_tokens or 0, self.geometry.alignment_tokens)
        self.request(event.step, event.request).junction = junction

    def on_schedule(self, event: Schedule) -> None:
        request = self.request(event.step, event.request)
        request.chunk = Chunk(
            event.step, event.start, event.end, event.prefill_end, request.residency
        )

    def on_hold(self, event: Hold) -> None:
        change = self.pool.hold_outside if event.held else self.pool.release_outside
        for block in event.blocks:
            if block:
                change(block)

    def on_publish(self, event: Publish) -> None:
        request = self.request(event.step, event.request)
        table = self.table(event.step, event.request, event.group)
        group, columns = table.group, table.columns
        keys, pool, path, size = self.keys, self.pool, request.path, table.group.block_tokens
        self.published, self.doubled = [], []
        named = keys.keys_at(group.index, path, [tokens for tokens, _ in event.keys])
        for key, (tokens, block) in zip(named, event.keys, strict=True):
            own = (tokens - 1) // size
            column: int | None = own
            if own >= len(columns) or columns[own] != block:
                column = columns.index(block) if block in columns else None
            entry = Entry(key, block, event.request, request.residency, event.step, path, column)
            if block not in pool.keyed and not pool.references[block]:
                pool.keyed_free += 1
            if keys.add(entry, group):
                self.doubled.append(entry)
            self.published.append(entry)
            if not self.device.entry_is_true(entry, group):
                pool.disturbed.add(block)

    def on_unpublish(self, event: Unpublish) -> None:
        removed: list[Entry] = []
        for block in event.blocks:
            if block in self.pool.keyed:
                if not self.pool.references[block]:
                    self.pool.keyed_free -= 1
                removed.extend(self.keys.remove_block(block))
        self.removed = removed

    def on_reset(self, event: Reset) -> None:
        blocks = tuple(self.keys.by_block)
        self.on_unpublish(Unpublish(event.step, "", blocks, "reset"))

    def on_copy(self, event: Copy) -> None:
        self.device.copy(event, self.table(event.step, event.request, event.group))

    def on_read(self, event: Read) -> None:
        table = self.table(event.step, event.request, event.group)
        if table.group.is_paged:
            self.device.read_pages(event, table, self.requests[event.request].path)

    def on_write(self, event: Write) -> None:
        table = self.table(event.step, event.request, event.group)
        group = table.group
        if group.is_state:
            self.device.write_state(event, table, self.requests[event.request].path)
        elif group.is_paged:
            self.device.write_pages(event, table, self.requests[event.request].path)
        else:
            self.device.write_ring(event, table)

    def on_transfer(self, event: Transfer) -> None:
        table = self.table(event.step, event.request, event.group)
        self.device.transfer(event, table, self.requests[event.request].path)

    def on_complete(self, event: Complete) -> None:
        self.last_step = event.step
        if event.of is not None:
            self.completed_step = event.of
        keys, truth = self.keys, self.device.entry_is_true
        self.false_entries = [
            entry
            for block in sorted(self.pool.disturbed)
            for entry in keys.of_block(block)
            if not truth(entry, self.by_index[entry.key[0]])
        ]

    def close_step(self, event: Complete) -> None:
        """After the laws have looked at the end of the step."""
        self.facts.clear()
        self.pool.disturbed.clear()
        if self.taken:
            self.taken.clear()
        if self._ended:
            self._forget_ended(event.step)

    def on_end(self, event: End) -> None:
        request = self.request(event.step, event.request)
        self.tables.release_all(request)
        self.latest_residency += 1
        request.residency = self.latest_residency
        if event.why != EndWhy.PREEMPT:
            request.live = False
            request.ended_step = event.step
            self._ended.append(request)

    def _on_table(self, apply: Callable[[Table, TableBook], int]) -> Handler:
        taken, find = self.taken, self.table

        def on_table(event: Table) -> None:
            count = apply(event, find(event.step, event.request, event.group))
            if count:
                taken[event.request] = taken.get(event.request, 0) + count

        return on_table

    def _forget_ended(self, step: int) -> None:
        """A request may still publish until the steps it ran in are known complete."""
        patience = self.geometry.steps_in_flight
        waiting: list[RequestBook] = []
        for request in self._ended:
            if request.ended_step is not None and step - request.ended_step < patience:
                waiting.append(request)
            elif self.requests.get(request.name) is request:
                del self.requests[request.name]
        self._ended = waiting

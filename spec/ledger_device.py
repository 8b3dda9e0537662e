"""Device events: what copies, reads, writes and transfers do to the contents of blocks.

The kernel of a chunk reads its initial state once: all writes of one (request, group, step) start
from the contents that stood before the first of them, also when one of them overwrites the source.
"""

from truehit.spec.ghost import Garbage, State, StateContent, consume, is_state_after
from truehit.spec.ledger_keys import Keys
from truehit.spec.ledger_pages import (
    BLANK,
    first_entry_read,
    holds_entries,
    is_written,
    overlay,
)
from truehit.spec.ledger_pool import Pool
from truehit.spec.ledger_records import Entry, Fact, FactKind, GroupBook, TableBook
from truehit.spec.ledger_words import page_words
from truehit.spec.tokens import TokenPath
from truehit.spec.trace import Copy, Read, Transfer, Write

GARBAGE: StateContent = Garbage()


class Device:
    """`epoch` counts writes under another reader's feet: what was settled before one is looked at
    again."""

    __slots__ = ("epoch", "facts", "keys", "pool")

    def __init__(self, pool: Pool, keys: Keys, facts: list[Fact]) -> None:
        self.pool = pool
        self.keys = keys
        self.facts = facts
        self.epoch = 0

    def entry_is_true(self, entry: Entry, group: GroupBook) -> bool:
        """True iff the block holds now what the key says."""
        tokens = entry.key[2]
        if group.is_state:
            return is_state_after(self.pool.states[entry.block], entry.path, tokens)
        base = (tokens - 1) // group.block_tokens * group.block_tokens
        page = self.pool.pages[entry.block]
        if len(page) == 1:
            low, high, owner = page[0]
            if owner is entry.path:
                return low <= base and high >= tokens
        return holds_entries(page, entry.path, base, tokens)

    def _was_true(self, entry: Entry, group: GroupBook, step: int) -> bool:
        """True iff an earlier step made the key true: within one step bytes may settle, also those
        of a key that is new in it."""
        written = self.pool.written_step[entry.block]
        if written is None or written >= step or entry.step >= step:
            return False
        return self.entry_is_true(entry, group)

    def copy(self, event: Copy, table: TableBook) -> None:
        """Whole blocks: the target holds what the source holds."""
        pool, source, target = self.pool, event.source, event.target
        if not source or not target:
            end = "source" if not source else "target"
            self._fact(FactKind.USES_NULL, event, None, 0, f"is the {end} of a copy")
            if target:
                pool.states[target] = GARBAGE
                pool.pages[target] = BLANK
                pool.written_step[target] = event.step
                if target in pool.keyed:
                    pool.disturbed.add(target)
            return
        if pool.written_step[source] is None:
            self._fact(FactKind.COPIES_NOTHING, event, None, source, f"copies to block {target}")
        self._check_target(event, table, None, target)
        pool.states[target] = pool.states[source]
        pool.pages[target] = pool.pages[source]
        pool.written_step[target] = event.step
        table.pre_copy = (event.step, source, target)

    def write_state(self, event: Write, table: TableBook, path: TokenPath) -> None:
        """The block becomes the state of the source after the chunk's tokens."""
        pool, target, source = self.pool, event.blocks[0], event.source
        if not target:
            self._fact(FactKind.USES_NULL, event, event.column, 0, "is written")
            return
        if table.before_step != event.step:
            table.before_step = event.step
            table.before = {}
        if target not in table.before:
            table.before[target] = pool.states[target]
        if source is None:
            initial: StateContent = State(())
        else:
            held = table.before.get(source)
            initial = pool.states[source] if held is None else held
        self._check_target(event, table, event.column, target)
        if event.rejected_tokens or event.end > path.tokens:
            pool.states[target] = GARBAGE
        else:
            pool.states[target] = consume(initial, path, event.start, event.end)
        pool.written_step[target] = event.step

    def write_pages(self, event: Write, table: TableBook, path: TokenPath) -> None:
        """Pages receive the chunk's entries, then those of rejected drafts."""
        pool, size, columns = self.pool, table.group.block_tokens, table.columns
        start, end = event.start, min(event.end, path.tokens)
        last = event.end + event.rejected_tokens
        pages, written, step = pool.pages, pool.written_step, event.step
        base, length = event.column * size, len(columns)
        for column, block in enumerate(event.blocks, event.column):
            if not block:
                self._fact(FactKind.USES_NULL, event, column, 0, "is written")
                base += size
                continue
            stop = base + size
            low = start if start > base else base
            high = end if end < stop else stop
            page = pages[block]
            owned = column < length and columns[column] == block
            if pool.references[block] != 1 or not owned or block in pool.keyed:
                self._check_page(event, table, column, low)
            if low < high:
                page = overlay(page, low, high, path) if page else ((low, high, path),)
            if last > end and stop > end:
                page = overlay(page, max(low, high), min(last, stop), None)
            pages[block] = page
            written[block] = step
            base = stop
        self._settle(table, start, end, event)

    def _settle(self, table: TableBook, start: int, end: int, event: Write) -> None:
        """What a request wrote into its own table behind settled entries needs no second look."""
        settled = table.settled_tokens
        if start > settled or table.settled_epoch != self.epoch:
            return
        first = event.column
        mine = table.columns[first : first + len(event.blocks)] == list(event.blocks)
        table.settled_tokens = end if mine and end > start else min(start, settled)

    def write_ring(self, event: Write, table: TableBook) -> None:
        """Circular buffers are overwritten for ever; only who writes them is booked."""
        for column, block in enumerate(event.blocks, event.column):
            if not block:
                self._fact(FactKind.USES_NULL, event, column, 0, "is written")
                continue
            if block not in table.columns:
                self._fact(FactKind.WRITES_FOREIGN, event, column, block, "is not in its table")
            self.pool.written_step[block] = event.step

    def transfer(self, event: Transfer, table: TableBook, path: TokenPath) -> None:
        """Content from outside is taken at its word."""
        for column, block in enumerate(event.blocks, event.column):
            if not block:
                self._fact(FactKind.USES_NULL, event, column, 0, "receives a transfer")
                continue
            self._check_target(event, table, column, block)
            size = table.group.block_tokens
            low, high = max(event.start, column * size), min(event.tokens, (column + 1) * size)
            if table.group.is_state:
                self.pool.states[block] = State(((0, event.tokens, path),))
            elif low < high:
                self.pool.pages[block] = overlay(self.pool.pages[block], low, high, path)
            self.pool.written_step[block] = event.step

    def read_pages(self, event: Read, table: TableBook, path: TokenPath) -> None:
        """Check the entries a reader at `tokens` sees, once each, until something touches them."""
        if table.settled_epoch != self.epoch:
            table.settled_epoch, table.settled_tokens = self.epoch, 0
        size, tokens, columns = table.group.block_tokens, event.tokens, table.columns
        seen = first_entry_read(table.group, tokens)
        first = max(table.settled_tokens, seen) // size
        for column in range(first, (tokens + size - 1) // size):
            block = columns[column] if column < len(columns) else 0
            low, high = max(column * size, seen), min((column + 1) * size, tokens)
            if not block:
                self._fact(FactKind.READS_HOLE, event, column, 0, f"needs entries [{low}, {high})")
                continue
            page = self.pool.pages[block]
            if holds_entries(page, path, low, high):
                continue
            detail = f"reads entries [{low}, {high}) of block {block}, which holds "
            kind = FactKind.READS_OTHER if is_written(page, low, high) else FactKind.READS_NOTHING
            self._fact(kind, event, column, block, detail + page_words(page, path))
        table.settled_tokens = max(table.settled_tokens, tokens)

    def _check_page(self, event: Write, table: TableBook, column: int, low: int) -> None:
        """A page that is shared, keyed or not the writer's own."""
        pool = self.pool
        block = event.blocks[column - event.column]
        page = pool.pages[block]
        overwrites = bool(page) and page[-1][1] > low
        if column >= len(table.columns) or table.columns[column] != block:
            self._fact(FactKind.WRITES_FOREIGN, event, column, block, "is not in its table")
            self.epoch += overwrites
        elif overwrites and pool.readers(block) > 1:
            self._fact(FactKind.WRITES_SHARED, event, column, block, _others(pool, block))
            self.epoch += 1
        for entry in self.keys.of_block(block):
            tokens = entry.key[2]
            if tokens > low and self._was_true(entry, table.group, event.step):
                detail = f"is published at {tokens} tokens and is written from {low}"
                self._fact(FactKind.WRITES_KEYED, event, column, block, detail)
                break
        if block in pool.keyed and overwrites:
            pool.disturbed.add(block)

    def _check_target(
        self, event: Copy | Write | Transfer, table: TableBook, column: int | None, block: int
    ) -> None:
        """A state or a copied block that is shared, keyed or not the writer's own."""
        pool = self.pool
        if column is None:
            # An engine may keep a copy that no table names, under the keys of its source.
            owned = block in table.columns[table.first_held :] or block in pool.held_outside
        else:
            owned = column < len(table.columns) and table.columns[column] == block
        if not owned:
            self._fact(FactKind.WRITES_FOREIGN, event, column, block, "is not in its table")
        elif pool.written_step[block] is not None and pool.readers(block) > 1:
            self._fact(FactKind.WRITES_SHARED, event, column, block, _others(pool, block))
        if block not in pool.keyed:
            return
        pool.disturbed.add(block)
        for entry in self.keys.of_block(block):
            if self._was_true(entry, table.group, event.step):
                detail = f"is published at {entry.key[2]} tokens and is written again"
                self._fact(FactKind.WRITES_KEYED, event, column, block, detail)
                break

    def _fact(
        self,
        kind: FactKind,
        event: Copy | Read | Write | Transfer,
        column: int | None,
        block: int,
        detail: str,
    ) -> None:
        fact = Fact(kind, event.step, event.request, event.group, block, column, detail)
        self.facts.append(fact)


def _others(pool: Pool, block: int) -> str:
    return f"is held by {pool.readers(block) - 1} other tables"

"""Block tables: what PLACE, ADOPT, MOVE, NULL and COPY_ON_WRITE do to columns, references and
tenancies."""

from truehit.spec.ledger_keys import Keys
from truehit.spec.ledger_pool import Pool
from truehit.spec.ledger_records import Fact, FactKind, RequestBook, TableBook
from truehit.spec.trace import Table


class Tables:
    """Applies table events; what a law has to judge goes to `facts`. Returns blocks taken from the
    pool."""

    __slots__ = ("facts", "keys", "pool")

    def __init__(self, pool: Pool, keys: Keys, facts: list[Fact]) -> None:
        self.pool = pool
        self.keys = keys
        self.facts = facts

    def place(self, event: Table, table: TableBook) -> int:
        """Fresh blocks: every one starts a new tenancy."""
        self._reach_column(table, event.column)
        if event.column == len(table.columns) and self._append_fresh(table, event.blocks):
            return len(event.blocks)
        taken = 0
        for column, block in enumerate(event.blocks, event.column):
            if block:
                taken += 1
                self._take(event, column, block)
            else:
                self._fact(FactKind.USES_NULL, event, column, 0, "is placed")
            self._set(table, column, block)
        self._touch(table, event.column)
        return taken

    def adopt(self, event: Table, table: TableBook) -> int:
        """Found blocks gain a reference; 0 is a hole. Those that were free leave the free pool."""
        taken = 0
        self._reach_column(table, event.column)
        for column, block in enumerate(event.blocks, event.column):
            if block:
                taken += self.pool.hold(block)
            self._set(table, column, block)
        self._touch(table, event.column)
        return taken

    def move(self, event: Table, table: TableBook) -> int:
        """Blocks leave their columns for others; no reference changes."""
        columns = table.columns
        moved = []
        for source, claimed in zip(event.sources, event.blocks, strict=False):
            block = columns[source] if source < len(columns) else 0
            moved.append(block)
            if block != claimed:
                detail = f"is moved as block {claimed} but the column holds block {block}"
                self._fact(FactKind.MOVES_OTHER, event, source, block, detail)
            if block:
                columns[source] = 0
                table.held -= 1
            self._touch(table, source)
        self._reach_column(table, event.column)
        for column, block in enumerate(moved, event.column):
            self._set(table, column, block)
        self._touch(table, event.column)
        return 0

    def null(self, event: Table, table: TableBook) -> int:
        """Columns become holes; their blocks lose a reference."""
        columns = table.columns
        start = max(event.column, table.first_held)
        stop = min(event.column + event.count, len(columns))
        for column in range(start, stop):
            block = columns[column]
            if block:
                self.pool.release(block)
                columns[column] = 0
                table.held -= 1
        first = table.first_held
        while first < len(columns) and not columns[first]:
            first += 1
        table.first_held = first
        self._touch(table, start)
        return 0

    def copy_on_write(self, event: Table, table: TableBook) -> int:
        """The column gets a fresh block of its own; the old one loses a reference."""
        block = event.blocks[0]
        self._reach_column(table, event.column)
        self._take(event, event.column, block)
        self._set(table, event.column, block)
        self._touch(table, event.column)
        if table.copies_step != event.step:
            table.copies_step, table.copies = event.step, 0
        table.copies += 1
        return 1

    def release_all(self, request: RequestBook) -> None:
        """The request leaves: every group's table is empty afterwards."""
        for name, table in request.tables.items():
            for block in table.columns[table.first_held :]:
                if block:
                    self.pool.release(block)
            request.tables[name] = TableBook(table.group)

    def _append_fresh(self, table: TableBook, blocks: tuple[int, ...]) -> bool:
        """The usual case in one go: free blocks without keys behind the end; False if it is not."""
        pool = self.pool
        references, keyed = pool.references, pool.keyed
        if len(set(blocks)) != len(blocks):
            return False
        for block in blocks:
            if not block or references[block] or block in keyed:
                return False
        for block in blocks:
            pool.renew(block)
            references[block] = 1
        pool.referenced += len(blocks)
        table.columns.extend(blocks)
        table.held += len(blocks)
        return True

    def _take(self, event: Table, column: int, block: int) -> None:
        pool = self.pool
        if pool.references[block]:
            detail = f"is taken while {pool.references[block]} others hold it"
            self._fact(FactKind.TAKES_REFERENCED, event, column, block, detail)
        if block in pool.keyed:
            tokens = self.keys.by_block[block].key[2]
            detail = f"is taken while it is published at {tokens} tokens"
            self._fact(FactKind.TAKES_KEYED, event, column, block, detail)
            pool.disturbed.add(block)
        pool.renew(block)
        pool.hold(block)

    def _set(self, table: TableBook, column: int, block: int) -> None:
        columns = table.columns
        if column < len(columns):
            old = columns[column]
            if old:
                self.pool.release(old)
                table.held -= 1
            columns[column] = block
        else:
            columns.append(block)
        if block:
            table.held += 1
            if column < table.first_held:
                table.first_held = column

    def _reach_column(self, table: TableBook, column: int) -> None:
        """Holes up to the column."""
        missing = column - len(table.columns)
        if missing > 0:
            table.columns.extend([0] * missing)

    def _touch(self, table: TableBook, column: int) -> None:
        first_changed = column * table.group.block_tokens
        if first_changed < table.settled_tokens:
            table.settled_tokens = first_changed

    def _fact(self, kind: FactKind, event: Table, column: int, block: int, detail: str) -> None:
        fact = Fact(kind, event.step, event.request, event.group, block, column, detail)
        self.facts.append(fact)

"""What the engine counts as it goes, counted again from the raw arrays, slowly.

Sees: the pool's ring, readers, keys, tables, reservations. Does not see: what a block holds (the
differential does)."""

from collections import Counter

from truehit.engine import fields as f
from truehit.engine.host import Host
from truehit.engine.keys import SPREAD

Numbers = list[int]


def recount(host: Host) -> None:
    """Every count and every link agrees with what it stands for."""
    free = _ring(host)
    keyed = _keys(host)
    readers, tables, pages = _tables(host)
    now, block = host.core.now.tolist(), host.core.block.tolist()
    referenced = [n for n in range(1, len(block)) if block[n][f.B_READERS]]
    assert 1 + len(referenced) + len(free) == len(block)
    assert set(referenced).isdisjoint(free)
    assert now[f.N_FREE] == len(free)
    assert now[f.N_KEYED_FREE] == len(keyed & set(free))
    for held in host.core.held[: now[f.N_HELD]].tolist():
        readers[held[f.H_BLOCK]] += 1
    assert {n: block[n][f.B_READERS] for n in referenced} == +readers
    assert {n: row[f.B_TABLES] for n, row in enumerate(block) if row[f.B_TABLES]} == +tables
    solo = [n for n in referenced if block[n][f.B_READERS] == 1 and block[n][f.B_TABLES]]
    assert now[f.N_SOLO] == len(solo)
    assert now[f.N_PAGES] == pages
    _requests(host)


def _ring(host: Host) -> list[int]:
    """The free blocks in order; the links backwards agree."""
    block = host.core.block.tolist()
    free, at = [], block[0][f.B_NEXT]
    while at:
        assert block[at][f.B_IS_FREE] == 1
        free.append(at)
        at = block[at][f.B_NEXT]
        assert len(free) < len(block)
    back, at = [], block[0][f.B_PREVIOUS]
    while at:
        back.append(at)
        at = block[at][f.B_PREVIOUS]
        assert len(back) < len(block)
    assert back[::-1] == free
    assert sum(row[f.B_IS_FREE] for row in block) == len(free)
    return free


def _walk(rows: list[Numbers], first: int, link: int) -> Numbers:
    """The indices of a chain."""
    found = []
    while first:
        found.append(first)
        first = rows[first][link]
        assert len(found) <= len(rows)
    return found


def _keys(host: Host) -> set[int]:
    """Records, entries and buckets agree; returns the blocks that have keys."""
    core, now = host.core, host.core.now
    record, entry = core.record.tolist(), core.entry.tolist()
    of_block: set[int] = set()
    for block, row in enumerate(core.block.tolist()):
        chain = _walk(record, row[f.B_RECORD], f.K_NEXT_OF_BLOCK)
        assert all(record[r][f.K_BLOCK] == block for r in chain)
        assert len({record[r][f.K_ENTRY] for r in chain}) == len(chain)
        assert of_block.isdisjoint(chain)
        of_block |= set(chain)
    unused = _walk(record, int(now[f.N_FREE_RECORD]), f.K_NEXT_OF_BLOCK)
    assert now[f.N_USED_RECORDS] == len(of_block)
    assert now[f.N_RECORDS] == 1 + len(of_block) + len(unused)
    of_entry: set[int] = set()
    entries = _entries(host)
    for e in entries:
        chain = _walk(record, entry[e][f.E_FIRST], f.K_NEXT_OF_ENTRY)
        assert chain and chain[-1] == entry[e][f.E_LAST]
        assert all(record[r][f.K_ENTRY] == e for r in chain)
        assert [record[r][f.K_PREVIOUS_OF_ENTRY] for r in chain] == [0, *chain[:-1]]
        of_entry |= set(chain)
    assert of_entry == of_block
    unused = _walk(entry, int(now[f.N_FREE_ENTRY]), f.E_NEXT)
    assert now[f.N_ENTRIES] == 1 + len(entries) + len(unused)
    return {record[r][f.K_BLOCK] for r in of_block}


def published(host: Host) -> dict[tuple[int, bytes], Numbers]:
    """Every key that can be found, as group and digest, with its blocks in order."""
    core = host.core
    entry, record = core.entry.tolist(), core.record.tolist()
    return {
        (entry[e][f.E_GROUP], core.entry[e, f.E_DIGEST :].tobytes()): [
            record[r][f.K_BLOCK] for r in _walk(record, entry[e][f.E_FIRST], f.K_NEXT_OF_ENTRY)
        ]
        for e in _entries(host)
    }


def _entries(host: Host) -> Numbers:
    """The entries that can be found, each once and in its bucket."""
    core = host.core
    entry, mask = core.entry.tolist(), core.bucket.shape[0] - 1
    found: Numbers = []
    for bucket, first in enumerate(core.bucket.tolist()):
        for e in _walk(entry, first, f.E_NEXT):
            word = int(core.entry[e, f.E_DIGEST]) + entry[e][f.E_GROUP] * SPREAD
            assert word & mask == bucket
            found.append(e)
    keys = {(entry[e][f.E_GROUP], core.entry[e, f.E_DIGEST :].tobytes()) for e in found}
    assert len(keys) == len(found)
    return found


def _tables(host: Host) -> tuple[Counter[int], Counter[int], int]:
    """Readers by block, tables of states and windows by block, pages of the others."""
    core = host.core
    readers, tables, pages, live = Counter[int](), Counter[int](), 0, 0
    kinds = core.group[:, f.G_KIND].tolist()
    for slot in host.slots.values():
        for group, table in enumerate(core.table[slot].tolist()):
            at, length, capacity = table[f.T_AT], table[f.T_LENGTH], table[f.T_CAPACITY]
            assert length <= capacity
            columns = core.column[at : at + capacity].tolist()
            blocks = [block for block in columns if block]
            assert not any(columns[length:])
            assert not core.exported[at + length : at + capacity].any()
            assert table[f.T_HELD] == len(blocks)
            assert core.request[slot, f.R_STATUS] == f.RUNNING or not blocks
            readers.update(blocks)
            live += len(blocks)
            if kinds[group] in (f.STATE, f.WINDOW):
                tables.update(blocks)
            else:
                pages += len(blocks)
    # Ranges that belong to nobody are as empty as new ones.
    assert int((core.column != 0).sum()) == live
    return readers, tables, pages


def _requests(host: Host) -> None:
    """Who runs, who waits, and what is promised to whom."""
    core, now = host.core, host.core.now
    running = core.running[: now[f.N_RUNNING]].tolist()
    rows = {slot: core.request[slot].tolist() for slot in host.slots.values()}
    assert len(set(running)) == len(running)
    assert set(running) == {s for s, row in rows.items() if row[f.R_STATUS] == f.RUNNING}
    waiting = {slot for _, _, slot in host.waiting}
    assert waiting == {s for s, row in rows.items() if row[f.R_STATUS] == f.WAITING}
    assert host.waiting == sorted(host.waiting)
    assert now[f.N_PROMISED] == sum(rows[slot][f.R_PROMISE] for slot in running)
    sampling = Counter[int]()
    for slice_, count in host.in_flight:
        for chunk in core.chunk[slice_, :count].tolist():
            slot = chunk[f.C_SLOT]
            if slot in rows and rows[slot][f.R_RESIDENCY] == chunk[f.C_RESIDENCY]:
                sampling[slot] += chunk[f.C_SAMPLING]
    for slot, row in rows.items():
        assert row[f.R_SAMPLING] == sampling[slot]
        assert host.slots[row[f.R_ORDER]] == slot
        assert int(core.table[slot, :, f.T_HELD].sum()) <= row[f.R_PROMISE]

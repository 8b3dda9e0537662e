"""Which blocks can be found under which key: a chained hash table over flat arrays.

A key is (group, digest of the prefix). It may name several blocks, because two requests can compute
the same prefix; a lookup returns the first. A block may have several keys. A *record* joins one key
to one block; an *entry* is a key that has at least one."""

import numpy as np

from truehit.engine import fields as f
from truehit.engine.compiled import compiled
from truehit.engine.log import log_key
from truehit.engine.memory import Core, Int32
from truehit.engine.prefetch import prefetch

SPREAD = 7919
"""Keeps the keys of one prefix in different groups apart; any odd number does."""


@compiled
def _bucket_of(c: Core, group: int, first_word: int) -> int:
    return (np.int64(first_word) + np.int64(group) * SPREAD) & (c.bucket.shape[0] - 1)


@compiled
def expect_key(c: Core, row: int) -> None:
    """The key in row `row` will be looked for in some group: fetch its buckets meanwhile, which lie
    anywhere in a large table."""
    for group in range(c.group.shape[0]):
        prefetch(c.bucket, _bucket_of(c, group, c.key[row, 0]))


@compiled
def _is_key(c: Core, entry: int, group: int, row: int) -> bool:
    if c.entry[entry, f.E_GROUP] != group:
        return False
    for i in range(8):
        if c.entry[entry, f.E_DIGEST + i] != c.key[row, i]:
            return False
    return True


@compiled
def entry_of(c: Core, group: int, row: int) -> int:
    """The entry of the key in row `row` of the key arena, or 0."""
    entry = c.bucket[_bucket_of(c, group, c.key[row, 0])]
    while entry != 0 and not _is_key(c, entry, group, row):
        entry = c.entry[entry, f.E_NEXT]
    return entry


@compiled
def find_block(c: Core, group: int, row: int) -> int:
    """The first block published under the key, or 0."""
    entry = entry_of(c, group, row)
    return c.record[c.entry[entry, f.E_FIRST], f.K_BLOCK] if entry != 0 else 0


@compiled
def _new_entry(c: Core, group: int, row: int) -> int:
    entry = c.now[f.N_FREE_ENTRY]
    if entry != 0:
        c.now[f.N_FREE_ENTRY] = c.entry[entry, f.E_NEXT]
    else:
        entry = c.now[f.N_ENTRIES]
        c.now[f.N_ENTRIES] = entry + 1
    bucket = _bucket_of(c, group, c.key[row, 0])
    c.entry[entry, f.E_GROUP] = group
    c.entry[entry, f.E_FIRST] = 0
    c.entry[entry, f.E_LAST] = 0
    c.entry[entry, f.E_NEXT] = c.bucket[bucket]
    c.bucket[bucket] = entry
    for i in range(8):
        c.entry[entry, f.E_DIGEST + i] = c.key[row, i]
    return entry


@compiled
def _new_record(c: Core) -> int:
    c.now[f.N_USED_RECORDS] += 1
    record = c.now[f.N_FREE_RECORD]
    if record != 0:
        c.now[f.N_FREE_RECORD] = c.record[record, f.K_NEXT_OF_BLOCK]
        return record
    record = c.now[f.N_RECORDS]
    c.now[f.N_RECORDS] = record + 1
    return record


@compiled
def publish(c: Core, group: int, row: int, block: int) -> bool:
    """Make a block findable under the key in row `row`; False if it already was. The caller knows
    that there is room for one more record and entry."""
    entry = entry_of(c, group, row)
    record = c.block[block, f.B_RECORD]
    if record == 0 and c.block[block, f.B_IS_FREE] == 1:
        c.now[f.N_KEYED_FREE] += 1
    while record != 0 and entry != 0:
        if c.record[record, f.K_ENTRY] == entry:
            return False
        record = c.record[record, f.K_NEXT_OF_BLOCK]
    if entry == 0:
        entry = _new_entry(c, group, row)
    record = _new_record(c)
    last = c.entry[entry, f.E_LAST]
    c.record[record, f.K_BLOCK] = block
    c.record[record, f.K_ENTRY] = entry
    c.record[record, f.K_NEXT_OF_BLOCK] = c.block[block, f.B_RECORD]
    c.record[record, f.K_NEXT_OF_ENTRY] = 0
    c.record[record, f.K_PREVIOUS_OF_ENTRY] = last
    c.block[block, f.B_RECORD] = record
    if last == 0:
        c.entry[entry, f.E_FIRST] = record
    else:
        c.record[last, f.K_NEXT_OF_ENTRY] = record
    c.entry[entry, f.E_LAST] = record
    c.now[f.N_PUBLISHED] += 1
    return True


@compiled
def _remove_entry(c: Core, entry: int) -> None:
    """The last block of a key is gone."""
    log_key(c, f.L_LOST, c.entry[entry, f.E_GROUP], c.entry, entry, f.E_DIGEST)
    bucket = _bucket_of(c, c.entry[entry, f.E_GROUP], c.entry[entry, f.E_DIGEST])
    before, at = 0, c.bucket[bucket]
    while at != entry:
        before, at = at, c.entry[at, f.E_NEXT]
    if before == 0:
        c.bucket[bucket] = c.entry[entry, f.E_NEXT]
    else:
        c.entry[before, f.E_NEXT] = c.entry[entry, f.E_NEXT]
    c.entry[entry, f.E_NEXT] = c.now[f.N_FREE_ENTRY]
    c.now[f.N_FREE_ENTRY] = entry


@compiled
def expect_loss(c: Core, blocks: Int32, at: int, count: int) -> None:
    """The keys of blocks[at : at + count] go: fetch what that touches for all of them at once. Each
    round finds here what the round before it asked for."""
    for block in blocks[at : at + count]:
        prefetch(c.record, c.block[block, f.B_RECORD] * f.K_FIELDS)
    for block in blocks[at : at + count]:
        prefetch(c.entry, c.record[c.block[block, f.B_RECORD], f.K_ENTRY] * f.E_FIELDS)
    for block in blocks[at : at + count]:
        entry = c.record[c.block[block, f.B_RECORD], f.K_ENTRY]
        prefetch(c.bucket, _bucket_of(c, c.entry[entry, f.E_GROUP], c.entry[entry, f.E_DIGEST]))


@compiled
def forget_keys(c: Core, block: int) -> None:
    """Remove all keys of a block."""
    record = c.block[block, f.B_RECORD]
    while record != 0:
        after = c.record[record, f.K_NEXT_OF_BLOCK]
        entry = c.record[record, f.K_ENTRY]
        next_block = c.record[record, f.K_NEXT_OF_ENTRY]
        previous = c.record[record, f.K_PREVIOUS_OF_ENTRY]
        if previous == 0:
            c.entry[entry, f.E_FIRST] = next_block
        else:
            c.record[previous, f.K_NEXT_OF_ENTRY] = next_block
        if next_block == 0:
            c.entry[entry, f.E_LAST] = previous
        else:
            c.record[next_block, f.K_PREVIOUS_OF_ENTRY] = previous
        if c.entry[entry, f.E_FIRST] == 0:
            _remove_entry(c, entry)
        c.record[record, f.K_NEXT_OF_BLOCK] = c.now[f.N_FREE_RECORD]
        c.now[f.N_FREE_RECORD] = record
        c.now[f.N_USED_RECORDS] -= 1
        record = after
    c.block[block, f.B_RECORD] = 0


@compiled
def drop_all_keys(c: Core) -> None:
    """Nothing is findable any more."""
    for block in range(1, c.block.shape[0]):
        if c.block[block, f.B_RECORD] != 0:
            forget_keys(c, block)
    c.now[f.N_KEYED_FREE] = 0


@compiled
def room_for_keys(c: Core) -> int:
    """How many more keys fit before the key tables have to grow."""
    return c.record.shape[0] - 1 - c.now[f.N_USED_RECORDS]


@compiled
def spread_again(c: Core) -> None:
    """Put every entry into its bucket, after the buckets became more."""
    for entry in range(1, c.now[f.N_ENTRIES]):
        if c.entry[entry, f.E_FIRST] != 0:
            bucket = _bucket_of(c, c.entry[entry, f.E_GROUP], c.entry[entry, f.E_DIGEST])
            c.entry[entry, f.E_NEXT] = c.bucket[bucket]
            c.bucket[bucket] = entry

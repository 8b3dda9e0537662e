"""The pool: readers of every block and the order in which free blocks are taken.

Free blocks are a ring through the null block. Blocks without keys are taken first, keyed ones in
the order they were freed; taking a keyed block evicts it. Every function costs the same whatever
the size of the pool."""

from truehit.engine import fields as f
from truehit.engine.compiled import compiled
from truehit.engine.keys import expect_loss, forget_keys
from truehit.engine.log import begin, close, is_watched, put
from truehit.engine.memory import Core, Int32, Int64


@compiled
def is_free(c: Core, block: int) -> bool:
    """Nobody reads the block."""
    return c.block[block, f.B_IS_FREE] == 1


@compiled
def has_keys(c: Core, block: int) -> bool:
    """The block can be found."""
    return c.block[block, f.B_RECORD] != 0


@compiled
def _solo(c: Core, block: int) -> int:
    """1 if exactly one table of a state or window group holds it and nobody else reads it."""
    row = c.block[block]
    return 1 if row[f.B_READERS] == 1 and row[f.B_TABLES] > 0 else 0


@compiled
def add_readers(c: Core, block: int, by: int) -> None:
    """Change the reference count."""
    before = _solo(c, block)
    c.block[block, f.B_READERS] += by
    c.now[f.N_SOLO] += _solo(c, block) - before


@compiled
def add_tables(c: Core, block: int, by: int) -> None:
    """The block enters (1) or leaves (-1) a table of a state or window group."""
    before = _solo(c, block)
    c.block[block, f.B_TABLES] += by
    c.now[f.N_SOLO] += _solo(c, block) - before


@compiled
def _unlink(c: Core, block: int) -> None:
    before, after = c.block[block, f.B_PREVIOUS], c.block[block, f.B_NEXT]
    c.block[before, f.B_NEXT] = after
    c.block[after, f.B_PREVIOUS] = before
    c.block[block, f.B_IS_FREE] = 0
    c.now[f.N_FREE] -= 1
    if has_keys(c, block):
        c.now[f.N_KEYED_FREE] -= 1


@compiled
def _link_before(c: Core, block: int, after: int) -> None:
    before = c.block[after, f.B_PREVIOUS]
    c.block[block, f.B_PREVIOUS] = before
    c.block[block, f.B_NEXT] = after
    c.block[before, f.B_NEXT] = block
    c.block[after, f.B_PREVIOUS] = block
    c.block[block, f.B_IS_FREE] = 1
    c.now[f.N_FREE] += 1
    if has_keys(c, block):
        c.now[f.N_KEYED_FREE] += 1


@compiled
def take_into(c: Core, target: Int32, at: int, count: int, group: int) -> None:
    """Take `count` free blocks (the caller knows that there are as many) into target[at:]."""
    opened, evicted = 0, 0
    if is_watched(c):
        opened = begin(c, f.L_EVICTED)
        put(c, group)
    for i in range(count):
        block = c.block[0, f.B_NEXT]
        _unlink(c, block)
        if has_keys(c, block):
            evicted += 1
            if opened:
                put(c, block)
        c.block[block, f.B_READERS] = 1
        target[at + i] = block
    if opened:
        if evicted:
            close(c, opened)
        else:
            c.now[f.N_LOG] = opened - 2
    if evicted:
        c.now[f.N_EVICTED] += evicted
        expect_loss(c, target, at, count)
        for i in range(count):
            if has_keys(c, target[at + i]):
                forget_keys(c, target[at + i])


@compiled
def touch(c: Core, block: int) -> None:
    """One more reader of a found block."""
    if is_free(c, block):
        _unlink(c, block)
    add_readers(c, block, 1)


@compiled
def release(c: Core, blocks: Int32 | Int64, first: int, end: int, step: int) -> None:
    """One reader less of blocks[first:end:step], holes skipped. Keyed ones that become free go to
    the end, the others to the front, so that they are taken in this order."""
    before_first = c.block[0, f.B_NEXT]
    for i in range(first, end, step):
        block = blocks[i]
        if block == 0:
            continue
        add_readers(c, block, -1)
        if c.block[block, f.B_READERS] == 0:
            _link_before(c, block, 0 if has_keys(c, block) else before_first)
            if before_first == 0 and has_keys(c, block):
                before_first = block

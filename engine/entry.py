"""The compiled functions that Python calls: each opens the handle and does one thing."""

from typing import Any

from truehit.engine import complete, keys, lookup, pool, residency, schedule, shadow, tables
from truehit.engine.compiled import compiled
from truehit.engine.handle import borrowed, opened
from truehit.engine.memory import Int32, Int64, UInt8

Handle = Any
"""The address of a core, or the core itself where nothing is compiled."""


@compiled
def schedule_running(handle: Handle, budget_tokens: int) -> None:
    """Begin a step and give every running request its chunk."""
    c = opened(handle)
    schedule.begin_step(c, budget_tokens)
    schedule.schedule_running(c)


@compiled
def look_up(handle: Handle, slot: int) -> int:
    """Look a waiting request up; the hit in tokens."""
    return lookup.look_up(opened(handle), slot)


@compiled
def reach_alone(handle: Handle, slot: int) -> None:
    """After a lookup: how far each group reaches by itself."""
    lookup.reach_alone(opened(handle), slot)


@compiled
def admit(handle: Handle, slot: int) -> int:
    """Admit the request that was looked up last, or say why not."""
    return schedule.admit(opened(handle), slot)


@compiled
def learn_step(
    handle: Handle,
    slice_: int,
    first_row: int,
    rows: int,
    counts: Int64,
    ran: UInt8,
    tokens: Int32,
) -> int:
    """Learn the results of a step from `first_row` on; the row it stopped before."""
    return complete.learn_step(
        opened(handle), slice_, first_row, rows, borrowed(counts), borrowed(ran), borrowed(tokens)
    )


@compiled
def hash_units(handle: Handle, slot: int) -> None:
    """Keys of what is known of a request."""
    complete.hash_units(opened(handle), slot)


@compiled
def end_residency(handle: Handle, slot: int, why: int) -> None:
    """Release everything a request holds."""
    residency.end_residency(opened(handle), slot, why)


@compiled
def release_held(handle: Handle) -> None:
    """Let go of sources of copies that are due."""
    tables.release_held(opened(handle))


@compiled
def drop_all_keys(handle: Handle) -> None:
    """Nothing is findable any more."""
    keys.drop_all_keys(opened(handle))


@compiled
def spread_again(handle: Handle) -> None:
    """Refill the buckets of the key table."""
    keys.spread_again(opened(handle))


@compiled
def take_into(handle: Handle, target: Int32, count: int) -> None:
    """Take free blocks for somebody outside."""
    pool.take_into(opened(handle), target, 0, count, -1)


@compiled
def release(handle: Handle, blocks: Int32) -> None:
    """Somebody outside gives blocks back."""
    pool.release(opened(handle), blocks, 0, blocks.shape[0], 1)


@compiled
def checked_total(handle: Handle, slice_: int, counts: Int64, ran: UInt8) -> int:
    """The tokens of all rows, or -1 - r if the count of row r cannot be."""
    return complete.checked_total(opened(handle), slice_, borrowed(counts), borrowed(ran))


@compiled
def first_negative(tokens: Int32) -> int:
    """The first token that is no id, or -1."""
    return complete.first_negative(tokens)


@compiled
def count_bounds(handle: Handle, slice_: int, row: int, ran: bool) -> tuple[int, int]:
    """The fewest and the most tokens of a row."""
    return complete.count_bounds(opened(handle), slice_, row, ran)


@compiled
def note_schedule(handle: Handle, slice_: int, rows: int) -> None:
    """The audit follows a step that was scheduled."""
    shadow.note_schedule(opened(handle), slice_, rows)


@compiled
def replay(handle: Handle, slice_: int, rows: int, counts: Int64, ran: UInt8) -> None:
    """The audit replays a step whose results have come."""
    shadow.replay(opened(handle), slice_, rows, counts, ran)


@compiled
def check_published(handle: Handle) -> None:
    """The audit judges the keys that were published."""
    shadow.check_published(opened(handle))

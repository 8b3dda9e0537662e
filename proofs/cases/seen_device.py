"""What the device was told: states read, written, saved and loaded, and accesses that must never
be."""

from collections.abc import Sequence

from truehit.proofs.cases.seen_tables import replayed, state_group
from truehit.proofs.golden.tables import NULL_BLOCK
from truehit.spec.trace import Copy, CopyWhy, Event, Read, Submit, Transfer, Write


def reads(events: Sequence[Event]) -> dict[str, list[list[int]]]:
    """Request -> [column, tokens] of every initial state it read, in the first state group."""
    group = state_group(events)
    found: dict[str, list[list[int]]] = {}
    for event in events:
        match event:
            case Submit():
                found.setdefault(event.request, [])
            case Read() if event.group == group:
                found[event.request].append([event.column, event.tokens])
            case _:
                pass
    return found


def from_zero(events: Sequence[Event]) -> dict[str, int]:
    """Request -> how many of its chunks started from the zero state, in the first state group."""
    group = state_group(events)
    chunks: dict[str, set[int]] = {}
    for event in events:
        match event:
            case Submit():
                chunks.setdefault(event.request, set())
            case Write() if event.group == group and event.source is None:
                chunks[event.request].add(event.step)
            case _:
                pass
    return {request: len(steps) for request, steps in chunks.items()}


def saved(events: Sequence[Event]) -> dict[str, list[list[int]]]:
    """Request -> [from column, to column] of every state saved because accepted drafts passed its
    boundary, in the first state group."""
    group = state_group(events)
    found: dict[str, list[list[int]]] = {}
    for event, tables in replayed(events):
        match event:
            case Submit():
                found.setdefault(event.request, [])
            case Copy() if event.group == group and event.why == CopyWhy.BOUNDARY:
                blocks = tables[(event.request, group)]
                pair = [blocks.index(event.source), blocks.index(event.target)]
                found[event.request].append(pair)
            case _:
                pass
    return found


def loaded(events: Sequence[Event]) -> dict[str, dict[str, list[int]]]:
    """Request -> group -> [first token, position after the last one] that came from outside."""
    found: dict[str, dict[str, list[int]]] = {}
    for event in events:
        if isinstance(event, Transfer):
            found.setdefault(event.request, {})[event.group] = [event.start, event.tokens]
    return found


def device(events: Sequence[Event]) -> dict[str, int]:
    """Accesses of the null block, and writes and copies to a block that is not in the table of
    the request or also in that of another one."""
    group = state_group(events)
    null_accesses = foreign_writes = shared_writes = 0
    for event, tables in replayed(events):
        match event:
            case Read() if event.group == group:
                null_accesses += event.block == NULL_BLOCK
                continue
            case Copy():
                null_accesses += NULL_BLOCK in (event.source, event.target)
                target = event.target
            case Write() if event.group == group:
                null_accesses += event.blocks[0] == NULL_BLOCK
                target = event.blocks[0]
            case _:
                continue
        owners = {request for (request, _), blocks in tables.items() if target in blocks}
        foreign_writes += event.request not in owners
        shared_writes += len(owners - {event.request}) > 0
    return {
        "null_accesses": null_accesses,
        "foreign_writes": foreign_writes,
        "shared_writes": shared_writes,
    }

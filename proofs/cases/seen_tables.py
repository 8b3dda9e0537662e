"""Block tables: what was taken for them and adopted into them, and what they held when the device
ran."""

from collections.abc import Iterator, Sequence

from truehit.proofs.golden.tables import NULL_BLOCK, apply_change
from truehit.spec.geometry import Kind
from truehit.spec.geometry_file import geometry_from_json
from truehit.spec.trace import (
    Complete,
    Copy,
    End,
    Event,
    Header,
    Read,
    Schedule,
    Submit,
    Table,
    TableOp,
    Transfer,
    Write,
)

Tables = dict[tuple[str, str], list[int]]
"""(request, group) -> the blocks of its columns."""

_DEVICE = (Copy, Read, Write, Transfer, Complete)


def state_group(events: Sequence[Event]) -> str:
    """The first state group; empty without one."""
    header = events[0]
    assert isinstance(header, Header)
    groups = geometry_from_json(header.geometry).groups
    return next((g.name for g in groups if g.kind is Kind.RECURRENT_STATE), "")


def replayed(events: Sequence[Event]) -> Iterator[tuple[Event, Tables]]:
    """Every event with the tables after it; they live on, so look now."""
    tables: Tables = {}
    for event in events:
        match event:
            case Table() if event.op != TableOp.ESTIMATE:
                apply_change(tables.setdefault((event.request, event.group), []), event)
            case End():
                for key in [key for key in tables if key[0] == event.request]:
                    del tables[key]
            case _:
                pass
        yield event, tables


def columns(events: Sequence[Event]) -> dict[str, dict[str, dict[int, list[int]]]]:
    """Request -> group -> step -> the columns that are no holes when the step's device work
    begins."""
    found: dict[str, dict[str, dict[int, list[int]]]] = {}
    seen = -1
    for event, tables in replayed(events):
        if not isinstance(event, _DEVICE) or event.step == seen:
            continue
        seen = event.step
        for (request, group), blocks in tables.items():
            real = [column for column, block in enumerate(blocks) if block != NULL_BLOCK]
            found.setdefault(request, {}).setdefault(group, {})[seen] = real
    return found


def peak(events: Sequence[Event]) -> dict[str, dict[str, int]]:
    """Request -> group -> the most columns that were no holes when device work began."""
    return {
        request: {group: max(map(len, steps.values())) for group, steps in groups.items()}
        for request, groups in columns(events).items()
    }


def estimate(events: Sequence[Event]) -> dict[str, list[int]]:
    """Request -> the blocks expected of each of its steps, over all groups."""
    found: dict[str, list[int]] = {}
    for event in events:
        if isinstance(event, Table) and event.op == TableOp.ESTIMATE:
            found.setdefault(event.request, []).append(event.count)
    return found


def taken(events: Sequence[Event]) -> dict[str, dict[str, list[int]]]:
    """Request -> group -> fresh blocks in each of the request's steps that ran."""
    header = events[0]
    assert isinstance(header, Header)
    groups = [group.name for group in geometry_from_json(header.geometry).groups]
    found: dict[str, dict[str, list[int]]] = {}
    for event in events:
        match event:
            case Schedule() if event.end > event.start:
                for counts in found.setdefault(event.request, {g: [] for g in groups}).values():
                    counts.append(0)
            case Table() if event.op in (TableOp.PLACE, TableOp.COPY_ON_WRITE):
                found[event.request][event.group][-1] += len(event.blocks)
            case _:
                pass
    return found


def adopted(events: Sequence[Event]) -> dict[str, dict[str, int]]:
    """Request -> group -> the position its first adopted blocks resume at."""
    found: dict[str, dict[str, int]] = {}
    for event in events:
        match event:
            case Submit():
                found[event.request] = {}
            case Table() if event.op == TableOp.ADOPT:
                found[event.request].setdefault(event.group, event.tokens)
            case _:
                pass
    return found


def copied(events: Sequence[Event]) -> dict[str, dict[str, list[int]]]:
    """Request -> group -> columns whose block was copied because somebody else may read it."""
    found: dict[str, dict[str, list[int]]] = {}
    for event in events:
        if isinstance(event, Table) and event.op == TableOp.COPY_ON_WRITE:
            found.setdefault(event.request, {}).setdefault(event.group, []).append(event.column)
    return found


def moved(events: Sequence[Event]) -> dict[str, dict[str, list[list[int]]]]:
    """Request -> group -> [from column, to column] of every block that moved in the table."""
    found: dict[str, dict[str, list[list[int]]]] = {}
    for event in events:
        if isinstance(event, Table) and event.op == TableOp.MOVE:
            pairs = found.setdefault(event.request, {}).setdefault(event.group, [])
            pairs += [[source, event.column + i] for i, source in enumerate(event.sources)]
    return found

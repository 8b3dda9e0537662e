"""A step in three forms says the same, and a worker that sees only changes has the right tables."""

from hypothesis import given
from hypothesis import strategies as st

from truehit.engine import fields as f
from truehit.engine.api import Engine
from truehit.engine.batch import Batch, Work, changed_blocks
from truehit.spec.geometry import Geometry

from .drawn import geometries
from .room import CI, Device, hybrid

ROOMY = (150, 250)
Tables = dict[tuple[int, int], dict[int, int]]


def forms_agree(engine: Engine, batch: Batch) -> None:
    """Arrays, lists and objects."""
    lists, objects = batch.as_lists(), batch.as_objects()
    assert lists.requests == batch.requests.tolist() == [work.request for work in objects]
    assert lists.starts == batch.starts.tolist() == [work.start for work in objects]
    assert lists.ends == batch.ends.tolist() == [work.end for work in objects]
    assert lists.drafts == batch.drafts.tolist() == [work.drafts for work in objects]
    exported = [work.checkpoint_tokens for work in objects]
    assert lists.checkpoints_tokens == batch.checkpoints_tokens.tolist() == exported
    assert lists.changes == [work.changes for work in objects]
    assert lists.copies == [tuple(row) for row in batch.copies[:, 1:].tolist()]
    told = [
        (slot, change.group, change.column, change.blocks)
        for slot, changes in zip(batch.slots.tolist(), lists.changes, strict=True)
        for change in changes
    ]
    raw = [
        (slot, group, column, changed_blocks(engine.host.core, row).tolist())
        for row in batch.table_changes
        for slot, group, column in [row[:3].tolist()]
    ]
    assert sorted(told) == sorted(raw)


def apply(tables: Tables, work: list[Work]) -> None:
    """What a worker does with the changes of a step."""
    for row in work:
        for group, column, blocks in row.changes:
            table = tables.setdefault((row.request, group), {})
            table.update(zip(range(column, column + len(blocks)), blocks, strict=True))


def tables_agree(engine: Engine, tables: Tables) -> None:
    """Where the engine has a block, the worker has the same; where it has a hole, nobody looks."""
    for number, slot in engine.host.slots.items():
        if engine.host.core.request[slot, f.R_STATUS] != f.RUNNING:
            continue
        for group in range(len(engine.geometry.groups)):
            mine = tables.get((number, group), {})
            for column, block in enumerate(engine.table(number, group).tolist()):
                assert block in (0, mine.get(column)), (number, group, column)


@CI
@given(geometries(ROOMY), st.data())
def test_a_worker_that_only_sees_changes_has_the_tables_of_the_engine(
    geometry: Geometry, data: st.DataObject
) -> None:
    engine, tables = Engine(geometry), Tables()
    device = Device(engine, greed=data.draw(st.sampled_from((0.0, 0.5, 1.0))))
    document = list(range(60))
    for _ in range(data.draw(st.integers(1, 40))):
        if data.draw(st.integers(0, 3)) == 0:
            tail = [1000 + n for n in range(data.draw(st.integers(1, 9)))]
            shared = data.draw(st.integers(0, 30))
            engine.submit(document[:shared] + tail, output_tokens=data.draw(st.integers(1, 12)))
        if len(engine.host.in_flight) == geometry.steps_in_flight:
            device.step()
            tables_agree(engine, tables)
        batch = engine.schedule()
        forms_agree(engine, batch)
        apply(tables, batch.as_objects())
        tables_agree(engine, tables)


@CI
@given(geometries(ROOMY))
def test_rows_are_chunks_within_the_budget_one_a_request(geometry: Geometry) -> None:
    engine = Engine(geometry)
    for n in range(4):
        engine.submit(list(range(100 * n, 100 * n + 20)), output_tokens=6)
    device = Device(engine)
    for _ in range(30):
        if len(engine.host.in_flight) == geometry.steps_in_flight:
            device.step()
        rows = engine.schedule().as_objects()
        assert len({row.request for row in rows}) == len(rows) <= geometry.max_running
        assert sum(row.end - row.start for row in rows) <= geometry.budget_tokens
        assert all(row.start < row.end and row.drafts < row.end - row.start for row in rows)
        assert all(row.checkpoint_tokens < row.end for row in rows)
        assert all(row.checkpoint_tokens > row.start for row in rows if row.checkpoint_tokens)


def test_an_empty_step_has_no_rows() -> None:
    batch = Engine(hybrid()).schedule()
    assert batch.rows == 0
    assert batch.as_objects() == []
    assert batch.as_lists().requests == []

"""Facets that no lawful run makes move are shown to move, on traces written by hand."""

from truehit.proofs.cases import FACETS
from truehit.spec.geometry import Geometry, Group, Kind
from truehit.spec.geometry_file import geometry_to_json
from truehit.spec.trace import (
    Complete,
    Copy,
    CopyWhy,
    EngineError,
    Event,
    Header,
    Publish,
    Read,
    Submit,
    Table,
    TableOp,
    Unpublish,
    UnpublishWhy,
    Write,
)

GROUPS = (Group("full", Kind.FULL_ATTENTION, 8), Group("state", Kind.RECURRENT_STATE, 8))
BEGIN: tuple[Event, ...] = (
    Header("by hand", "default", geometry_to_json(Geometry(GROUPS, 8)), ()),
    Submit(0, "a", (), "out", 1),
    Submit(0, "b", (), "out", 1),
    Table(0, "a", "state", TableOp.PLACE, 0, (1, 2)),
    Table(0, "b", "state", TableOp.PLACE, 0, (3, 2)),
)


def write(request: str, block: int) -> Write:
    return Write(0, 0, request, "state", 0, (block,), 0, 8)


def test_accesses_of_the_null_block_are_counted() -> None:
    trace = (
        *BEGIN,
        Read(0, 0, "a", "state", 0, 0, 8),
        Read(0, 0, "a", "full", 0, 0, 8),
        Copy(0, 0, "a", "state", 0, 1, CopyWhy.PRE),
    )
    assert FACETS["device"](trace)["null_accesses"] == 2


def test_writes_outside_the_own_table_are_counted() -> None:
    seen = FACETS["device"]((*BEGIN, write("a", 1), write("a", 3), write("a", 9)))
    assert (seen["foreign_writes"], seen["shared_writes"]) == (2, 1)


def test_writes_to_a_block_of_two_tables_are_counted() -> None:
    seen = FACETS["device"]((*BEGIN, write("a", 1), write("a", 2)))
    assert (seen["foreign_writes"], seen["shared_writes"]) == (0, 1)


def test_a_key_that_comes_back_is_seen() -> None:
    """Removed 6, stored 8, stored 6 again: the order of the report."""
    trace = (
        *BEGIN,
        Publish(0, "a", "state", ((6, 1),)),
        Unpublish(0, "state", (1,), UnpublishWhy.PROMOTED),
        Publish(0, "a", "state", ((8, 1), (6, 1))),
    )
    assert FACETS["keys_of_blocks"](trace)["a"] == {"state": [[6, 8, 6]]}
    assert FACETS["unpublished"](trace)["promoted"] == 1


def test_complaints_of_the_device_are_seen() -> None:
    trace = (*BEGIN, EngineError(0, "column 9 of a table of 2 columns", "a"), Complete(0, 0))
    assert FACETS["run"](trace)["errors"] == ["column 9 of a table of 2 columns"]

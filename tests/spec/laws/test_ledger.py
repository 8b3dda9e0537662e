"""The ledger: tables, references, tenancies and keys after each kind of event."""

from truehit.spec.geometry import Lookahead
from truehit.spec.ledger import Ledger

from .script import GEOMETRY, Script, geometry


def booked(script: Script) -> Ledger:
    """The ledger after the events, without laws."""
    ledger = Ledger(script.geometry)
    handlers = ledger.handlers()
    tables = ledger.table_handlers()
    for event in script.events:
        handler = tables.get(getattr(event, "op", "")) or handlers.get(type(event))
        if handler is not None:
            handler(event)
    return ledger


def columns(ledger: Ledger, request: str, group: str) -> list[int]:
    return ledger.requests[request].tables[group].columns


def test_placing_beyond_the_end_leaves_holes() -> None:
    ledger = booked(Script().submit("a", ("doc", 9)).place("a", "state", 2, 5, 6))
    assert columns(ledger, "a", "state") == [0, 0, 5, 6]
    assert ledger.requests["a"].held == 2
    assert (ledger.pool.referenced, ledger.pool.empty_free) == (2, 29)


def test_moving_leaves_holes_and_keeps_references() -> None:
    script = Script().submit("a", ("doc", 9)).place("a", "state", 0, 5, 6)
    ledger = booked(script.move("a", "state", 0, 3, 5))
    assert columns(ledger, "a", "state") == [0, 6, 0, 5]
    assert ledger.pool.references[5] == 1
    assert ledger.requests["a"].held == 2


def test_nulling_releases_and_is_idempotent() -> None:
    script = Script().submit("a", ("doc", 9)).place("a", "state", 0, 5, 6)
    script.null("a", "state", 0).null("a", "state", 0).null("a", "state", 0, count=9)
    ledger = booked(script)
    assert columns(ledger, "a", "state") == [0, 0]
    assert (ledger.pool.referenced, ledger.requests["a"].held) == (0, 0)


def test_copy_on_write_replaces_the_block() -> None:
    script = Script().submit("a", ("doc", 9)).place("a", "state", 0, 5)
    ledger = booked(script.copy_on_write("a", "state", 0, 7))
    assert columns(ledger, "a", "state") == [7]
    assert (ledger.pool.references[5], ledger.pool.references[7]) == (0, 1)


def test_a_second_reader_and_the_end_of_the_first() -> None:
    script = Script().submit("a", ("doc", 9)).submit("b", ("doc", 9)).place("a", "full", 0, 5)
    script.adopt("b", "full", 0, 5, tokens=4)
    assert booked(script).pool.readers(5) == 2
    ledger = booked(script.hold("full", 5).end("a"))
    assert (ledger.pool.readers(5), ledger.pool.references[5]) == (1, 2)
    assert columns(ledger, "a", "full") == []


def test_a_new_tenancy_forgets_what_was_written() -> None:
    script = Script().submit("a", ("doc", 9)).place("a", "full", 0, 5)
    script.write("a", "full", 0, 5, start=0, end=4).null("a", "full", 0).place("a", "full", 1, 5)
    ledger = booked(script)
    assert (ledger.pool.pages[5], ledger.pool.tenancy[5]) == ((), 2)


def test_keys_come_and_go_with_their_blocks() -> None:
    script = Script().submit("a", ("doc", 9)).place("a", "state", 0, 5, 6)
    script.publish("a", "state", (4, 5), (8, 6), (4, 6)).unpublish("state", 5)
    ledger = booked(script)
    path = ledger.requests["a"].path
    index = ledger.groups["state"].index
    assert ledger.keys.finds(index, path, 4)
    assert ledger.keys.largest_state(index, path, 9, 9, 4) == 8
    assert ledger.keys.largest_state(index, path, 7, 9, 4) == 4
    ledger = booked(script.unpublish("state", 6))
    assert not ledger.keys.by_key
    assert not ledger.keys.state_positions


def test_a_key_covers_its_lookahead() -> None:
    script = Script(geometry(drop=Lookahead(2))).submit("a", ("doc", 6)).submit("b", ("doc", 5))
    ledger = booked(script.publish("a", "state", (4, 5)))
    index = ledger.groups["state"].index
    assert ledger.keys.finds(index, ledger.requests["a"].path, 4)
    assert not ledger.keys.finds(index, ledger.requests["b"].path, 4)
    assert ledger.keys.largest_state(index, ledger.requests["a"].path, 4, 5, 4) == 0
    assert ledger.keys.largest_state(index, ledger.requests["a"].path, 4, 6, 4) == 4


def test_a_reset_drops_all_keys() -> None:
    script = Script().submit("a", ("doc", 9)).publish("a", "state", (4, 5)).reset()
    ledger = booked(script)
    assert (ledger.keys.by_key, ledger.pool.keyed_free) == ({}, 0)
    assert [entry.block for entry in ledger.removed] == [5]


def test_unfinished_steps_are_counted() -> None:
    assert booked(Script().submit("a", ("doc", 9))).steps_unfinished_before(0) == 0
    script = Script(geometry(steps_in_flight=3)).submit("a", ("doc", 9)).complete().complete()
    assert booked(script).steps_unfinished_before(2) == 2
    assert booked(script.complete().complete()).steps_unfinished_before(4) == 2
    assert GEOMETRY.steps_in_flight == 1

"""Changes of a manager's table are told as what was done: holes, moves, copies, fresh blocks."""

from types import SimpleNamespace

import pytest

from truehit.adapters.vllm.inside.driver.out import Recorder
from truehit.adapters.vllm.inside.driver.spy_tables import TableWatch

Said = list[tuple[object, ...]]


class Tables:
    """One group and one request `r`; a test sets its columns."""

    def __init__(self) -> None:
        self._blocks: dict[str, list[SimpleNamespace]] = {}
        manager = SimpleNamespace(req_to_blocks=self._blocks)
        coordinator = SimpleNamespace(single_type_managers=[manager])
        self.recorder = Recorder()
        self.watch = TableWatch(self.recorder, SimpleNamespace(coordinator=coordinator), ["state"])

    def set(self, *columns: int) -> None:
        self._blocks["r"] = [SimpleNamespace(block_id=b, is_null=b == 0) for b in columns]

    def told(self, taken: frozenset[int] = frozenset()) -> Said:
        self.recorder.events.clear()
        self.watch.compare("r", taken)
        return [
            (e["op"], e["column"], e.get("blocks", e.get("count")), *e.get("sources", ()))
            for e in self.recorder.events
            if e["kind"] == "table"
        ]


@pytest.fixture
def tables() -> Tables:
    found = Tables()
    found.set(10, 11, 12)
    assert found.told() == [("place", 0, [10, 11, 12])]
    return found


def test_nothing_changed(tables: Tables) -> None:
    assert tables.told() == []


def test_holes_are_told_in_runs(tables: Tables) -> None:
    tables.set(0, 0, 12, 0, 14)
    assert tables.told() == [("null", 0, 2), ("place", 4, [14])]


def test_a_block_that_goes_right_has_moved(tables: Tables) -> None:
    tables.set(10, 0, 12, 11, 14)
    assert tables.told() == [("move", 3, [11], 1), ("place", 4, [14])]


def test_a_block_that_was_given_back_and_taken_again_has_not_moved(tables: Tables) -> None:
    tables.set(10, 0, 12, 11)
    assert tables.told(frozenset({11})) == [("null", 1, 1), ("place", 3, [11])]


def test_another_block_in_a_column_is_a_copy(tables: Tables) -> None:
    tables.set(10, 11, 40)
    assert tables.told() == [("copy_on_write", 2, [40])]


def test_found_blocks_are_adopted_from_the_first_that_is_one() -> None:
    tables = Tables()
    tables.watch.adopt("r", [[0, 0, 30]], 40)
    event = tables.recorder.events[0]
    assert (event["op"], event["column"], event["blocks"], event["tokens"]) == (
        *("adopt", 2, [30], 40),
    )
    tables.set(0, 0, 30, 31)
    assert tables.told() == [("place", 3, [31])]

"""The slots are what the worker of a scenario reads, writes and copies, whatever is switched on."""

from collections import Counter
from dataclasses import dataclass, field

import numpy as np
import pytest

from truehit.engine import fields as f
from truehit.engine.memory import Int32
from truehit.engine.run import Runner
from truehit.engine.slots import StateRows, accepted_slots, page_slots, state_slots
from truehit.engine.worker import Job, Place, Worker
from truehit.proofs.sweep.draw import draw
from truehit.proofs.sweep.run import feature_sets
from truehit.spec.trace import Copy, CopyWhy, Event, Read, Write

RULES = ("default", "scratch-left")
SETS = feature_sets("default")


def ints(*numbers: int) -> Int32:
    return np.array(numbers, np.int32)


@dataclass(frozen=True, slots=True)
class Found:
    """Blocks, and the column of the running state after the row."""

    source: int
    checkpoint: int
    tokens: list[int]
    current: int
    copy: tuple[int, int]


def by_worker(events: list[Event], job: Job, current: int) -> Found:
    """What the events of one row and group say."""
    reads = [event.block for event in events if isinstance(event, Read)]
    writes = [event.blocks[0] for event in events if isinstance(event, Write)]
    exported = writes.pop(0) if job.checkpoint else 0
    # A decode writes its states from the last one back, a prefill has one.
    tokens = [0] * (job.end - job.start - len(writes)) + writes[::-1]
    copies = [(0, 0)]
    for event in events:
        if isinstance(event, Copy) and event.why is CopyWhy.BOUNDARY:
            copies.append((event.source, event.target))
    return Found(sum(reads), exported, tokens, current, copies[-1])


def by_slots(job: Job, table: Int32, current: int, grid: int) -> Found:
    """What the arithmetic says, with a row before and one behind it."""
    tokens, padded = job.end - job.start, np.full((3, len(table) + 1), 77, np.int32)
    padded[1, :-1] = table
    rows = StateRows(
        padded,
        ints(0, len(table), 0),
        ints(0, 0, tokens, tokens),
        ints(0, job.start, 0),
        ints(0, job.planned_end, 0),
        ints(0, job.checkpoint, 0),
        ints(0, job.is_decode, 1),
        ints(-1, current, 5),
    )
    before = state_slots(rows, grid, tokens)
    after = accepted_slots(rows, ints(0, job.done, 0), grid)
    assert before.sources[[0, 2]].tolist() == before.checkpoint_targets[[0, 2]].tolist() == [0, 0]
    assert after.next_currents[[0, 2]].tolist() == [-1, -1]
    return Found(
        int(before.sources[1]),
        int(before.checkpoint_targets[1]),
        before.token_targets.tolist(),
        int(after.next_currents[1]),
        (int(after.boundary_sources[1]), int(after.boundary_targets[1])),
    )


@dataclass(slots=True)
class Watched:
    """Compares every row of every worker. `seen`: what there was to compare."""

    seen: Counter[str] = field(default_factory=Counter)

    def watch(self, monkeypatch: pytest.MonkeyPatch) -> None:
        run_state, run_pages = Worker._run_state, Worker._run_pages

        def state(worker: Worker, job: Job, place: Place, group: int) -> None:
            table, grid = self._table(worker, job, group)
            expected = by_slots(job, table, place.current.get(group, -1), grid)
            told = len(worker._tracer.events)
            run_state(worker, job, place, group)
            found = by_worker(worker._tracer.events[told:], job, place.current[group])
            assert found == expected, job
            self.seen["rows"] += 1
            self.seen["decodes"] += job.is_decode
            self.seen["exported"] += found.checkpoint > 0
            self.seen["resumed"] += found.source > 0
            self.seen["copied"] += found.copy != (0, 0)
            self.seen["rejected"] += job.is_decode and job.done < job.end
            self.seen["behind"] += job.planned_end > job.end

        def pages(worker: Worker, job: Job, group: int) -> None:
            table, block = self._table(worker, job, group)
            told, tokens = len(worker._tracer.events), job.end - job.start
            run_pages(worker, job, group)
            (write,) = [e for e in worker._tracer.events[told:] if isinstance(e, Write)]
            row_starts, lengths = ints(0, tokens), ints(len(table))
            tables = table[None, :]
            slots = page_slots(tables, lengths, row_starts, ints(job.start), block, tokens)
            assert list(dict.fromkeys(slots.pages.tolist())) == list(write.blocks), job
            offsets = [position % block for position in range(job.start, job.end)]
            assert slots.offsets.tolist() == offsets
            self.seen["page rows"] += 1

        monkeypatch.setattr(Worker, "_run_state", state)
        monkeypatch.setattr(Worker, "_run_pages", pages)

    def _table(self, worker: Worker, job: Job, group: int) -> tuple[Int32, int]:
        core = worker._host.core
        at, length = core.table[job.slot, group, [f.T_AT, f.T_LENGTH]]
        return core.column[at : at + length].copy(), int(core.group[group, f.G_BLOCK])


@pytest.mark.parametrize("rules", RULES)
def test_the_slots_are_what_a_run_reads_and_writes(
    rules: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched = Watched()
    watched.watch(monkeypatch)
    for seed in range(len(SETS)):
        Runner(draw(seed, SETS[seed]), rules).run()
    kinds = ("decodes", "exported", "resumed", "copied", "rejected", "behind", "page rows")
    assert watched.seen["rows"] > 2000
    assert all(watched.seen[kind] > 10 for kind in kinds), watched.seen


def test_a_column_outside_its_table_has_no_block() -> None:
    """Before the table, behind it, and in a table without columns; but a checkpoint before the
    first column is in the last one."""
    tables = np.array([[1, 2, 3], [4, 5, 6], [7, 8, 9], [10, 11, 12]], np.int32)
    rows = StateRows(
        tables,
        ints(2, 2, 0, 3),
        ints(0, 3, 6, 7, 9),
        ints(4, 4, 0, 0),
        ints(7, 12, 1, 2),
        ints(0, 5, 1, 1),
        ints(1, 1, 0, 0),
        ints(-1, 2, 0, -1),
    )
    slots = state_slots(rows, 4, 10)
    assert slots.sources.tolist() == [0, 0, 0, 0]
    assert slots.token_targets.tolist() == [2, 0, 0, 0, 0, 0, 0, 0, 10, 0]
    assert slots.checkpoint_targets.tolist() == [0, 4, 0, 12]


def test_a_boundary_is_copied_only_from_a_block_to_a_block() -> None:
    tables = np.array([[1, 2, 3], [1, 0, 3], [0, 2, 3], [1, 2, 3]], np.int32)
    single = ints(3, 3, 3, 3)
    rows = StateRows(tables, single, ints(0, 3, 6, 9, 12), single, ints(6, 6, 6, 6), *[single] * 3)
    slots = accepted_slots(rows, ints(5, 5, 5, 3), 4)
    assert slots.boundary_sources.tolist() == [2, 0, 0, 0]
    assert slots.boundary_targets.tolist() == [1, 0, 0, 0]
    assert slots.next_currents.tolist() == [2, 2, 2, 1]

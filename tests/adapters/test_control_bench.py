"""Turns, medians, goals and words of the control-plane benchmark."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from truehit.adapters.control_bench.__main__ import main
from truehit.adapters.control_bench.page import page_table
from truehit.adapters.control_bench.record import (
    CLOCK,
    COLLECTOR,
    Record,
    Row,
    flat_of,
    rows_of,
)
from truehit.adapters.control_bench.rounds import Rounds, interleave
from truehit.adapters.control_bench.table import show, statements
from truehit.adapters.control_bench.works import MOST_ROUNDS, Output, Work, works
from truehit.adapters.vllm.inside.control_peer.clock import Measured
from truehit.adapters.vllm.inside.control_peer.workloads import WARM_STEPS, Churn, Decode


class Told:
    """A side that answers with prepared rounds and notes when it was asked."""

    def __init__(self, name: str, notes: list[str], cpu_us: Callable[[int], float]) -> None:
        self._name, self._notes, self._cpu_us = name, notes, cpu_us

    def settings(self) -> dict[str, Any]:
        return {}

    def measure(self, number: int) -> Measured:
        self._notes.append(f"{self._name}{number}")
        return Measured(10, 2 * self._cpu_us(number), self._cpu_us(number), {"tokens": 50})


def work(name: str, flat: bool = False, **goals: float) -> Work:
    workload = Churn(name, 1000, 64, 8, True, 10)
    return Work(workload, {Output(key): goal for key, goal in goals.items()}, flat)


def rounds(ours_us: list[float], peer_us: list[float], tokens: int = 50) -> Rounds:
    """One form of output; each figure is the CPU time of 10 operations."""
    ours = [Measured(10, 3 * us, us, {"tokens": 10 * tokens}) for us in ours_us]
    return Rounds(
        [Measured(10, 2 * us, us, {"tokens": 500}) for us in peer_us], {Output.OBJECTS: ours}
    )


def record(rows: list[Row], *chosen: Work) -> Record:
    return Record(
        peer="vLLM 1.2.3",
        python="3.11",
        rounds=7,
        clock=CLOCK,
        collector=COLLECTOR,
        rows=rows,
        flat=flat_of(list(chosen), rows),
        settings={},
    )


# --- turns ----------------------------------------------------------------------------------------


def test_the_sides_take_turns_and_the_first_round_is_not_kept() -> None:
    notes: list[str] = []
    ours = {
        Output.ARRAYS: Told("a", notes, lambda number: 1.0 + number),
        Output.OBJECTS: Told("o", notes, lambda number: 2.0),
    }
    peer = Told("p", notes, lambda number: 100.0 * number)
    done = interleave(peer, ours, 2, lambda: notes.append("settle"))
    turn = "p{0} settle a{0} settle o{0}"
    assert notes == " ".join(turn.format(number) for number in range(3)).split()
    assert [one.cpu_us for one in done.peer] == [100.0, 200.0]
    assert [one.cpu_us for one in done.ours[Output.ARRAYS]] == [2.0, 3.0]


# --- figures --------------------------------------------------------------------------------------


def test_a_row_holds_medians_of_one_operation() -> None:
    (row,) = rows_of(work("w"), rounds([10.0, 20.0, 90.0], [400.0, 300.0, 9000.0]))
    assert (row.ours_us, row.peer_us, row.ratio) == (2.0, 40.0, 20.0)
    assert (row.ours_wall_us, row.peer_wall_us) == (6.0, 80.0)
    assert row.wall_ratio == pytest.approx(80 / 6)
    assert row.lowest_ratio == 15.0
    assert (row.goal, row.reached, row.operations) == (None, None, 10)
    assert row.equal_work and row.ours_counts == {"tokens": 50.0}


@pytest.mark.parametrize(("goal", "reached"), [(19.9, True), (20.0, True), (20.1, False)])
def test_a_goal_is_reached_from_its_value_on(goal: float, reached: bool) -> None:
    (row,) = rows_of(work("w", objects=goal), rounds([20.0], [400.0]))
    assert (row.goal, row.reached) == (goal, reached)


def test_unequal_work_is_seen() -> None:
    (near,) = rows_of(work("w"), rounds([20.0], [400.0], tokens=51))
    assert near.equal_work
    more = rounds([20.0], [400.0])
    more.ours[Output.OBJECTS][0].counts["keys"] = 1
    (row,) = rows_of(work("w"), more)
    assert not row.equal_work
    (row,) = rows_of(work("w"), rounds([20.0], [400.0], tokens=40))
    assert not row.equal_work
    (line, _) = statements(record([row]))
    assert line == (
        "not the same work: w: an operation of ours does 40 tokens, of the peer 50 tokens"
    )


@pytest.mark.parametrize(("slowest", "reached"), [(130.0, True), (131.0, False)])
def test_flat_compares_the_pools(slowest: float, reached: bool) -> None:
    chosen = [work("small", flat=True), work("large", flat=True), work("other")]
    rows = [
        row
        for one, us in zip(chosen, (100.0, slowest, 900.0), strict=True)
        for row in rows_of(one, rounds([us], [us]))
    ]
    (flat,) = flat_of(chosen, rows)
    assert flat.ratio == pytest.approx(slowest / 100) and flat.reached is reached
    assert flat_of(chosen[:1], rows[:1]) == []


# --- words ----------------------------------------------------------------------------------------


def test_missed_goals_are_stated_with_the_figure_that_would_do() -> None:
    good, bad = work("good", objects=20.0), work("bad", objects=50.0)
    rows = [*rows_of(good, rounds([20.0], [400.0])), *rows_of(bad, rounds([20.0], [400.0]))]
    assert statements(record(rows)) == [
        "missed: bad, objects: 20.0x where 50x is the goal "
        "(0.8 µs would reach it, it takes 2.0 µs)",
        "1 of 2 goals reached",
    ]


def test_the_table_shows_every_row() -> None:
    rows = rows_of(work("the work", objects=50.0), rounds([20.0], [40_000.0]))
    console = Console(record=True, width=110, file=io.StringIO())
    show(record(rows), console)
    text = console.export_text()
    for part in ("the work", "objects", "2", "4,000", "2000.0x", "50x yes", "1 of 1 goals"):
        assert part in text


def test_the_record_has_the_agreed_fields() -> None:
    rows = rows_of(work("w", objects=1.0), rounds([20.0], [400.0]))
    data = json.loads(record(rows).model_dump_json())
    assert {"work", "output", "ours_us", "peer_us", "ratio", "goal"} <= data["rows"][0].keys()
    assert data["rows"][0]["output"] == "objects"


# --- what is measured -----------------------------------------------------------------------------


def test_the_works_cover_what_was_agreed() -> None:
    chosen = works()
    names = [one.workload.name for one in chosen]
    assert len(set(names)) == len(names)
    kinds = [type(one.workload).__name__ for one in chosen]
    assert {kind: kinds.count(kind) for kind in set(kinds)} == {
        "Decode": 12,
        "Prefill": 2,
        "Lookup": 4,
        "Hashing": 2,
        "Churn": 8,
    }
    decodes = [one.workload for one in chosen if not one.flat]
    for running in (256, 1000):
        found = [
            (work.shape.attention_tokens, work.shape.state_tokens, work.shape.drafts)
            for work in decodes
            if isinstance(work, Decode) and work.running == running
        ]
        assert found == [(16, 1600, 0), (1600, 1600, 0), (16, 1600, 3), (1600, 1600, 3)]


def test_every_decode_fits_its_pool() -> None:
    """Also with the most rounds: a preempted or finished request would be another workload."""
    for one in works():
        work = one.workload
        if isinstance(work, Decode):
            steps = 2 * WARM_STEPS + (1 + MOST_ROUNDS) * (WARM_STEPS + work.steps)
            assert work.output_tokens >= steps * (1 + work.shape.drafts)
            assert blocks_needed(work) < work.pool_blocks


def blocks_needed(work: Decode) -> int:
    total = 0
    for index in range(work.running):
        tokens = work.prompt_tokens(index) + work.output_tokens + work.shape.drafts
        # A state group keeps two blocks and the scratch of its drafts.
        total += -(-tokens // work.shape.attention_tokens) + 2 + work.shape.drafts
    return total


# --- the command ----------------------------------------------------------------------------------


def test_too_few_rounds_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["--rounds", "3"])
    assert caught.value.code == 2
    assert "3 is not between 7 and 15" in capsys.readouterr().err


def test_a_filter_that_matches_nothing_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--only", "no such work", "--json", str(tmp_path / "x.json")]) == 2
    assert "matches no workload" in capsys.readouterr().err
    assert not (tmp_path / "x.json").exists()


# --- the page -------------------------------------------------------------------------------------


def test_the_table_of_the_page_has_a_line_a_workload_with_times_ratios_and_goals() -> None:
    first, second = work("small", objects=3), work("large", objects=100)
    rows = [
        *rows_of(first, rounds([20.0] * 7, [100.0] * 7)),
        *rows_of(second, rounds([20.0] * 7, [100.0] * 7)),
    ]
    lines = page_table(record(rows, first, second)).splitlines()
    assert lines[0] == "| work | peer | arrays | lists | objects | goal |"
    assert lines[2:] == [
        "| small | 10.0 | 2.0 (5.0x) | 3x reached |",
        "| large | 10.0 | 2.0 (5.0x) | 100x **missed** |",
    ]

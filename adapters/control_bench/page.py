"""`python -m truehit.adapters.control_bench.page RECORD.json`: the table of docs/benchmarks.md."""

import sys
from itertools import groupby
from pathlib import Path

from truehit.adapters.control_bench.record import Record, Row
from truehit.adapters.control_bench.works import Output

HEAD = ("work", "peer", *(output.value for output in Output), "goal")


def page_table(record: Record) -> str:
    """One line a workload: the peer's time, ours in each form of output with its ratio, goals."""
    lines = ["| " + " | ".join(HEAD) + " |", "|" + "---|" * len(HEAD)]
    for work, group in groupby(record.rows, key=lambda row: row.work):
        rows = list(group)
        times = [f"{_microseconds(row.ours_us)} ({_ratio(row.ratio)}x)" for row in rows]
        goals = ", ".join(_goal(row) for row in reversed(rows) if row.goal is not None)
        cells = (work, _microseconds(rows[0].peer_us), *times, goals)
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _goal(row: Row) -> str:
    form = "" if row.output is Output.OBJECTS else f"{row.output.value} "
    return f"{form}{row.goal:g}x {'reached' if row.reached else '**missed**'}"


def _microseconds(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def _ratio(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}"


if __name__ == "__main__":
    print(page_table(Record.model_validate_json(Path(sys.argv[1]).read_text(encoding="utf-8"))))

"""The benchmark for the eye: a table, and which goals were missed."""

from rich.console import Console
from rich.table import Table

from truehit.adapters.control_bench.record import Flat, Record, Row


def show(record: Record, console: Console) -> None:
    """Print the table, then one line for each goal that was missed."""
    title = f"one operation, CPU time, median of {record.rounds} rounds, beside {record.peer}"
    table = Table(title=title, title_justify="left", header_style="bold", show_edge=False)
    table.add_column("work", overflow="fold")
    table.add_column("output")
    for heading in ("ours µs", "peer µs", "ratio", "goal"):
        table.add_column(heading, justify="right", no_wrap=True)
    last = ""
    for row in record.rows:
        if last not in ("", row.work):
            table.add_section()
        table.add_row(*_cells(row, row.work != last))
        last = row.work
    console.print(table)
    for line in statements(record):
        console.print(line, highlight=False)


def statements(record: Record) -> list[str]:
    """What the figures say about the goals, in words."""
    asked = [(row, row.goal) for row in record.rows if row.goal is not None]
    missed = [(row, goal) for row, goal in asked if not row.reached]
    lines = [_missed(row, goal) for row, goal in missed]
    lines += [_flat(flat) for flat in record.flat]
    # The forms of output share their decisions, so one of them speaks for all.
    unequal = {row.work: row for row in record.rows if not row.equal_work}
    lines += [_unequal(row) for row in unequal.values()]
    lines.append(f"{len(asked) - len(missed)} of {len(asked)} goals reached")
    return lines


def _cells(row: Row, first: bool) -> tuple[str, ...]:
    goal = "" if row.goal is None else f"{row.goal:g}x {'yes' if row.reached else 'NO'}"
    return (
        row.work if first else "",
        row.output.value,
        _microseconds(row.ours_us),
        _microseconds(row.peer_us),
        f"{row.ratio:.1f}x",
        goal,
    )


def _microseconds(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def _missed(row: Row, goal: float) -> str:
    return (
        f"missed: {row.work}, {row.output.value}: {row.ratio:.1f}x where {goal:g}x is the goal "
        f"({row.peer_us / goal:.1f} µs would reach it, it takes {row.ours_us:.1f} µs)"
    )


def _flat(flat: Flat) -> str:
    word = "reached" if flat.reached else "missed"
    return (
        f"{word}: a step in the dearest pool costs {flat.ratio:.2f}x one in the cheapest, "
        f"{flat.output.value}, goal {flat.goal:g}x ({flat.fastest_us:.1f} to "
        f"{flat.slowest_us:.1f} µs)"
    )


def _unequal(row: Row) -> str:
    return (
        f"not the same work: {row.work}: an operation of ours does {_counted(row.ours_counts)}, "
        f"of the peer {_counted(row.peer_counts)}"
    )


def _counted(counts: dict[str, float]) -> str:
    return ", ".join(f"{value:,.6g} {name}" for name, value in counts.items()) or "nothing"

"""`python -m truehit.adapters.control_bench`: our control plane beside a real vLLM scheduler."""

import argparse
import os
import platform
import sys
from pathlib import Path
from typing import Any

from rich.console import Console

from truehit.adapters.control_bench.ours import prepare
from truehit.adapters.control_bench.peer import PACKAGE, PeerSession
from truehit.adapters.control_bench.record import (
    CLOCK,
    COLLECTOR,
    Record,
    Row,
    flat_of,
    rows_of,
)
from truehit.adapters.control_bench.rounds import interleave
from truehit.adapters.control_bench.table import show
from truehit.adapters.control_bench.works import (
    LEAST_ROUNDS,
    MOST_ROUNDS,
    PEER_VERSION,
    Output,
    Work,
    works,
)
from truehit.adapters.vllm.environment import build
from truehit.adapters.vllm.inside.control_peer.clock import settle
from truehit.adapters.vllm.problems import BuildError, PeerError
from truehit.adapters.vllm.process import Process


def main(arguments: list[str] | None = None) -> int:
    """Measure, write the record, show the table. A missed goal is a figure, not a failure.

    Returns:
        0, or 2 when something kept it from measuring.
    """
    options = _options(arguments)
    console, notes = Console(), Console(stderr=True)
    chosen = [work for work in works() if options.only in work.workload.name]
    if not chosen:
        notes.print(f"--only {options.only!r} matches no workload; `decode` matches some")
        return 2
    try:
        environment = build(PEER_VERSION, lambda line: notes.print(line, highlight=False))
        with Process(environment, PACKAGE) as process:
            record = _measure(process, chosen, options.rounds, notes)
    except (BuildError, PeerError) as problem:
        notes.print(str(problem), highlight=False, soft_wrap=True)
        return 2
    if options.json is not None:
        _store(options.json, record)
    show(record, console)
    return 0


def _measure(process: Process, chosen: list[Work], rounds: int, notes: Console) -> Record:
    rows: list[Row] = []
    settings: dict[str, dict[str, Any]] = {}
    for place, work in enumerate(chosen, 1):
        workload = work.workload
        notes.print(f"[{place}/{len(chosen)}] {workload.name}", highlight=False, markup=False)
        peer = PeerSession(process, workload)
        ours = {output: prepare(workload, output) for output in Output}
        settings[workload.name] = {
            "peer": peer.settings(),
            "ours": ours[Output.OBJECTS].settings(),
        }
        rows += rows_of(work, interleave(peer, ours, rounds, settle))
    return Record(
        peer=f"vLLM {PEER_VERSION}",
        python=platform.python_version(),
        rounds=rounds,
        clock=CLOCK,
        collector=COLLECTOR,
        rows=rows,
        flat=flat_of(chosen, rows),
        settings=settings,
    )


def _store(file: Path, record: Record) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    scratch = file.with_name(f"{file.name}.new")
    scratch.write_text(record.model_dump_json(indent=1) + "\n", encoding="utf-8")
    os.replace(scratch, file)


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="control_bench", description=__doc__)
    parser.add_argument(
        "--rounds", type=_rounds, default=LEAST_ROUNDS, help=f"{LEAST_ROUNDS} to {MOST_ROUNDS}"
    )
    parser.add_argument("--only", default="", help="workloads whose name holds this text")
    parser.add_argument("--json", type=Path, help="where the record is written")
    return parser.parse_args(arguments)


def _rounds(text: str) -> int:
    if not text.isdigit() or not LEAST_ROUNDS <= int(text) <= MOST_ROUNDS:
        raise argparse.ArgumentTypeError(f"{text} is not between {LEAST_ROUNDS} and {MOST_ROUNDS}")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())

"""JSON lines in, JSON lines out: `prepare` a workload, `measure` it in rounds, `close`."""

import json
from collections.abc import Callable
from dataclasses import asdict
from typing import Any, Protocol, TextIO

from .clock import Measured, settle
from .workloads import Workload, from_data


class Task(Protocol):
    """A workload made ready."""

    def settings(self) -> dict[str, Any]:
        """What it runs with, read back from what was built."""

    def measure(self, number: int) -> Measured:
        """Do one round; nothing that is not the workload is on the clock."""


def serve(requests: TextIO, answers: TextIO, make: Callable[[Workload], Task]) -> None:
    """Answer every line with one line, until `close` or the end of the input."""
    task: Task | None = None
    for line in requests:
        order: dict[str, Any] = json.loads(line)
        try:
            match order:
                case {"do": "prepare", "workload": data}:
                    # The old one goes first: two pools of a million blocks need not fit.
                    task = None
                    task = make(from_data(data))
                    answer: dict[str, Any] = {"ready": task.settings()}
                case {"do": "measure", "round": number} if task is not None:
                    settle()
                    answer = {"measured": asdict(task.measure(number))}
                case {"do": "close"}:
                    return
                case _:
                    answer = {"problem": f"cannot do {order.get('do')!r} now"}
        except Exception as problem:
            # Whatever goes wrong in a release is an answer; the other side decides what it means.
            answer = {"problem": f"{type(problem).__name__}: {problem}"}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()

"""A progress bar for long work: on a terminal, on stderr, gone when the work is done."""

import sys
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn


class Steps:
    """Counts finished pieces of work; silent when stderr is no terminal."""

    def __init__(self, title: str) -> None:
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=Console(stderr=True),
            transient=True,
            disable=not sys.stderr.isatty(),
        )
        self._task = self._progress.add_task(title, total=None)

    def __enter__(self) -> "Steps":
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._progress.stop()

    def advance(self, done: int, total: int, name: str) -> None:
        """`done` of `total` pieces are finished, `name` is the latest."""
        self._progress.update(self._task, completed=done, total=total, description=name)

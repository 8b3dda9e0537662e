"""A process that compiles, a job at a time, with a limit of time a job."""

import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from typing import IO

from truehit.kernels.gate.measurement import ANSWER, FOUND, JOB, Answer, Found, Job, Rejected
from truehit.kernels.gate.toolchain import Toolchain

JOB_LIMIT_SECONDS = 300.0


class ChildLost(Exception):
    """A child that ended, crashed or was late; one line."""


class Child:
    """One process; `found` is what it said when it started.

    Raises:
        ChildLost: it did not start.
    """

    def __init__(self, toolchain: Toolchain, limit_seconds: float = JOB_LIMIT_SECONDS) -> None:
        self._limit_seconds = limit_seconds
        # Closed by `close`: it lives as long as the process.
        self._errors: IO[str] = tempfile.TemporaryFile(  # noqa: SIM115
            "w+", encoding="utf-8", errors="replace"
        )
        self._process = subprocess.Popen(
            [sys.executable, "-m", "truehit.kernels.gate.inside"],
            env=toolchain.variables(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
        )
        try:
            self.found: Found = FOUND.validate_json(self._line())
        except ChildLost:
            self.close()
            raise

    def ask(self, job: Job) -> Answer:
        """Compile one job.

        Raises:
            ChildLost: the child is gone, and with it the answer.
        """
        assert self._process.stdin is not None
        before = self._errors.seek(0, 2)
        try:
            self._process.stdin.write(JOB.dump_json(job) + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise ChildLost(self._how_it_ended()) from None
        answer = ANSWER.validate_json(self._line())
        if isinstance(answer, Rejected) and (error := self._first_error(before)) is not None:
            return Rejected(f"{answer.rejection} ({error})")
        return answer

    def close(self) -> None:
        """End it."""
        assert self._process.stdin is not None and self._process.stdout is not None
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        self._process.kill()
        self._process.wait()
        self._process.stdout.close()
        self._errors.close()

    def _line(self) -> bytes:
        assert self._process.stdout is not None
        late = threading.Event()
        watch = threading.Timer(self._limit_seconds, self._end_late, (late,))
        watch.daemon = True
        watch.start()
        line = self._process.stdout.readline()
        watch.cancel()
        watch.join()
        if late.is_set():
            raise ChildLost(f"no answer in {self._limit_seconds:g} s")
        if not line.endswith(b"\n"):
            raise ChildLost(self._how_it_ended())
        return line

    def _end_late(self, late: threading.Event) -> None:
        late.set()
        self._process.kill()

    def _how_it_ended(self) -> str:
        code = self._process.wait()
        self._errors.seek(0)
        lines = self._errors.read().strip().splitlines()
        return f"its process ended with code {code}: {lines[-1] if lines else 'it wrote nothing'}"

    def _first_error(self, position: int) -> str | None:
        """MLIR writes why a pass failed, and raises only that one did."""
        self._errors.seek(position)
        errors = (line.strip() for line in self._errors if "error:" in line)
        return next(errors, None)

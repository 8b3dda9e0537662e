"""A job in processes of its own, until a deadline that they cannot exceed.

A process that ends early is followed by another one for what is left, without the item it ended
at; one that is late is killed with all it started. Either way every item that has no record has a
reason."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace
from select import select
from typing import IO

from truehit.proofs.gpu.measuring import Job
from truehit.proofs.gpu.place import Place
from truehit.proofs.gpu.record import LOST, Record, Section, Unobserved, from_line

COMMAND = (sys.executable, "-m", "truehit.proofs.gpu.child")
LEAST_LEFT_SECONDS = 3.0
"""No process is started for less."""
Emit = Callable[[Record], None]


def surroundings(job: Job) -> Mapping[str, str]:
    """Of a child. The interpreter where kernels are checked without a GPU, and nowhere else; what
    is tuned in one process is known to the next."""
    interpreting = job.place is Place.HOST and job.section is Section.CORRECTNESS
    kept = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    return kept | {
        # The folder that a user stands in has a folder named kernels.
        "PYTHONSAFEPATH": "1",
        "TRITON_CACHE_AUTOTUNING": "1",
        **({"TRITON_INTERPRET": "1"} if interpreting else {}),
    }


def supervise(job: Job, until: float, emit: Emit, command: tuple[str, ...] = COMMAND) -> None:
    """Emits a record for every item of the job, not later than `until` on the monotonic clock."""
    left = list(job.items)
    while left and until - time.monotonic() > LEAST_LEFT_SECONDS:
        before = len(left)
        how = _one_process(replace(job, items=tuple(left)), until, emit, left, command)
        if how and left:
            emit(Unobserved(left.pop(0), how))
        elif len(left) == before and time.monotonic() < until:
            emit(Unobserved(left.pop(0), "its process ended and said nothing of it"))
    for item in left:
        emit(Unobserved(item, "no time was left"))


def _one_process(
    job: Job, until: float, emit: Emit, left: list[str], command: tuple[str, ...]
) -> str:
    """Takes what is answered off `left`; says what ended it before its next item, if anything."""
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as complaints:
        process = subprocess.Popen(
            command,
            env=surroundings(job),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=complaints,
            start_new_session=True,
        )
        assert process.stdin is not None and process.stdout is not None
        try:
            with contextlib.suppress(BrokenPipeError), process.stdin:
                process.stdin.write(json.dumps(asdict(job)).encode())
            for line in _lines(process.stdout, until):
                try:
                    record = from_line(line)
                except ValueError as error:
                    return str(error)
                emit(record)
                with contextlib.suppress(ValueError):
                    left.remove(record.item)
            return "" if time.monotonic() >= until else _ending(process, complaints)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            process.stdout.close()


def _lines(stream: IO[bytes], until: float) -> Iterator[str]:
    """Whole lines of a pipe, until it is closed or the time is over."""
    held = b""
    while True:
        ready, _, _ = select([stream], [], [], max(until - time.monotonic(), 0.0))
        read = os.read(stream.fileno(), 65536) if ready else b""
        if not read:
            return
        *whole, held = (held + read).split(b"\n")
        yield from (line.decode(errors="replace") for line in whole)


def _ending(process: subprocess.Popen[bytes], complaints: IO[str]) -> str:
    """How a process ended that closed its answers: empty if by itself, after an answer."""
    try:
        code = process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        return "its process closed its answers and went on"
    if code in (0, LOST):
        return ""
    complaints.seek(0)
    said = [line.strip() for line in complaints if line.strip()]
    how = f"signal {-code}" if code < 0 else f"code {code}"
    return f"its process ended with {how}: {said[-1] if said else 'it wrote nothing'}"

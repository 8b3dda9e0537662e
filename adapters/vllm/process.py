"""A process inside an environment of vLLM that answers every line with one line.

It has a limit of time an answer, and one of memory. Memory is limited by what the process may
write to (RLIMIT_DATA), which follows what it uses: a scheduler with a pool of a million blocks
writes 1.1 GiB and resides in 1.1 GiB. The address space (RLIMIT_AS) would be the wrong measure: it
counts the files of torch that are only read, and the tens of GiB that its CUDA build reserves and
never touches. Only Linux can limit a process that runs; elsewhere memory has no limit.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from truehit.adapters.vllm import inside
from truehit.adapters.vllm.environment import Environment
from truehit.adapters.vllm.problems import PeerEnded, PeerError, PeerLate

ANSWER_LIMIT_SECONDS = 900.0
# The first answer waits for the imports, which may have to be compiled.
START_LIMIT_SECONDS = 300.0
MEMORY_LIMIT_BYTES = 4 << 30
CLOSE_LIMIT_SECONDS = 30
OUT_OF_MEMORY = ("MemoryError", "bad_alloc", "Cannot allocate memory", "can't allocate memory")


class Process:
    """A package of `inside`, started; close it, or use it in a `with` statement."""

    def __init__(
        self,
        environment: Environment,
        package: str,
        *,
        answer_limit_seconds: float = ANSWER_LIMIT_SECONDS,
        start_limit_seconds: float = START_LIMIT_SECONDS,
        memory_limit_bytes: int = MEMORY_LIMIT_BYTES,
    ) -> None:
        self._name = f"{package} inside {environment.name}"
        self._answer_limit_seconds = answer_limit_seconds
        self._memory_limit_bytes = memory_limit_bytes
        self._next_limit_seconds = start_limit_seconds + answer_limit_seconds
        # Closed by `close`: it lives as long as the process.
        self._errors: IO[str] = tempfile.TemporaryFile(  # noqa: SIM115
            "w+", encoding="utf-8", errors="replace"
        )
        folder = Path(inside.__file__).resolve().parent
        try:
            self._process = subprocess.Popen(
                [str(environment.python), "-m", package],
                env=environment.variables(folder),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                encoding="utf-8",
                errors="replace",
                # What the driver starts must be found when the driver has to be ended.
                start_new_session=True,
            )
        except OSError as problem:
            self._errors.close()
            raise PeerEnded(f"{self._name} cannot be started ({problem.strerror})") from None
        limit_memory(self._process.pid, memory_limit_bytes)

    def ask(self, **order: Any) -> dict[str, Any]:
        """Send one order and wait for its answer.

        Raises:
            PeerLate: no answer in its time; the process was ended.
            PeerEnded: the process is gone.
            PeerError: the answer is a problem; the process lives on. Each is one line.
        """
        limit_seconds = self._next_limit_seconds
        self._next_limit_seconds = self._answer_limit_seconds
        late = threading.Event()
        watch = threading.Timer(limit_seconds, self._end_late, (late,))
        watch.daemon = True
        watch.start()
        try:
            line = self._exchange(json.dumps(order) + "\n")
        except BaseException:
            # An answer that nobody waited for would be taken for that of the next order.
            self._end()
            raise
        finally:
            watch.cancel()
            watch.join()
        if late.is_set():
            raise PeerLate(f"{self._name}: no answer in {limit_seconds:g} s")
        if not line.endswith("\n"):
            raise self._died()
        answer = self._read(line)
        if "problem" in answer:
            raise PeerError(f"{self._name}: {answer['problem']}")
        return answer

    def close(self) -> None:
        """End it; a process that does not end by itself is ended."""
        assert self._process.stdin is not None and self._process.stdout is not None
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(CLOSE_LIMIT_SECONDS)
        self._end()
        self._process.stdout.close()
        self._errors.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _exchange(self, line: str) -> str:
        """The answer; not a whole line where the process ended before it."""
        assert self._process.stdin is not None and self._process.stdout is not None
        try:
            self._process.stdin.write(line)
            self._process.stdin.flush()
        except BrokenPipeError:
            return ""
        return self._process.stdout.readline()

    def _read(self, line: str) -> dict[str, Any]:
        with suppress(json.JSONDecodeError):
            answer = json.loads(line)
            if isinstance(answer, dict):
                return answer
        self._end()
        raise PeerEnded(f"{self._name} was ended: {line[:60]!r} is no answer")

    def _end_late(self, late: threading.Event) -> None:
        late.set()
        self._end()

    def _end(self) -> None:
        """End the process and whatever it started."""
        # Once it was waited for, its number may be another's.
        if self._process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def _died(self) -> PeerEnded:
        code = self._process.wait()
        self._errors.seek(0)
        lines = self._errors.read().strip().splitlines()
        last = lines[-1] if lines else "it wrote nothing"
        how = f"with exit code {code}" if code >= 0 else f"by {signal.Signals(-code).name}"
        limit = ""
        if any(word in last for word in OUT_OF_MEMORY):
            limit = f" (its memory limit is {self._memory_limit_bytes / (1 << 20):,.0f} MiB)"
        return PeerEnded(f"{self._name} ended {how}: {last}{limit}")


def limit_memory(pid: int, limit_bytes: int) -> None:
    """Of a process that was just started; what it starts has the same limit each."""
    # Set from outside: code between fork and exec is not safe in a process that has threads.
    if sys.platform != "linux":
        return
    import resource

    with suppress(ProcessLookupError):
        _, hard = resource.prlimit(pid, resource.RLIMIT_DATA)
        soft = limit_bytes if hard == resource.RLIM_INFINITY else min(limit_bytes, hard)
        resource.prlimit(pid, resource.RLIMIT_DATA, (soft, hard))

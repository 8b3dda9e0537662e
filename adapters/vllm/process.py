"""A process inside an environment of vLLM that answers every line with one line."""

import json
import select
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from truehit.adapters.vllm import inside
from truehit.adapters.vllm.environment import Environment
from truehit.adapters.vllm.problems import PeerError

ANSWER_LIMIT_SECONDS = 900
CLOSE_LIMIT_SECONDS = 30


class Process:
    """A package of `inside`, started; close it, or use it in a `with` statement."""

    def __init__(self, environment: Environment, package: str) -> None:
        self._name = f"{package} inside vllm {environment.version}"
        # Closed by `close`: it lives as long as the process.
        self._errors: IO[str] = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115
        folder = Path(inside.__file__).resolve().parent
        self._process = subprocess.Popen(
            [str(environment.python), "-m", package],
            env=environment.variables(folder),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
        )

    def ask(self, **order: Any) -> dict[str, Any]:
        """Send one order and wait for its answer.

        Raises:
            PeerError: the process died, does not answer, or answers with a problem; one line.
        """
        assert self._process.stdin is not None and self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(order) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise self._died() from None
        # One line an answer, so nothing of it can wait in the reader's buffer.
        if not select.select([self._process.stdout], [], [], ANSWER_LIMIT_SECONDS)[0]:
            raise PeerError(f"{self._name}: no answer in {ANSWER_LIMIT_SECONDS} s")
        line = self._process.stdout.readline()
        if not line:
            raise self._died()
        answer: dict[str, Any] = json.loads(line)
        if "problem" in answer:
            raise PeerError(f"{self._name}: {answer['problem']}")
        return answer

    def close(self) -> None:
        """End it; a process that does not end by itself is ended."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.close()
            self._process.wait(CLOSE_LIMIT_SECONDS)
        except (BrokenPipeError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        finally:
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

    def _died(self) -> PeerError:
        code = self._process.wait()
        self._errors.seek(0)
        lines = self._errors.read().strip().splitlines()
        last = lines[-1] if lines else "it wrote nothing"
        return PeerError(f"{self._name} ended with exit code {code}: {last}")

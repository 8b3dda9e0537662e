"""A case that dies fails alone: kernels are interpreted in a process of their own, which checks no
bounds, and the process that tests never interprets.

A case is a function `case_*` of `cases/<name>.py`; it takes nothing and asserts. `Isolated` asks
one process for one case after another and starts a fresh one when that died or was late. A test
file is

    @pytest.mark.parametrize("case", case_names("pages"))
    def test_pages(isolated: Isolated, case: str) -> None:
        isolated.expect("pages", case)"""

import ast
import contextlib
import importlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import traceback
from dataclasses import dataclass
from pathlib import Path
from select import select
from types import TracebackType
from typing import Self

TESTS = Path(__file__).resolve().parents[1]
PACKAGE = "kernels.cases"
LIMIT_SECONDS = 120.0
START_SECONDS = 100.0
TOLD_CHARACTERS = 4000
"""Of what a dying process said."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """`said`: empty if the case passed, else why it did not."""

    case: str
    said: str


def case_names(name: str, package: str = PACKAGE) -> list[str]:
    """The cases of a module, in its order, read without importing it (and Triton with it)."""
    path = TESTS.joinpath(*package.split("."), f"{name}.py")
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    names = [function for function in functions if function.startswith("case_")]
    if not names:
        raise ValueError(f"{path.name}: 0 functions named case_*, at least 1 expected")
    return names


class Isolated:
    """A process that interprets; started by the first case, ended on leaving the context."""

    def __init__(self, limit_seconds: float = LIMIT_SECONDS, package: str = PACKAGE) -> None:
        self._limit_seconds = limit_seconds
        self._package = package
        self._process: subprocess.Popen[bytes] | None = None
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115 (closed with the context)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        self._end()
        self._complaints.close()

    def run(self, name: str, case: str) -> Outcome:
        """What became of one case of `cases/<name>.py`."""
        process = self._process
        if process is None:
            process = self._start()
            if _answer(process, START_SECONDS) is None:
                return Outcome(case, self._death(process, START_SECONDS))
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(f"{self._package}.{name} {case}\n".encode())
            process.stdin.flush()
        answer = _answer(process, self._limit_seconds)
        if answer is None:
            return Outcome(case, self._death(process, self._limit_seconds))
        return Outcome(case, str(json.loads(answer)["said"]))

    def expect(self, name: str, case: str) -> None:
        """The assertion of a test: the case passes."""
        outcome = self.run(name, case)
        assert not outcome.said, f"{name}.{case}: {outcome.said}"

    def _start(self) -> subprocess.Popen[bytes]:
        inherited = os.environ.get("PYTHONPATH")
        paths = [str(TESTS)] if inherited is None else [str(TESTS), inherited]
        surroundings = {
            **os.environ,
            "TRITON_INTERPRET": "1",
            "OMP_NUM_THREADS": "1",
            "PYTHONPATH": os.pathsep.join(paths),
        }
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-X", "faulthandler", "-m", "kernels.harness"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._complaints,
            env=surroundings,
        )
        return self._process

    def _death(self, process: subprocess.Popen[bytes], limit_seconds: float) -> str:
        """How it ended, and its last words."""
        try:
            code = process.wait(timeout=1.0)
        except subprocess.TimeoutExpired:
            how = f"took longer than {limit_seconds:g} s"
        else:
            how = f"died with signal {-code}" if code < 0 else f"ended the process with {code}"
        self._end()
        self._complaints.seek(0)
        words = self._complaints.read().decode(errors="replace")[-TOLD_CHARACTERS:]
        self._complaints.seek(0)
        self._complaints.truncate()
        return f"{how}\n{words}".strip()

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            assert stream is not None
            with contextlib.suppress(BrokenPipeError):
                stream.close()


def _answer(process: subprocess.Popen[bytes], limit_seconds: float) -> bytes | None:
    """A line; None once the process has ended or the time is over."""
    assert process.stdout is not None
    until = time.monotonic() + limit_seconds
    line = b""
    while not line.endswith(b"\n"):
        ready, _, _ = select([process.stdout], [], [], max(0.0, until - time.monotonic()))
        read = os.read(process.stdout.fileno(), 65536) if ready else b""
        if not read:
            return None
        line += read
    return line


def said_by(module: str, case: str) -> str:
    """Runs a case here; empty if it passed."""
    try:
        getattr(importlib.import_module(module), case)()
    except Exception:
        return traceback.format_exc()
    return ""


def serve() -> None:
    """The other side of `Isolated`: orders on stdin; on what was stdout, a line once ready and one
    of JSON for each order."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    from truehit.kernels.interpreter import activate

    activate()
    answers.write("ready\n")
    answers.flush()
    for order in sys.stdin:
        module, case = order.split()
        answers.write(json.dumps({"case": case, "said": said_by(module, case)}) + "\n")
        answers.flush()


if __name__ == "__main__":
    serve()

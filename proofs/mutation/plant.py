"""Plant one fault in a forked process and ask about it there.

Everything that depends on the changed file is imported again from a copy of the package; the
caller's modules stay as they are. Answers are plain values: classes of two imports do not mix.
"""

import importlib
import signal
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType

from truehit.proofs.mutation.fault import Fault, apply
from truehit.proofs.mutation.overlay import module_of, overlay, reimport

Answer = tuple[str, str, str, float]
"""`caught`, `survived`, `tested` or `invalid`; which judge; what it saw; seconds."""

Notice = tuple[str, str] | None
"""Who noticed something, and what."""

AFFECTED = {
    "spec": ("truehit",),
    "reference": ("truehit.reference", "truehit.proofs"),
    "engine": ("truehit.engine", "truehit.proofs.differ.engines"),
}
"""What is imported again: a subject and what depends on it."""
WITNESS_SECONDS = 60


def judge_fault(
    package: Path,
    fault: Fault,
    within: Path,
    ask: Callable[[], Notice],
    test: Callable[[Path], Notice],
    test_first: bool = False,
) -> Answer:
    """Load the fault from a folder within the given one, ask the judges, then the tests (or the
    tests first); the first that notices it."""
    started = time.monotonic()
    text = (package / fault.file).read_text(encoding="utf-8")

    def answer(kind: str, judge: str, seen: str) -> Answer:
        return kind, judge, seen, time.monotonic() - started

    with overlay(package, {fault.file: apply(text, fault)}, within) as root:
        reimport(root, AFFECTED[fault.subject])
        try:
            loaded = importlib.import_module(module_of(fault.file))
        except Exception as error:
            return answer("invalid", "load", f"{type(error).__name__}: {error}")
        if not str(loaded.__file__).startswith(str(root)):
            raise RuntimeError(f"{fault.file} was loaded from {loaded.__file__}, not from {root}")
        asked = [("caught", ask), ("tested", lambda: test(root))]
        for kind, question in reversed(asked) if test_first else asked:
            found = question()
            if found is not None:
                return answer(kind, *found)
    return answer("survived", "", "")


def find_witnesses(package: Path, fault: Fault, silenced: dict[str, str], file: Path) -> list[str]:
    """Keep traces on which the fault's laws speak, with other files silenced; the silent laws."""
    signal.signal(signal.SIGPROF, _stop)
    signal.setitimer(signal.ITIMER_PROF, WITNESS_SECONDS)
    text = (package / fault.file).read_text(encoding="utf-8")
    with overlay(package, {fault.file: apply(text, fault), **silenced}, file.parent) as root:
        reimport(root, AFFECTED["spec"])
        witness = importlib.import_module("truehit.proofs.mutation.witness")
        silent: list[str] = witness.collect(fault.what, fault.says, file)
    return silent


def _stop(number: int, frame: FrameType | None) -> None:
    raise SystemExit("no witness within the limit")

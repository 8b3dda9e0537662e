"""The unit tests of a room, run on a faulty copy of the package: asked last, and counted apart."""

import os
import subprocess
import sys
from pathlib import Path

LIMIT_SECONDS = 180
DEAR = ("test_fuzz", "test_determinism", "test_size")
"""Drawn anew by the judges, or slow: minutes over all survivors."""
TESTS = {
    "reference": ("tests/reference", *(f"--ignore=tests/reference/{name}.py" for name in DEAR)),
    "spec": (
        "tests/spec",
        "tests/proofs/mutation/test_law_survivors.py",
        "tests/proofs/mutation/test_predicate_survivors.py",
    ),
}


def failing_test(checkout: Path, subject: str, root: Path) -> str | None:
    """The first test of a subject that fails with the package of `root`, or None."""
    if subject not in TESTS:
        return None
    options = ("-x", "-q", "-p", "no:cacheprovider", "--benchmark-disable", "--no-header")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *TESTS[subject]],
        cwd=checkout,
        env=os.environ | {"PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=LIMIT_SECONDS,
        check=False,
    )
    if done.returncode == 0:
        return None
    lines = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return lines[0].partition(" - ")[0] if lines else f"exit code {done.returncode}"

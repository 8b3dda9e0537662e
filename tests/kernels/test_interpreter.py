"""bf16 under the interpreter is what torch computes, and a process that cannot have it is told."""

import os
import subprocess
import sys

import pytest

from .harness import Isolated, case_names


@pytest.mark.parametrize("case", case_names("interpreter"))
def test_interpreter(isolated: Isolated, case: str) -> None:
    isolated.expect("interpreter", case)


def test_a_process_that_does_not_interpret_is_told_in_one_line() -> None:
    surroundings = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    program = "from truehit.kernels.interpreter import activate; activate()"
    ended = subprocess.run(
        [sys.executable, "-c", program], env=surroundings, capture_output=True, text=True
    )
    assert ended.returncode == 1
    assert ended.stderr.splitlines()[-1] == (
        "RuntimeError: kernels/interpreter.py: Triton was imported with TRITON_INTERPRET unset; "
        "start the process with TRITON_INTERPRET=1"
    )

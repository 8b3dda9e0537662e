"""What decides, proves and judges works without torch and Triton; what computes says in one line
what is missing."""

import subprocess
import sys

import pytest

WITHOUT = """
import sys
for name in ("torch", "triton", "safetensors", "transformers", "fla"):
    sys.modules[name] = None
"""


def run(code: str) -> subprocess.CompletedProcess[str]:
    """In a process of its own, in which these libraries cannot be imported."""
    command = [sys.executable, "-P", "-c", WITHOUT + code]
    return subprocess.run(command, capture_output=True, text=True, timeout=240)


@pytest.mark.parametrize(
    "module",
    [
        "truehit.engine.api",
        "truehit.engine.run",
        "truehit.proofs.verify",
        "truehit.proofs.obligations.catalogue",
        "truehit.proofs.differ.run",
        "truehit.adapters.vllm.subject",
        "truehit.cli.app",
    ],
)
def test_a_module_needs_no_torch(module: str) -> None:
    done = run(f"import {module}")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    "arguments",
    [["demo", "--model"], ["diff", "--back-end", "torch"], ["diff", "--back-end", "interpreter"]],
    ids=" ".join,
)
def test_what_computes_says_what_to_install(arguments: list[str]) -> None:
    done = run(f"import sys; sys.argv[1:] = {arguments}; from truehit.cli import main; main()")
    assert done.returncode == 2
    assert done.stderr.strip().count("\n") == 0
    assert "pip install 'truehit[engine]' works" in done.stderr

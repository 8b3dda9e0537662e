"""Findings as pytest files that need nothing but vLLM, torch and pytest; each is run before it is
kept."""

from truehit.adapters.vllm.write_tests.finding import Staged, UnwritableError, WrittenFinding
from truehit.adapters.vllm.write_tests.keep import Kept, Rejected, keep
from truehit.adapters.vllm.write_tests.write import file_name, render, write

__all__ = [
    "Kept",
    "Rejected",
    "Staged",
    "UnwritableError",
    "WrittenFinding",
    "file_name",
    "keep",
    "render",
    "write",
]

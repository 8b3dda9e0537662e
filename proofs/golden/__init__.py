"""Golden numbers: figures of five public threads, computed again by the oracle and its rules."""

from truehit.proofs.golden.results import run_entry, run_golden
from truehit.proofs.golden.verdict import GoldenResult

__all__ = ["GoldenResult", "run_entry", "run_golden"]

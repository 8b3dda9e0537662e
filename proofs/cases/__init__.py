"""Field cases: defects that were reported in public, as scenarios with their right values.

Each file of `data` is one case; it runs on any engine that writes a trace."""

from truehit.proofs.cases.case import DATA, Case, Control, Refusal, load_cases, load_refusals
from truehit.proofs.cases.compare import differences
from truehit.proofs.cases.facets import FACETS

__all__ = [
    "DATA",
    "FACETS",
    "Case",
    "Control",
    "Refusal",
    "differences",
    "load_cases",
    "load_refusals",
]

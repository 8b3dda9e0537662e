"""Python source in, z3 terms out: exactly, for every block size, or a refusal that names the line.

`lift_function(rule, domain)` lifts one of our own rules, `lift_source(tree, name, domain)` a method
of any source tree. `IntegerDomain` computes with plain integers, `RadixDomain` with digits, so that
a proof covers all block sizes at once.
"""

from truehit.proofs.lift.api import lift_call, lift_function, lift_source
from truehit.proofs.lift.domain import Domain, Value
from truehit.proofs.lift.evaluator import Assignment
from truehit.proofs.lift.integer import IntegerDomain
from truehit.proofs.lift.lifted import Definedness, Lifted, Place, Provenance
from truehit.proofs.lift.radix import RadixDomain
from truehit.proofs.lift.tree import SourceTree
from truehit.proofs.lift.unsupported import Unsupported
from truehit.proofs.lift.values import Maybe

__all__ = [
    "Assignment",
    "Definedness",
    "Domain",
    "IntegerDomain",
    "Lifted",
    "Maybe",
    "Place",
    "Provenance",
    "RadixDomain",
    "SourceTree",
    "Unsupported",
    "Value",
    "lift_call",
    "lift_function",
    "lift_source",
]

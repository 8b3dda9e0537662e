"""How sure a finding is: what was replayed, and what rests on the model of the worker."""

from truehit.adapters.vllm.audit.reading import Symptom
from truehit.adapters.vllm.driver import Driven
from truehit.spec.laws.base import ViolationClass

REPLAYED = "replayed on the real scheduler"
CONTENTS = "replayed on the real scheduler; contents follow the model of its worker"
ORDER = "depends on kernel order"
POLICY = "policy, not corruption"
_CONTENTS = frozenset({"provenance", "commit", "ownership", "seed", "neutrality", "uniqueness"})


def certainty_of(symptom: Symptom, driven: Driven) -> str:
    """A law about contents sees what the mirror of the worker wrote; the others see the
    scheduler's own decisions."""
    if symptom.violation_class is ViolationClass.POLICY:
        return POLICY
    violation = symptom.violation
    if violation is not None and violation.block is not None:
        place = (symptom.step, violation.block)
        if place in {(one.step, one.block) for one in driven.unordered}:
            return ORDER
    return CONTENTS if symptom.law in _CONTENTS else REPLAYED

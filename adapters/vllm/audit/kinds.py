"""Kinds of violations: symptoms with one cause are one finding, shown by its smallest scenario."""

from dataclasses import dataclass, replace

from truehit.adapters.vllm.audit.reading import Symptom
from truehit.adapters.vllm.audit.toggles import Toggle, Trial
from truehit.spec.laws.base import ViolationClass

SEVERITY = (
    ViolationClass.CORRUPT,
    ViolationClass.STALL,
    ViolationClass.WASTE,
    ViolationClass.POLICY,
)
TELLING = (
    "neutrality",
    "provenance",
    "seed",
    "commit",
    "uniqueness",
    "ownership",
    "joint",
    "reach",
)
"""Laws that say most plainly what went wrong come first."""
FAMILY = {
    **dict.fromkeys(("provenance", "commit", "neutrality", "seed", "uniqueness"), "contents"),
    **dict.fromkeys(("reach", "grid"), "kept positions"),
}
"""Laws that one wrong page, or one position that was not kept, breaks together."""
STRANDED = "no lookup can land"
"""A state that is kept, and of no use: another matter than one that is not kept."""


@dataclass(frozen=True, slots=True)
class Kind:
    """`cause`: the first toggle that heals, "" if none does alone. A repair is one mechanism,
    whatever laws it breaks; a feature may take part in several, so the family of laws tells them
    apart."""

    cause: str
    family: str
    violation_class: ViolationClass
    is_repair: bool = False


@dataclass(frozen=True, slots=True)
class Finding:
    """One kind, as it was found. `heals`: the names of all toggles that make it vanish, one at a
    time. `runs` and `seconds`: when it was found, counted from the start of the search."""

    kind: Kind
    symptom: Symptom
    trial: Trial
    heals: tuple[str, ...]
    runs: int
    worker: int
    seconds: float


def kind_of(symptom: Symptom, heals: tuple[Toggle, ...]) -> Kind:
    """The kind of a symptom that these toggles heal. A repair is a cause only of what it mends:
    since it moves chunks, it makes other things vanish by accident."""
    heals = tuple(
        toggle
        for toggle in heals
        if not toggle.is_repair or symptom.violation_class in toggle.mends
    )
    family = FAMILY.get(symptom.law, symptom.law)
    if STRANDED in symptom.sentence:
        family = STRANDED
    if not heals:
        return Kind("", family, symptom.violation_class)
    first = heals[0]
    if first.is_repair:
        return Kind(first.name, "", symptom.violation_class, is_repair=True)
    return Kind(first.name, family, symptom.violation_class)


def worst(symptoms: tuple[Symptom, ...]) -> tuple[Symptom, ...]:
    """One symptom a shape and class, the gravest and most telling first."""
    seen: dict[tuple[str, str], Symptom] = {}
    for symptom in symptoms:
        seen.setdefault((symptom.violation_class, symptom.shape), symptom)
    return tuple(sorted(seen.values(), key=_rank))


def _rank(symptom: Symptom) -> tuple[int, int]:
    return SEVERITY.index(symptom.violation_class), telling(symptom)


def telling(symptom: Symptom) -> int:
    """Smaller: its law says more plainly what went wrong."""
    law = symptom.law
    return TELLING.index(law) if law in TELLING else len(TELLING)


def plainer(first: Finding | None, other: Finding) -> Finding:
    """Of two findings of one kind the one that says more plainly what went wrong, found when the
    first one was."""
    if first is None:
        return other
    if telling(first.symptom) <= telling(other.symptom):
        return first
    return replace(other, runs=first.runs, worker=first.worker, seconds=first.seconds)

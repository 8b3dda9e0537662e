"""One obligation with everything that belongs to it, and what was lifted to ask it."""

from collections.abc import Iterator

from truehit.proofs.obligations import ask
from truehit.proofs.obligations.ask import Finding
from truehit.proofs.obligations.catalogue import BY_NAME

Place = tuple[str, int]


def unproved(name: str) -> str | None:
    """What of an obligation does not hold: its proof, a control, a case or its havoc."""
    for part, wanted, finding in _findings(name):
        if finding.verdict != wanted:
            return f"{part} is {finding.verdict}, not {wanted}"
    return None


def lifted(name: str) -> tuple[list[Place], bool]:
    """File and line of every function behind an obligation, and whether all of it holds."""
    places: set[Place] = set()
    holds = True
    for _, wanted, finding in _findings(name):
        holds = holds and finding.verdict == wanted
        for provenance in finding.lifted:
            places |= {(place.file, place.line) for place in provenance.functions}
    return sorted(places), holds


def _findings(name: str) -> Iterator[tuple[str, str, Finding]]:
    obligation = BY_NAME[name]
    for encoding in obligation.encodings:
        yield encoding.words, "proved", ask.prove(obligation, encoding)
    for wrong in obligation.controls:
        yield f"control {wrong.name}", "refuted", ask.control(obligation, wrong)
    for wanted in obligation.covers:
        yield f"case {wanted.name}", "satisfied", ask.cover(obligation, wanted)
    yield "havoc", "refuted", ask.havoc(obligation)

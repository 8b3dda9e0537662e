"""What became of every fault, and what of it is wrong."""

from dataclasses import dataclass
from typing import Literal

from truehit.proofs.mutation.fault import Fault

Status = Literal["caught", "tested", "equivalent", "survived", "wrong claim", "invalid"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """`judge` and `seen`: who noticed it, and what. `name`: a generated fault's stable name."""

    fault: Fault
    name: str
    status: Status
    judge: str
    seen: str
    seconds: float

    @property
    def hand(self) -> bool:
        """Planted by hand, not by an operator."""
        return self.fault.operator is None


def outcome(fault: Fault, name: str, answer: tuple[str, str, str, float]) -> Outcome:
    """An answer, held against the fault's claim to be equivalent."""
    kind, judge, seen, seconds = answer
    status: Status
    match kind:
        case "invalid":
            status = "invalid"
        case "caught" | "tested" if fault.equivalent is not None:
            status = "wrong claim"
        case "caught":
            status = "caught"
        case "tested":
            status = "tested"
        case _:
            status = "survived" if fault.equivalent is None else "equivalent"
    return Outcome(fault, name, status, judge, seen, seconds)


def problem(found: Outcome) -> str | None:
    """Why this outcome is not accepted, in one line."""
    where = f"{found.fault.file}: {found.name}"
    match found.status:
        case "survived":
            return f"{where}: nothing notices it, and no reason is written"
        case "wrong claim":
            return f"{where}: claimed to be equivalent, but {found.judge} saw {found.seen}"
        case "invalid" if found.hand:
            return f"{where}: does not load: {found.seen}"
    return None


def score(found: list[Outcome]) -> float:
    """Caught by the judges, of all that can be noticed, in percent."""
    real = [o for o in found if o.status not in ("equivalent", "invalid")]
    return 100 * sum(o.status == "caught" for o in real) / len(real) if real else 100.0

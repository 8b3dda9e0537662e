"""What a release does with one known defect, and the numbers that say so."""

from dataclasses import dataclass
from enum import StrEnum


class Status(StrEnum):
    """OPT_IN: only where an option that is not the default is set. REFUSES: the release rejects
    the geometry."""

    PRESENT = "present"
    CLEAN = "clean"
    REFUSES = "refuses"
    OPT_IN = "opt-in"


@dataclass(frozen=True, slots=True)
class Known:
    """`evidence`: a sentence with numbers of the run."""

    defect: str
    status: Status
    evidence: str

"""What is said about a release: a row an obligation and scope, and what was read of its source."""

from dataclasses import dataclass
from typing import Literal

from truehit.proofs.lift import Provenance

Verdict = Literal["proved", "refuted locally", "model finding", "unknown", "checked"]
"""`checked` rows were executed, not lifted: their domain says up to which bound."""


@dataclass(frozen=True, slots=True)
class ReleaseRow:
    """One obligation in one scope.

    `inputs` are the words of a chunk that are not zero, false or None, and the inputs that have no
    word, by their path. `minimal`: the solver excluded every cheaper example at these sizes.
    """

    obligation: str
    domain: str
    verdict: Verdict
    inputs: dict[str, int]
    result: int | None
    replayed: bool
    minimal: bool
    seconds: float
    rlimit: int
    text_sha256: str


@dataclass(frozen=True, slots=True)
class ReleaseReport:
    """All rows of one release; `refused` names what could not be lifted and was executed."""

    release: str
    rows: tuple[ReleaseRow, ...]
    lifted: tuple[Provenance, ...]
    refused: tuple[str, ...]

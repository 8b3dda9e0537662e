"""How a data plane can differ from what the events say, and how much of it was compared."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PageDiffers:
    """A page of a group holds something else than the events say."""

    group: str
    block: int
    told: str
    held: str


@dataclass(frozen=True, slots=True)
class ReadsDiffer:
    """First step with a false read: by the ghosts, and by the law (None: there is none)."""

    ghosts: int | None
    law: int | None
    sentence: str


@dataclass(frozen=True, slots=True)
class LogitsDiffer:
    """The logits after the token at `position`, by more than the tolerance."""

    request: str
    position: int
    step: int
    by: float
    tolerance: float


DataDifference = PageDiffers | ReadsDiffer | LogitsDiffer


@dataclass(frozen=True, slots=True)
class DataCount:
    """What was compared: pages with the ledger, tokens with the same tokens computed alone;
    `largest`: difference of their logits."""

    pages: int = 0
    tokens: int = 0
    largest: float = 0.0

    def plus(self, other: "DataCount") -> "DataCount":
        return DataCount(
            self.pages + other.pages,
            self.tokens + other.tokens,
            max(self.largest, other.largest),
        )


NO_DATA = DataCount()
"""Of a subject without a data plane."""


def data_sentence(difference: DataDifference) -> str:
    """One line."""
    match difference:
        case PageDiffers(group, block, told, held):
            return f"page {block} of {group} holds {held}; by its events it holds {told}"
        case ReadsDiffer(ghosts, law, sentence):
            found = f"step {ghosts}" if ghosts is not None else "nowhere"
            said = f"step {law}" if law is not None else "nowhere"
            return f"first false read: {found} by the ghosts, {said} by the law ({sentence})"
        case LogitsDiffer(request, position, step, by, tolerance):
            return (
                f"request {request}, token {position} (step {step}): all pages are right and the "
                f"logits differ by {by:.2g}; {tolerance:.0e} is allowed"
            )

"""What every law is made of: its sentence, the planes it needs, its handlers, and the violations it
reports."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar

from truehit.spec.ledger import Ledger
from truehit.spec.trace import Plane

Handler = Callable[[Any], None]
Subscription = type | str
"""An event class, or for `Table` events the op."""

REPORTED_LIMIT = 200
"""A broken run breaks a law in every step: this many sentences a law are kept, the rest are
counted."""


class ViolationClass(StrEnum):
    """Wrong bytes can be served; somebody waits for ever; hits or capacity are lost; another
    choice."""

    CORRUPT = "corrupt"
    STALL = "stall"
    WASTE = "waste"
    POLICY = "policy"


@dataclass(frozen=True, slots=True)
class Violation:
    """One broken sentence. `group`, `column`, `block`, `position_tokens`: where, as far as the law
    can say."""

    law: str
    violation_class: ViolationClass
    step: int
    request: str
    sentence: str
    group: str = ""
    column: int | None = None
    block: int | None = None
    position_tokens: int | None = None


class Report:
    """All violations of a run, in the order they were found. `suppressed`: how many were only
    counted."""

    __slots__ = ("_counts", "suppressed", "violations")

    def __init__(self) -> None:
        self.violations: list[Violation] = []
        self.suppressed = 0
        self._counts: dict[str, int] = {}

    def add(self, violation: Violation) -> int | None:
        """Its index, or None if the law has said enough."""
        count = self._counts.get(violation.law, 0)
        if count >= REPORTED_LIMIT:
            self.suppressed += 1
            return None
        self._counts[violation.law] = count + 1
        self.violations.append(violation)
        return len(self.violations) - 1

    def replace(self, index: int, violation: Violation) -> None:
        self.violations[index] = violation


class Law:
    """A law reads the ledger, which is already up to date with the event, and reports."""

    name: ClassVar[str]
    sentence: ClassVar[str]
    planes: ClassVar[frozenset[Plane]]

    def __init__(self, ledger: Ledger, report: Report) -> None:
        self.ledger = ledger
        self.report = report

    def handlers(self) -> Mapping[Subscription, Handler]:
        raise NotImplementedError

    def finish(self) -> None:
        """The trace has ended."""

    def say(
        self,
        violation_class: ViolationClass,
        step: int,
        request: str,
        sentence: str,
        *,
        group: str = "",
        column: int | None = None,
        block: int | None = None,
        position_tokens: int | None = None,
    ) -> int | None:
        """Report one violation; its index, unless the law has said enough."""
        where = (group, column, block, position_tokens)
        return self.report.add(
            Violation(self.name, violation_class, step, request, sentence, *where)
        )

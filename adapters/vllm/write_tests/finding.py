"""What a written test shows: one sentence, the run in which it is true, and one in which it is
not."""

from dataclasses import dataclass

from truehit.spec.laws.base import ViolationClass
from truehit.spec.scenario import Scenario


class UnwritableError(Exception):
    """No test can be written for the finding; one line."""


@dataclass(frozen=True, slots=True)
class Staged:
    """A scenario, and the defects that are mended in memory before it (names of the driver's
    repairs)."""

    scenario: Scenario
    repairs: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class WrittenFinding:
    """`slug` names the file, in words with dashes. `sentence`: what the law said, of `request` and,
    where it names one, of `group`; with the law `fault` it is the engine's own exception. `shown`
    is the run it was said of, `healed` the same with one change, which `heal` says in words.
    `story`: what each step did. `version`: of the release it was found on."""

    slug: str
    sentence: str
    law: str
    violation_class: ViolationClass
    certainty: str
    shown: Staged
    healed: Staged
    heal: str
    story: tuple[str, ...]
    version: str
    request: str
    group: str = ""

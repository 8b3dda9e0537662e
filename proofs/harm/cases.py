"""The kept runs: one historic defect each, with the kind of harm it does."""

from enum import StrEnum
from pathlib import Path

from truehit.spec.scenario import Scenario
from truehit.spec.scenario_file import load_scenario

DATA = Path(__file__).resolve().parent / "data"


class Kind(StrEnum):
    """What a defect does to who is served."""

    GARBAGE = "garbage"
    LOST_HITS = "lost hits"
    WAITING = "waiting"
    TOO_FAR = "hits too far"


KINDS = {
    "aligned-below-last": Kind.GARBAGE,
    "minimum-block-grid": Kind.GARBAGE,
    "scratch-left": Kind.GARBAGE,
    "seed-minimum-block": Kind.GARBAGE,
    "schedule-time-keys": Kind.GARBAGE,
    "stop-from-misaligned": Kind.LOST_HITS,
    "one-block-back-off": Kind.LOST_HITS,
    "boundary-only": Kind.LOST_HITS,
    "margin-state-block": Kind.LOST_HITS,
    "margin-own-bit": Kind.LOST_HITS,
    "pruned-lookup": Kind.LOST_HITS,
    "drop-every-retry": Kind.LOST_HITS,
    "scratch-counted": Kind.WAITING,
    "raised-candidate": Kind.TOO_FAR,
}
"""Historic rule set -> its harm, the worst first."""


def scenario_of(rules: str) -> Scenario:
    """The kept run of a rule set."""
    return load_scenario(DATA / f"{rules}.yaml")

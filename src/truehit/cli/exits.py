"""Four answers, four exit codes."""

from enum import IntEnum


class Exit(IntEnum):
    """What the shell is told."""

    HOLDS = 0
    REFUTED = 1
    BAD_INPUT = 2
    UNKNOWN = 3

"""Token ids of named streams: equal names give equal ids, different streams differ everywhere."""

from .plan import Sent

STREAM_TOKENS = 1 << 21
"""Longer than any stream here; stream n holds the ids from n times this on."""


class Streams:
    """Numbers the streams of one scenario."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def ids(self, stream: str, first: int, end: int) -> list[int]:
        """The ids of tokens [first, end) of a stream."""
        base = self._numbers.setdefault(stream, len(self._numbers)) * STREAM_TOKENS
        return list(range(base + first, base + end))

    def prompt(self, sent: Sent) -> list[int]:
        """A segment is its stream's beginning."""
        return [i for name, tokens in sent.segments for i in self.ids(name, 0, tokens)]

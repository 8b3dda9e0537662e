"""A simple drafter: what followed the last time the text ended like this (prompt lookup)."""

from collections.abc import Sequence
from typing import Protocol

LONGEST_MATCH = 3


class Drafter(Protocol):
    """Proposes the tokens after a text."""

    def propose(self, tokens: Sequence[int], count: int) -> list[int]:
        """Exactly `count` tokens."""


class PromptLookup:
    """Copies what followed the latest earlier occurrence of the last tokens; without one it repeats
    the last token."""

    def propose(self, tokens: Sequence[int], count: int) -> list[int]:
        found = list(self._followers(list(tokens))[:count])
        return found + [int(tokens[-1])] * (count - len(found))

    def _followers(self, tokens: list[int]) -> list[int]:
        for size in range(min(LONGEST_MATCH, len(tokens) - 1), 0, -1):
            tail = tokens[-size:]
            for at in range(len(tokens) - size - 1, -1, -1):
                if tokens[at : at + size] == tail:
                    return tokens[at + size :]
        return []

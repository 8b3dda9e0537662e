"""How many leading pages of a full-attention group a path finds, remembered between lookups."""

from truehit.spec.ledger import Ledger
from truehit.spec.ledger_records import GroupBook
from truehit.spec.tokens import TokenPath


class LeadingPages:
    """Waiting requests ask again and again: while no key goes, what was found is still there."""

    __slots__ = ("_found", "_ledger")

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._found: dict[tuple[str, int], tuple[int, int]] = {}

    def count(self, name: str, group: GroupBook, path: TokenPath, limit: int) -> int:
        """Full pages found from the start, none of which ends beyond `limit` tokens."""
        keys, size, index = self._ledger.keys, group.block_tokens, group.index
        most = limit // size
        version, pages = self._found.get((name, index), (keys.version, 0))
        if version != keys.version:
            pages = 0
        by_key = keys.by_key
        ends = range((pages + 1) * size, most * size + 1, size)
        for key in keys.keys_at(index, path, ends):
            if key not in by_key:
                break
            pages += 1
        self._found[(name, index)] = (keys.version, pages)
        return min(pages, most)

    def forget(self, name: str) -> None:
        for group in self._ledger.by_index:
            self._found.pop((name, group.index), None)

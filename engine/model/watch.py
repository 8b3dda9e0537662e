"""Hold every read of a step against the reader's own tokens, and write the ghosts of its writes.

Rows are taken in the order of the step; each starts from what its source page really holds, which
is what the floats do."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from torch import Tensor

from truehit.engine.model.ghost import MOST_FINDINGS, Finding, Ghosts, Held
from truehit.engine.model.step import Row, Step
from truehit.spec.geometry import Geometry, Group, Kind


@dataclass(frozen=True, slots=True)
class GroupSlots:
    """What a step reads and writes in one group, on the host: of a state group `sources[R]`,
    `token_targets[T]`, `checkpoint_targets[R]`, `columns[R]` (of the sources); of a group with
    pages `pages[T]` and `offsets[T]`."""

    sources: Sequence[int] = ()
    token_targets: Sequence[int] = ()
    checkpoint_targets: Sequence[int] = ()
    columns: Sequence[int] = ()
    pages: Tensor | None = None
    offsets: Tensor | None = None


class Watch:
    """`number`: of the step that is watched; set by who counts steps."""

    def __init__(self, ghosts: Ghosts, geometry: Geometry) -> None:
        self.ghosts = ghosts
        self._geometry = geometry
        self.number = 0

    def step(self, step: Step, slots: dict[int, GroupSlots]) -> None:
        """Check all reads of a step, and book its writes."""
        first = 0
        for index, row in enumerate(step.rows):
            last = first + row.end - row.start
            for group, own in slots.items():
                if self._geometry.groups[group].kind is Kind.RECURRENT_STATE:
                    self._state(row, group, own, index, first)
                else:
                    self._entries(row, group, own, first, last)
            first = last

    def _find(
        self, row: Row, group: Group, column: int, block: int, claim: tuple[int, bool], held: str
    ) -> None:
        if len(self.ghosts.findings) < MOST_FINDINGS:
            self.ghosts.findings.append(
                Finding(self.number, row.request, group.name, column, block, *claim, held)
            )

    def _state(self, row: Row, number: int, own: GroupSlots, index: int, first: int) -> None:
        ghosts, group = self.ghosts, self._geometry.groups[number]
        source = own.sources[index]
        held = ghosts.state(number, source)
        digests = ghosts.paths.digests(row.request, row.path)
        wanted = Held(row.start, digests[row.start], ((0, row.start),) if row.start else ())
        if held != wanted:
            same = held is not None and held.spans == wanted.spans
            words = "nothing" if held is None else held.words()
            words += " of other tokens" if same else ""
            self._find(row, group, own.columns[index], source, (row.start, False), words)
        ends = range(row.start + 1, row.end + 1) if row.is_decode else (row.end,)
        for end in ends:
            after = ghosts.consume(held, row.request, row.path, row.start, end)
            ghosts.write_state(number, own.token_targets[first + end - row.start - 1], after)
        if row.checkpoint_tokens:
            after = ghosts.consume(held, row.request, row.path, row.start, row.checkpoint_tokens)
            ghosts.write_state(number, own.checkpoint_targets[index], after)

    def _entries(self, row: Row, number: int, own: GroupSlots, first: int, last: int) -> None:
        ghosts = self.ghosts
        digests = ghosts.paths.digests(row.request, row.path)
        self._check_entries(row, number, digests)
        assert own.pages is not None and own.offsets is not None
        numbers = [(p + 1, digests[p + 1]) for p in range(row.start, row.end)]
        ghosts.write_entries(number, own.pages[first:last], own.offsets[first:last], numbers)

    def _check_entries(self, row: Row, number: int, digests: Sequence[int]) -> None:
        """The entries that the first token of the row sees."""
        group = self._geometry.groups[number]
        seen = max(0, row.start - (group.window_tokens or row.start + 1) + 1)
        block = group.block_tokens
        columns = range(seen // block, -(-row.start // block)) if row.start else range(0)
        table = row.tables[number]
        pages = [int(table[c]) if c < len(table) else 0 for c in columns]
        found = self.ghosts.entries(number, pages).reshape(-1, 2)
        positions = np.arange(seen // block * block, seen // block * block + len(found))
        wanted = np.zeros_like(found)
        inside = (positions >= seen) & (positions < row.start)
        wanted[:, 0] = positions + 1
        wanted[inside, 1] = [digests[p + 1] for p in positions[inside]]
        holes = np.repeat(np.array(pages) == 0, block) if pages else np.zeros(0, bool)
        wrong = inside & ((found != wanted).any(axis=1) | holes)
        if not wrong.any():
            return
        at = int(np.flatnonzero(wrong)[0])
        column = int(positions[at]) // block
        page = pages[column - seen // block]
        held = self._entry_words(found[at].tolist(), int(positions[at]), page)
        self._find(row, group, column, page, (int(positions[at]), True), held)

    @staticmethod
    def _entry_words(found: list[int], position: int, page: int) -> str:
        if page == 0 or found[0] <= 0:
            return "nothing"
        if found[0] != position + 1:
            return f"entry {found[0] - 1}"
        return f"entry {position} of other tokens"

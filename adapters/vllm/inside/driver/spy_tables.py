"""Block tables: what an engine's operation did to the columns of one request, as table events.

The manager's tables are compared before and after; the differences have few shapes. A column that
became a hole lost its block, or the block moved to a later column; a column with another block was
copied; the rest are fresh blocks behind the old end.
"""

from typing import Any

from .out import Recorder


class TableWatch:
    """The tables as they were told last."""

    def __init__(self, recorder: Recorder, manager: Any, groups: list[str]) -> None:
        self._recorder = recorder
        self._managers = manager.coordinator.single_type_managers
        self._groups = groups
        self._told: dict[str, list[list[int]]] = {}
        self.retained: list[tuple[str, list[int]]] = []
        """Sources of copies of this step, by group."""

    def columns(self, request: str, group: int) -> list[int]:
        """The manager's table now."""
        blocks = self._managers[group].req_to_blocks.get(request, ())
        return [0 if block.is_null else block.block_id for block in blocks]

    def forget(self, request: str) -> None:
        """Its tables are released."""
        self._told.pop(request, None)

    def adopt(self, request: str, found: list[list[int]], tokens: int) -> None:
        """A resume: found blocks are read through the table from now on."""
        self._told[request] = [list(columns) for columns in found]
        for name, columns in zip(self._groups, found, strict=True):
            first = next((i for i, block in enumerate(columns) if block), None)
            if first is not None:
                self._table(
                    request, name, "adopt", column=first, blocks=columns[first:], tokens=tokens
                )

    def compare(
        self, request: str, taken: frozenset[int] = frozenset()
    ) -> dict[int, tuple[str, int]]:
        """Say how the tables changed since they were told: first what all groups gave back, since
        one may take at once what another gave. `taken`: blocks that came from the pool meanwhile,
        perhaps right after the same table gave them back. Returns the blocks that are copies, each
        with its request and group."""
        told = self._told.setdefault(request, [[] for _ in self._groups])
        changed = []
        for group, name in enumerate(self._groups):
            now = self.columns(request, group)
            if now != told[group]:
                changed.append((name, told[group], now))
                told[group] = now
        for name, old, now in changed:
            self._given_back(request, name, old, now, taken)
        copies: list[tuple[int, str]] = []
        for name, old, now in changed:
            copies += [(block, name) for block in self._taken(request, name, old, now, taken)]
        return {block: (request, self._groups.index(name)) for block, name in copies}

    def _given_back(
        self, request: str, name: str, old: list[int], new: list[int], taken: frozenset[int]
    ) -> None:
        stays = frozenset(new) - taken
        empty = [
            column
            for column, block in enumerate(old)
            if block and block not in stays and (column >= len(new) or not new[column])
        ]
        for first, count in _runs(empty):
            self._table(request, name, "null", column=first, count=count)

    def _taken(
        self, request: str, name: str, old: list[int], new: list[int], taken: frozenset[int]
    ) -> list[int]:
        """Blocks that came; those that are copies are returned."""
        copies: list[int] = []
        stays = range(len(old), len(new))
        place = {new[c]: c for c in stays if new[c] and new[c] not in taken}
        moved = set()
        for column, block in enumerate(old[: len(new)]):
            if block and not new[column] and block in place:
                moved.add(block)
                self._table(
                    request, name, "move", column=place[block], blocks=[block], sources=[column]
                )
        for column in range(min(len(old), len(new))):
            if old[column] != new[column] and new[column]:
                op = "copy_on_write" if old[column] else "place"
                if old[column]:
                    copies.append(new[column])
                    # The source stays referenced until the copy has run.
                    self.retained.append((name, [old[column]]))
                    self._recorder.emit(
                        "hold", group=name, blocks=[old[column]], holder="copy", held=True
                    )
                self._table(request, name, op, column=column, blocks=[new[column]])
        fresh = [c for c in range(len(old), len(new)) if new[c] and new[c] not in moved]
        for first, count in _runs(fresh):
            self._table(request, name, "place", column=first, blocks=new[first : first + count])
        return copies

    def _table(self, request: str, group: str, op: str, **fields: Any) -> None:
        self._recorder.emit("table", request=request, group=group, op=op, **fields)


def _runs(columns: list[int]) -> list[tuple[int, int]]:
    """Neighbouring columns as (first, count)."""
    runs: list[tuple[int, int]] = []
    for column in columns:
        if runs and sum(runs[-1]) == column:
            runs[-1] = (runs[-1][0], runs[-1][1] + 1)
        else:
            runs.append((column, 1))
    return runs

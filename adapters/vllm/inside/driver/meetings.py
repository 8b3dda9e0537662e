"""Two operations of one phase of a step that meet in a block, at least one of them writing.

Within a phase a device runs them side by side: which comes first is not known, and what the block
holds afterwards depends on it. Such meetings are said; the trace goes on with the order that the
mirror happens to have. An operation that reads a block before it writes it meets nobody.
"""

from dataclasses import dataclass, field

from .out import Recorder


@dataclass(slots=True)
class Operation:
    """One kernel's work for one request, or one copy."""

    request: str
    group: str


@dataclass(slots=True)
class Access:
    """Who reads and writes a block in a phase, in the mirror's order."""

    readers: list[Operation] = field(default_factory=list)
    writers: list[Operation] = field(default_factory=list)
    is_said: bool = False


class Meetings:
    """The blocks that one phase has read and written so far. The null block is nobody's."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._phase = ""
        self._states: dict[int, Access] = {}
        self._pages: dict[int, list[tuple[int, int, Operation]]] = {}

    def begin(self, phase: str) -> None:
        """What comes now waits for all that came before."""
        self._phase = phase
        self._states.clear()
        self._pages.clear()

    def copy(self, operation: Operation, source: int, target: int) -> None:
        """A copy is an operation of its own."""
        self.read(operation, source)
        self.write(operation, target)

    def read(self, operation: Operation, block: int) -> None:
        """The operation starts from a block."""
        access = self._states.setdefault(block, Access())
        access.readers.append(operation)
        self._meet(operation, block, access, access.writers, allowed=operation)

    def write(self, operation: Operation, block: int) -> None:
        """The operation leaves a state in a block; a second one of its own meets the first."""
        access = self._states.setdefault(block, Access())
        self._meet(operation, block, access, access.readers, allowed=operation)
        self._meet(operation, block, access, access.writers, allowed=None)
        access.writers.append(operation)

    def write_entries(self, operation: Operation, block: int, low: int, high: int) -> None:
        """The operation writes the entries of tokens [low, high) into a page. All pages of a layer
        are written before any is read."""
        before = self._pages.setdefault(block, [])
        other = next((one for first, end, one in before if first < high and low < end), None)
        before.append((low, high, operation))
        if other is not None and block:
            self._say(operation, block, other)

    def _meet(
        self,
        operation: Operation,
        block: int,
        access: Access,
        others: list[Operation],
        allowed: Operation | None,
    ) -> None:
        other = next((one for one in others if one is not allowed), None)
        if block and other is not None and not access.is_said:
            access.is_said = True
            self._say(operation, block, other)

    def _say(self, operation: Operation, block: int, other: Operation) -> None:
        self._recorder.emit(
            "unordered",
            group=operation.group,
            block=block,
            phase=self._phase,
            requests=[other.request, operation.request],
        )

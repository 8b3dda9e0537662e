"""seed: a resume at n > 0 reads column (n-1)//B of the state group; the state is initial iff
restored.

*verified*: every read of a state group by a prefill chunk: the column is (n-1)//B, or the running
column after that very column was copied into it in this step; the block is the one the table has
there; n is the chunk's start. Every state write: its source is the zero state iff its chunk starts
at 0.

*not verified*: columns of decode steps with drafts (the state after acceptance lies in a scratch
column; neutrality checks what it holds); that the bytes restored are those of the column (the data
plane's tests).
"""

from collections.abc import Mapping
from typing import ClassVar

from truehit.spec.laws.base import Handler, Law, Subscription, ViolationClass
from truehit.spec.ledger_records import TableBook
from truehit.spec.predicates.seed import seeds_column
from truehit.spec.trace import Plane, Read, Write
from truehit.spec.units import running_column


class Seed(Law):
    name: ClassVar[str] = "seed"
    sentence: ClassVar[str] = (
        "resuming at n > 0 reads column (n-1)//B of the state group, and 'has initial state' is "
        "true iff that state was restored"
    )
    planes: ClassVar[frozenset[Plane]] = frozenset({Plane.SCHEDULE, Plane.TABLE, Plane.DEVICE})

    def handlers(self) -> Mapping[Subscription, Handler]:
        return {Read: self.on_read, Write: self.on_write}

    def on_read(self, event: Read) -> None:
        request = self.ledger.requests[event.request]
        table = request.tables[event.group]
        chunk = request.chunk
        if not table.group.is_state or chunk is None or chunk.step != event.step:
            return
        if chunk.start >= chunk.prefill_end:
            return
        if event.tokens != chunk.start:
            self._say(event, f"claims state@{event.tokens} but its chunk starts at {chunk.start}")
        if not event.tokens:
            return
        size = table.group.block_tokens
        column = running_column(event.tokens, size)
        right = seeds_column(event.tokens, size, event.column)
        if not right and not _was_copied(event, table, column):
            self._say(event, f"resumes at {event.tokens} from column {event.column}, not {column}")
            return
        columns = table.columns
        held = columns[event.column] if event.column < len(columns) else 0
        if held != event.block and not _was_copied(event, table, column):
            why = f"reads block {event.block} but column {event.column} holds block {held}"
            self._say(event, why)

    def on_write(self, event: Write) -> None:
        if (event.source is None) == (event.start == 0):
            return
        if not self.ledger.groups[event.group].is_state:
            return
        if event.source is None:
            why = f"starts at {event.start} tokens from the zero state: nothing was restored"
        else:
            why = (
                f"starts at 0 tokens from the state in block {event.source}, which nobody restored"
            )
        self._say(event, why)

    def _say(self, event: Read | Write, why: str) -> None:
        self.say(
            ViolationClass.CORRUPT,
            event.step,
            event.request,
            f"request {event.request}: group {event.group} {why} (step {event.step})",
            group=event.group,
            column=event.column,
        )


def _was_copied(event: Read, table: TableBook, column: int) -> bool:
    """The block read is the target of this step's copy out of the right column."""
    if table.pre_copy is None or column >= len(table.columns):
        return False
    step, source, target = table.pre_copy
    return step == event.step and target == event.block and source == table.columns[column]

"""retirement: a running request holds few state columns, and nothing that is still needed is freed.

*verified*: whenever a chunk writes its state (its table is final then): non-null state columns <=
2 + k + earlier steps not yet known complete + checkpoints of this request in unfinished steps +
copies of this step. A chunk that resumes finds the block it reads in its own table; so does the
copy that carries the state to the running column.

*not verified*: the bound in a step whose chunk does not run; that a freed column could not have
been needed by a rollback that did not happen; pages of attention (neutrality finds a freed one when
it is read).
"""

from collections.abc import Mapping
from typing import ClassVar

from truehit.spec.laws.base import Handler, Law, Report, Subscription, ViolationClass
from truehit.spec.ledger import Ledger
from truehit.spec.ledger_records import TableBook
from truehit.spec.trace import Complete, Copy, CopyWhy, End, EndWhy, Plane, Read, Schedule, Write


def state_columns_allowed(drafts: int, unfinished: int, checkpoints: int, copies: int) -> int:
    """State columns a running request may hold: `unfinished` earlier steps, checkpoints in
    unfinished steps, copies of this step."""
    return 2 + drafts + unfinished + checkpoints + copies


class Retirement(Law):
    name: ClassVar[str] = "retirement"
    sentence: ClassVar[str] = (
        "state columns held by a running request <= 2 + k + earlier steps not yet known complete + "
        "checkpoints in unfinished steps + copies of this step; nothing still needed is freed"
    )
    planes: ClassVar[frozenset[Plane]] = frozenset({Plane.SCHEDULE, Plane.TABLE, Plane.DEVICE})

    def __init__(self, ledger: Ledger, report: Report) -> None:
        super().__init__(ledger, report)
        self._always = state_columns_allowed(ledger.geometry.drafts, 0, 0, 0)
        self._checkpoints: dict[str, list[int]] = {}
        """Request -> steps with a checkpoint that are not yet known complete."""

    def handlers(self) -> Mapping[Subscription, Handler]:
        handlers: dict[Subscription, Handler] = {
            Read: self.on_read,
            Copy: self.on_copy,
            Write: self.on_write,
            End: self.on_end,
        }
        if self.ledger.geometry.checkpoints:
            handlers |= {Schedule: self.on_schedule, Complete: self.on_complete}
        return handlers

    def on_schedule(self, event: Schedule) -> None:
        if event.checkpoint_tokens is not None:
            self._checkpoints.setdefault(event.request, []).append(event.step)

    def on_complete(self, event: Complete) -> None:
        done = event.of
        if done is None or not self._checkpoints:
            return
        for request, steps in list(self._checkpoints.items()):
            left = [step for step in steps if step > done]
            if left:
                self._checkpoints[request] = left
            else:
                del self._checkpoints[request]

    def on_end(self, event: End) -> None:
        if event.why != EndWhy.PREEMPT:
            self._checkpoints.pop(event.request, None)

    def on_write(self, event: Write) -> None:
        table = self.ledger.requests[event.request].tables[event.group]
        if not table.group.is_state or table.held <= self._always:
            return
        checkpoints = len(self._checkpoints.get(event.request, ()))
        copies = table.copies if table.copies_step == event.step else 0
        unfinished = self.ledger.steps_unfinished_before(event.step)
        drafts = self.ledger.geometry.drafts
        allowed = state_columns_allowed(drafts, unfinished, checkpoints, copies)
        if table.held > allowed:
            self.say(
                ViolationClass.WASTE,
                event.step,
                event.request,
                f"request {event.request}: group {event.group} holds {table.held} state columns, "
                f"{allowed} are allowed (step {event.step})",
                group=event.group,
            )

    def on_read(self, event: Read) -> None:
        table = self.ledger.requests[event.request].tables[event.group]
        if table.group.is_state and event.tokens and not _holds(table, event.block):
            self._say_freed(event, event.block, f"the state at {event.tokens} tokens")

    def on_copy(self, event: Copy) -> None:
        if event.why != CopyWhy.PRE:
            return
        table = self.ledger.requests[event.request].tables[event.group]
        if table.group.is_state and not _holds(table, event.source):
            self._say_freed(event, event.source, "the running state")

    def _say_freed(self, event: Read | Copy, block: int, what: str) -> None:
        self.say(
            ViolationClass.CORRUPT,
            event.step,
            event.request,
            f"request {event.request}: block {block} of group {event.group} with {what} was freed "
            f"while it is still needed (step {event.step})",
            group=event.group,
            block=block,
        )


def _holds(table: TableBook, block: int) -> bool:
    """The table has the block; null is no block."""
    return bool(block) and block in table.columns[table.first_held :]

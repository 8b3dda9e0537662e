"""commit: a key is found only if the step that writes its block runs before the reader's, and
really runs.

*verified*: at the end of every step, each key published in it (or disturbed in it) whose block is
not what the key says: the block was never written, or the chunk that was to make the key true wrote
nothing in the step (it failed, was aborted or preempted). At every adoption: the block is published
under the adopter's own prefix; a state key was published in an earlier step, or was true before
this step. Keys that were true and of an earlier step are not taken back because of somebody's
failure.

*not verified*: whether a step that the trace calls complete really is (that is the engine's word);
a lookup that finds a key and is not followed by an adoption (deferral); which of several blocks is
returned.
"""

from collections.abc import Mapping
from typing import ClassVar

from truehit.spec.laws.base import Handler, Law, Subscription, ViolationClass
from truehit.spec.ledger_records import Entry, GroupBook, RequestBook
from truehit.spec.trace import Complete, Plane, Table, TableOp, Unpublish, UnpublishWhy


class Commit(Law):
    name: ClassVar[str] = "commit"
    sentence: ClassVar[str] = (
        "a lookup returns a state key only if the step that writes the block runs strictly before "
        "the reader's step and really runs; no findable key names a block whose write did not run"
    )
    planes: ClassVar[frozenset[Plane]] = frozenset(
        {Plane.TABLE, Plane.KEYS, Plane.DEVICE, Plane.SCHEDULE}
    )

    def handlers(self) -> Mapping[Subscription, Handler]:
        return {
            Complete: self.on_complete,
            TableOp.ADOPT: self.on_adopt,
            Unpublish: self.on_unpublish,
        }

    def on_complete(self, event: Complete) -> None:
        for entry in self.ledger.false_entries:
            written = self.ledger.pool.written_step[entry.block]
            if written is None:
                why = "was never written"
            elif entry.step == event.step and written < event.step and self._was_due(entry):
                why = "was not written in that step"
            else:
                continue
            group = self.ledger.by_index[entry.key[0]]
            self.say(
                ViolationClass.CORRUPT,
                event.step,
                entry.request,
                f"request {entry.request}: at the end of step {event.step} the key of "
                f"{entry.key[2]} tokens names block {entry.block} of group {group.name}, "
                f"which {why}",
                group=group.name,
                column=entry.column,
                block=entry.block,
            )

    def on_adopt(self, event: Table) -> None:
        ledger = self.ledger
        request = ledger.requests[event.request]
        group = ledger.groups[event.group]
        size, last = group.block_tokens, event.column + len(event.blocks)
        if group.is_state:
            positions = [event.tokens] * len(event.blocks)
        else:
            ends = range((event.column + 1) * size, last * size + 1, size)
            positions = [min(end, event.tokens) for end in ends]
        keys = ledger.keys.keys_at(group.index, request.path, positions)
        by_block = ledger.keys.by_block
        for column, (block, key) in enumerate(zip(event.blocks, keys, strict=True), event.column):
            if not block:
                continue
            found = by_block.get(block)
            if found is not None and found.key == key and not group.is_state:
                continue
            needed = key[2]
            entry = self._key_for(request, group, block, needed)
            if entry is None:
                self._say_adopt(event, column, block, "without a findable key of its own prefix")
            elif (
                group.is_state
                and entry.step == event.step
                and not ledger.device.entry_is_true(entry, group)
            ):
                why = f"whose key request {entry.request} published in the same step"
                self._say_adopt(event, column, block, f"{why}, before its write")

    def on_unpublish(self, event: Unpublish) -> None:
        if event.why != UnpublishWhy.TAKEN_BACK:
            return
        ledger = self.ledger
        for entry in ledger.removed:
            group = ledger.by_index[entry.key[0]]
            owner = ledger.requests.get(entry.request)
            same_life = owner is not None and owner.residency == entry.residency
            if same_life or entry.step >= event.step:
                continue
            if ledger.device.entry_is_true(entry, group):
                self.say(
                    ViolationClass.WASTE,
                    event.step,
                    entry.request,
                    f"request {entry.request}: its key of {entry.key[2]} tokens, true since step "
                    f"{entry.step}, is taken back in step {event.step}",
                    group=group.name,
                    block=entry.block,
                )

    def _was_due(self, entry: Entry) -> bool:
        """The chunk of the publisher in this step was to make the key true."""
        owner = self.ledger.requests.get(entry.request)
        chunk = owner.chunk if owner is not None else None
        if chunk is None or chunk.step != entry.step or chunk.residency != entry.residency:
            return False
        return chunk.start < entry.key[2] <= chunk.end

    def _key_for(
        self, request: RequestBook, group: GroupBook, block: int, needed: int
    ) -> Entry | None:
        """The block's key that the request's own prefix names and that covers `needed` tokens."""
        keys = self.ledger.keys
        for entry in keys.of_block(block):
            index, _, tokens = entry.key
            if index != group.index or tokens > request.path.tokens:
                continue
            enough = tokens == needed if group.is_state else tokens >= needed
            if enough and keys.key(index, request.path, tokens) == entry.key:
                return entry
        return None

    def _say_adopt(self, event: Table, column: int, block: int, why: str) -> None:
        self.say(
            ViolationClass.CORRUPT,
            event.step,
            event.request,
            f"request {event.request}: column {column} of group {event.group} adopts block {block} "
            f"at {event.tokens} tokens {why} (step {event.step})",
            group=event.group,
            column=column,
            block=block,
        )

"""The runtime audit: the laws' publish-time checks on an engine that serves.

    audit = Audit(engine.host)
    ...
    for sentence in audit.findings(): ...

It sees: a key published before its block was written, or over a block that holds another prefix or
another position (provenance, commit); a write into bytes that a key covers (ownership); a resume
from a column that does not hold the resumed state (seed); a state block under two positions. It
does not see tokens, only who wrote and how far: two requests that differ in their tokens are told
apart by the digests, which are not checked again. It cannot see what the device really wrote."""

import numpy as np

from truehit.engine import entry
from truehit.engine import fields as f
from truehit.engine.growth import grown
from truehit.engine.host import Host
from truehit.engine.memory import Int64, UInt8

LAWS = ("provenance", "ownership", "seed", "uniqueness")
MOST_FINDINGS = 64
TOLD_ROWS = 1 << 14


def _held(tokens: int) -> str:
    match tokens:
        case _ if tokens == f.UNWRITTEN:
            return "nothing"
        case _ if tokens == f.GARBAGE:
            return "rejected drafts or a gap"
        case _:
            return f"what {tokens} tokens leave"


class Audit:
    """Attach it to an engine that has no live requests; it costs a few microseconds a step."""

    def __init__(self, host: Host) -> None:
        """ValueError when requests are live: what their blocks hold was not seen."""
        if host.slots:
            raise ValueError(f"audit: {len(host.slots)} requests are live; 0 works")
        self._host = host
        core = host.core
        depth, most = core.chunk.shape[:2]
        groups, width = core.group.shape[0], 1 + int(core.fixed[f.F_DRAFTS])
        shadow = np.zeros((core.block.shape[0], f.S_FIELDS), np.int64)
        shadow[:, f.S_TOKENS] = f.UNWRITTEN
        host.use(
            core._replace(
                told=np.zeros((TOLD_ROWS, f.P_FIELDS), np.int64),
                shadow=shadow,
                place_block=np.zeros((0, groups, width), np.int32),
                plan=np.zeros((depth, most, groups, 2 * width), np.int32),
                plan_source=np.zeros((depth, most, groups), np.int64),
                plan_copy=np.zeros((depth, *core.copy.shape), np.int32),
                plan_copies=np.zeros(depth, np.int64),
                finding=np.zeros((MOST_FINDINGS, f.V_FIELDS), np.int64),
            )
        )
        host.audit = self

    def _make_room(self) -> None:
        """A place for every slot there is; -1: no state, no residency."""
        core = self._host.core
        slots, had = core.request.shape[0], core.place.shape[0]
        if slots > had:
            place, seen = grown(core.place, slots), grown(core.place_seen, slots)
            place[had:] = seen[had:] = -1
            block = grown(core.place_block, slots)
            self._host.use(core._replace(place=place, place_seen=seen, place_block=block))

    def scheduled(self, slice_: int, rows: int) -> None:
        """A step was scheduled."""
        self._make_room()
        entry.note_schedule(self._host.handle, slice_, rows)

    def ran(self, slice_: int, rows: int, counts: Int64, ran: UInt8) -> None:
        """The results of a step have come and are not learned yet."""
        entry.replay(self._host.handle, slice_, rows, counts, ran)

    def learned(self) -> None:
        """Keys were published."""
        entry.check_published(self._host.handle)

    @property
    def count(self) -> int:
        """Findings so far, those that were only counted included."""
        return int(self._host.core.finding_count[0])

    def findings(self) -> list[str]:
        """One sentence a finding, the first MOST_FINDINGS of them."""
        names = [group.name for group in self._host.geometry.groups]
        sentences = []
        for law, owner, group, block, claimed, held in self._host.core.finding[
            : self.count
        ].tolist():
            what = f"request {owner}: block {block} of {names[group]}"
            match LAWS[law]:
                case "provenance":
                    said = f"is published at {claimed} but holds {_held(held)}"
                case "ownership":
                    said = f"is written at {claimed} although it is published up to {held}"
                case "seed":
                    said = f"is resumed at {claimed} but holds {_held(held)}"
                case _:
                    said = f"is published at {claimed} and at {held}"
            sentences.append(f"{LAWS[law]}: {what} {said}")
        return sentences

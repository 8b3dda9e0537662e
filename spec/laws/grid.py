"""grid: where the chunks of a prefill may start and end.

Kept positions are legal(P) and extend(P) of the prompt, the junction of the last lookup (on the
alignment) and, with dense or interval retention, the multiples of the retention period.

*verified*: every scheduled prefill chunk (start < prefill_end) of a geometry with a state group: a
start inside a block does not pass its end; an end off the grid is kept, the prefill's, or inside
the starting block; no kept position is passed unless the chunk exports it as its checkpoint.

*not verified*: decode steps (they may pass a boundary with drafts; provenance and neutrality watch
them); whether the checkpoint was really exported (provenance does, when it is published);
geometries without a state group, which have no grid.
"""

from collections.abc import Mapping
from typing import ClassVar

from truehit.spec.laws.base import Handler, Law, Report, Subscription, ViolationClass
from truehit.spec.laws.kept import Kept
from truehit.spec.ledger import Ledger
from truehit.spec.predicates.split import ends_well, passes_nothing_kept, stays_in_block
from truehit.spec.trace import Plane, Schedule


class Grid(Law):
    name: ClassVar[str] = "grid"
    sentence: ClassVar[str] = (
        "a chunk that starts inside a block does not pass that block's end; any other chunk ends "
        "on the state grid, at a kept position, at the end of the prefill, or inside the block it "
        "started in; a chunk never passes a kept position unless it exports it as its checkpoint"
    )
    planes: ClassVar[frozenset[Plane]] = frozenset({Plane.SCHEDULE, Plane.LOOKUP})

    def __init__(self, ledger: Ledger, report: Report) -> None:
        super().__init__(ledger, report)
        self._grid = ledger.geometry.grid_tokens
        self._kept = Kept(ledger.geometry)

    def handlers(self) -> Mapping[Subscription, Handler]:
        return {} if self._grid is None else {Schedule: self.on_schedule}

    def on_schedule(self, event: Schedule) -> None:
        start, end, grid = event.start, event.end, self._grid
        if start >= event.prefill_end or start >= end or grid is None:
            return
        request, period = self.ledger.requests[event.request], self._kept.period
        exported = event.checkpoint_tokens or 0
        stop = self._kept.first_above(request, start)
        if stop == exported:
            stop = self._kept.first_above(request, stop)
        kept = (request.replay, request.extend, request.junction, period)
        block_end = (start // grid + 1) * grid
        if not stays_in_block(start, grid, end):
            why = f"starts inside a block and passes its end {block_end}"
            self._say(event, ViolationClass.CORRUPT, why)
        elif not ends_well(start, event.prefill_end, grid, *kept, end):
            why = f"ends off the grid of {grid}, at no kept position, beyond {block_end}"
            self._say(event, ViolationClass.POLICY, why)
        if not passes_nothing_kept(start, end, exported, stop, *kept):
            why = f"passes the kept position {stop} and does not export it"
            self._say(event, ViolationClass.WASTE, why, stop)

    def _say(
        self,
        event: Schedule,
        violation_class: ViolationClass,
        why: str,
        position: int | None = None,
    ) -> None:
        sentence = (
            f"request {event.request}: chunk [{event.start}, {event.end}) {why} (step {event.step})"
        )
        self.say(violation_class, event.step, event.request, sentence, position_tokens=position)

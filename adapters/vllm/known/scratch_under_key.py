"""S0: an unwritten scratch block gets the key of a checkpoint.

The step that exports a state from the middle of a chunk leaves the scratch block of the step before
in the column where that state would lie by its position, and files it there. The release has the
defect where, in a step that exports the state of n tokens, the key of n tokens names a block that
nothing wrote and that is not the one the export went to: the mirror's own inability to export
would leave the export's block unwritten, and is no defect.
"""

from truehit.adapters.vllm.driver import Driver
from truehit.adapters.vllm.known.play import Run, drop_modes, play, scenario_of
from truehit.adapters.vllm.known.status import Known, Status
from truehit.spec.trace import Complete, Copy, Event, Publish, Schedule, Table, TableOp, Write

DEFECT = "S0"
GROUP = "state"


def judge(driver: Driver) -> Known:
    """With both drop modes."""
    found = [_judge(play(driver, scenario)) for scenario in drop_modes(scenario_of(DEFECT))]
    return next((one for one in found if one.status is Status.PRESENT), found[0])


def _judge(run: Run) -> Known:
    steps = _Steps()
    for event in run.driven.trace:
        steps.see(event)
    carve, hit = run.carve("first"), run.hits["resend"]
    if steps.unwritten:
        evidence = f"{steps.unwritten[0]}; carved {carve}, the resend hits {hit}"
        return Known(DEFECT, Status.PRESENT, evidence)
    if not steps.exports:
        return Known(DEFECT, Status.CLEAN, f"no chunk of {carve} exports a state")
    evidence = (
        f"carved {carve}, exports state@{steps.exports[0]}, and every key of such a step names a "
        f"block that it wrote; the resend hits {hit}"
    )
    return Known(DEFECT, Status.CLEAN, evidence)


class _Steps:
    """Follows the state group. `exports`: tokens of the states that were exported; `unwritten`:
    a sentence for each key that names a block that nothing wrote."""

    def __init__(self) -> None:
        self.exports: list[int] = []
        self.unwritten: list[str] = []
        self._written: set[int] = set()
        self._keys: list[tuple[int, int]] = []
        self._ends: dict[str, int] = {}
        self._exported: dict[int, int] = {}

    def see(self, event: Event) -> None:
        """The next event of the trace."""
        match event:
            case Schedule(drafts=0):
                self._ends[event.request] = event.end
            case Table(group=name, op=TableOp.PLACE) if name == GROUP:
                self._written -= set(event.blocks)
            case Publish(group=name) if name == GROUP:
                self._keys.extend(event.keys)
            case Copy(group=name) if name == GROUP:
                self._written.add(event.target)
            case Write(group=name) if name == GROUP:
                self._written |= set(event.blocks)
                if event.end < self._ends.get(event.request, event.end):
                    self._exported[event.end] = event.blocks[0]
            case Complete():
                self._close(event.step)

    def _close(self, step: int) -> None:
        for tokens, block in self._keys:
            exported = self._exported.get(tokens)
            if exported not in (None, block) and block not in self._written:
                self.unwritten.append(
                    f"step {step}: block {block} is published as state@{tokens} but nothing wrote "
                    f"it, the state was exported to block {exported}"
                )
        self.exports.extend(self._exported)
        self._keys, self._ends, self._exported = [], {}, {}

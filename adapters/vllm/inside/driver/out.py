"""The trace as it is written: one JSON object an event, in order, in the form of trace files."""

from typing import Any


class Recorder:
    """Collects the events of one scenario. `step` and the device order are stamped here."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self.step = 0
        self._order = 0

    def emit(self, kind: str, **fields: Any) -> None:
        """An event of this step."""
        self.events.append({"kind": kind, "step": self.step, **fields})

    def device(self, kind: str, **fields: Any) -> None:
        """An event on the device, after those before it."""
        self.events.append({"kind": kind, "step": self.step, "order": self._order, **fields})
        self._order += 1

    def next_step(self) -> None:
        self.step += 1
        self._order = 0

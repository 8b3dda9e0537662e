"""The recorder: the oracle's trace, in the order things happen."""

from truehit.spec.trace import Event


class Recorder:
    """Collects events; knows the step and hands out the device order within it."""

    __slots__ = ("_order", "events", "step")

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.step = 0
        self._order = 0

    def next_step(self) -> None:
        """The next step begins."""
        self.step += 1
        self._order = 0

    def next_order(self) -> int:
        """The next place in the device order of this step."""
        self._order += 1
        return self._order

    def emit(self, event: Event) -> None:
        """Append one event."""
        self.events.append(event)

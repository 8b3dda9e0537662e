"""Either side of the comparison: made ready for one workload, then asked for rounds."""

from typing import Any, Protocol

from truehit.adapters.vllm.inside.control_peer.clock import Measured


class Session(Protocol):
    """One workload, ready on one side."""

    def settings(self) -> dict[str, Any]:
        """What it really runs with."""

    def measure(self, number: int) -> Measured:
        """Do round `number`."""

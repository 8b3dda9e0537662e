"""The peer's side: a real vLLM scheduler in a process of its own environment."""

from typing import Any

from truehit.adapters.vllm.inside.control_peer.clock import Measured
from truehit.adapters.vllm.inside.control_peer.workloads import Workload, to_data
from truehit.adapters.vllm.process import Process

PACKAGE = "control_peer"


class PeerSession:
    """The workload that the process was last prepared for."""

    def __init__(self, process: Process, workload: Workload) -> None:
        self._process = process
        self._settings = process.ask(do="prepare", workload=to_data(workload))["ready"]

    def settings(self) -> dict[str, Any]:
        return dict(self._settings)

    def measure(self, number: int) -> Measured:
        return Measured(**self._process.ask(do="measure", round=number)["measured"])

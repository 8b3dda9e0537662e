"""The known defects, each a scenario and a reading of what a release does with it."""

from truehit.adapters.vllm.known.status import Known, Status
from truehit.adapters.vllm.known.table import judge_known

__all__ = ["Known", "Status", "judge_known"]

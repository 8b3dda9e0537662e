"""Our side: the engine behind the same workloads, in this process."""

from truehit.adapters.control_bench.ours_pool import ChurnSession
from truehit.adapters.control_bench.ours_prompts import HashingSession, LookupSession
from truehit.adapters.control_bench.ours_steps import DecodeSession, PrefillSession
from truehit.adapters.control_bench.side import Session
from truehit.adapters.control_bench.works import Output
from truehit.adapters.vllm.inside.control_peer.workloads import (
    Churn,
    Decode,
    Hashing,
    Lookup,
    Prefill,
    Workload,
)


def prepare(workload: Workload, output: Output) -> Session:
    """An engine where the workload begins, whose results are handed on in this form."""
    match workload:
        case Decode():
            return DecodeSession(workload, output)
        case Prefill():
            return PrefillSession(workload, output)
        case Lookup():
            return LookupSession(workload, output)
        case Hashing():
            return HashingSession(workload, output)
        case Churn():
            return ChurnSession(workload, output)

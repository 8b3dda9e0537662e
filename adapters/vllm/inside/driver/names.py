"""Everything that is imported of vLLM, under one roof."""

# vLLM is there only in the environment that this package is started in.
# mypy: disable-error-code="import-not-found, import-untyped, no-any-unimported, attr-defined"
import torch
from vllm import __version__ as VERSION
from vllm.config import (
    CacheConfig,
    DeviceConfig,
    ModelConfig,
    ParallelConfig,
    SchedulerConfig,
    SpeculativeConfig,
    VllmConfig,
)
from vllm.sampling_params import SamplingParams
from vllm.utils.hashing import get_hash_fn_by_name
from vllm.v1 import kv_cache_interface
from vllm.v1.core import kv_cache_utils
from vllm.v1.core.kv_cache_manager import KVCacheManager
from vllm.v1.core.sched.scheduler import Scheduler
from vllm.v1.engine.core import EngineCore
from vllm.v1.kv_cache_interface import (
    FullAttentionSpec,
    KVCacheConfig,
    KVCacheGroupSpec,
    MambaSpec,
    SlidingWindowSpec,
)
from vllm.v1.outputs import DraftTokenIds, ModelRunnerOutput
from vllm.v1.request import Request, RequestStatus
from vllm.v1.structured_output import StructuredOutputManager

HALF = torch.float16
SINGLE = torch.float32

__all__ = [
    "HALF",
    "SINGLE",
    "VERSION",
    "CacheConfig",
    "DeviceConfig",
    "DraftTokenIds",
    "EngineCore",
    "FullAttentionSpec",
    "KVCacheConfig",
    "KVCacheGroupSpec",
    "KVCacheManager",
    "MambaSpec",
    "ModelConfig",
    "ModelRunnerOutput",
    "ParallelConfig",
    "Request",
    "RequestStatus",
    "SamplingParams",
    "Scheduler",
    "SchedulerConfig",
    "SlidingWindowSpec",
    "SpeculativeConfig",
    "StructuredOutputManager",
    "VllmConfig",
    "get_hash_fn_by_name",
    "kv_cache_interface",
    "kv_cache_utils",
]

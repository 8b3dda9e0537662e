"""Everything that is imported of vLLM, under one roof: a release's changes of name end here."""

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
from vllm.v1.core.block_pool import BlockPool
from vllm.v1.core.kv_cache_utils import (
    get_request_block_hasher,
    init_none_hash,
    resolve_kv_cache_block_sizes,
)
from vllm.v1.core.sched.scheduler import Scheduler
from vllm.v1.kv_cache_interface import (
    FullAttentionSpec,
    KVCacheConfig,
    KVCacheGroupSpec,
    MambaSpec,
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
    "BlockPool",
    "CacheConfig",
    "DeviceConfig",
    "DraftTokenIds",
    "FullAttentionSpec",
    "KVCacheConfig",
    "KVCacheGroupSpec",
    "MambaSpec",
    "ModelConfig",
    "ModelRunnerOutput",
    "ParallelConfig",
    "Request",
    "RequestStatus",
    "SamplingParams",
    "Scheduler",
    "SchedulerConfig",
    "SpeculativeConfig",
    "StructuredOutputManager",
    "VllmConfig",
    "get_hash_fn_by_name",
    "get_request_block_hasher",
    "init_none_hash",
    "resolve_kv_cache_block_sizes",
]

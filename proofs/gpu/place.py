"""Where a run measures: on the GPU, or on the host, where everything but speed can be tried.

On the host kernels are checked in Triton's interpreter and what is timed are the references, at
small sizes; its figures say nothing of a GPU."""

import time
from dataclasses import dataclass
from enum import StrEnum

import torch

from truehit.proofs.gpu.operations import Operations, launchers, references
from truehit.proofs.gpu.timing import ClockTimer, GraphTimer, Timer
from truehit.proofs.gpu.workload import LAYER, Layer

COPIED_BYTES = 1 << 30
MATMUL_SIZE = 8192


class Place(StrEnum):
    GPU = "gpu"
    HOST = "host"


@dataclass(frozen=True, slots=True)
class Bench:
    """What the timing sections need to know of a place."""

    device: torch.device
    operations: Operations
    timer: Timer
    layer: Layer
    copied_bytes: int
    matmul_size: int


def bench(place: Place) -> Bench:
    """Of a place."""
    match place:
        case Place.GPU:
            device = torch.device("cuda")
            return Bench(device, launchers(), GraphTimer(), LAYER, COPIED_BYTES, MATMUL_SIZE)
        case Place.HOST:
            timer = ClockTimer(time.perf_counter, 3)
            device = torch.device("cpu")
            return Bench(device, references(), timer, Layer(1, 2, 16), 1 << 20, 64)

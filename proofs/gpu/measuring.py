"""What a child does for an item of each section, and what an exception means there.

A library that is missing, or memory that does not suffice, leaves the item unobserved anywhere. Any
other exception of a kernel or a model that is checked is a failure of it; of what is only timed, it
is not."""

import gc
import importlib.metadata
import platform
import time
from collections.abc import Iterator
from dataclasses import dataclass

import torch
import triton

from truehit.proofs.gpu.building import build
from truehit.proofs.gpu.compiling import compiled, one_line
from truehit.proofs.gpu.place import Bench, Place, bench
from truehit.proofs.gpu.plan import (
    COPY_RATE,
    ENVIRONMENT,
    FIRST_LAUNCHES,
    first_launch,
    workload_of,
)
from truehit.proofs.gpu.record import (
    Ceiling,
    Compiled,
    Environment,
    Failed,
    Record,
    Section,
    Timed,
    Unobserved,
)
from truehit.proofs.gpu.timing import sets_of
from truehit.proofs.gpu.workload import floor_bytes

LIBRARY = "fla-core"


@dataclass(frozen=True, slots=True)
class Job:
    """`capability`: 90 for sm_90."""

    section: Section
    items: tuple[str, ...]
    place: Place
    seed: int
    repeats: int
    capability: int


def measured(job: Job) -> Iterator[Record]:
    """A record an item, in their order."""
    if job.section is Section.CORRECTNESS:
        _prepare_correctness(job.place)
    for item in job.items:
        yield _measured(job, item)
        gc.collect()
        if job.place is Place.GPU and job.section is not Section.PRECOMPILE:
            torch.cuda.empty_cache()


def _measured(job: Job, item: str) -> Record:
    try:
        return _record(job, item)
    except (ImportError, torch.OutOfMemoryError) as error:
        return Unobserved(item, one_line(error))
    except Exception as error:
        if job.section in (Section.CORRECTNESS, Section.NEUTRALITY):
            return Failed(item, one_line(error))
        return Unobserved(item, one_line(error))


def is_lost(record: Record) -> bool:
    """After an error of CUDA's own, a process can compute nothing any more."""
    match record:
        case Failed(_, words) | Unobserved(_, words):
            return "CUDA error" in words or "AcceleratorError" in words
        case _:
            return False


def _record(job: Job, item: str) -> Record:
    match job.section:
        case Section.CEILINGS if item == ENVIRONMENT:
            return environment(job.place)
        case Section.CEILINGS:
            return ceiling(item, bench(job.place))
        case Section.PRECOMPILE if item in map(first_launch, FIRST_LAUNCHES):
            return launched(item, bench(job.place))
        case Section.PRECOMPILE:
            return compiled(item, job.capability)
        case Section.CORRECTNESS:
            return _correctness(job, item)
        case Section.NEUTRALITY:
            from truehit.proofs.gpu.neutrality import neutral

            return neutral(item, job.place)
        case Section.TIMINGS:
            return timed(item, bench(job.place))


def _prepare_correctness(place: Place) -> None:
    if place is Place.HOST:
        from truehit.kernels.interpreter import activate

        activate()
    # In this mode torch fills what it allocates: an output nobody wrote is NaN.
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.utils.deterministic.fill_uninitialized_memory = True  # type: ignore[attr-defined]


def _correctness(job: Job, item: str) -> Record:
    from truehit.proofs.gpu.cases import cases
    from truehit.proofs.gpu.sizes import SIZES
    from truehit.proofs.gpu.trial import check

    case = next(each for each in cases(*SIZES) if each.name == item)
    device = torch.device("cuda" if job.place is Place.GPU else "cpu")
    return check(item, case.trial(job.seed, device), job.repeats)


def environment(place: Place) -> Environment:
    """What runs here."""
    gpu, architecture = "none", "none"
    if place is Place.GPU:
        gpu = torch.cuda.get_device_name()
        architecture = "sm_{}{}".format(*torch.cuda.get_device_capability())
    try:
        library = importlib.metadata.version(LIBRARY)
    except importlib.metadata.PackageNotFoundError:
        library = "not installed"
    return Environment(
        item=ENVIRONMENT,
        gpu=gpu,
        architecture=architecture,
        python=platform.python_version(),
        torch=torch.__version__,
        triton=triton.__version__,
        cuda=torch.version.cuda or "none",
        library=library,
    )


def ceiling(item: str, place: Bench) -> Ceiling:
    """What the device does at best: a large copy, or a large product."""
    if item == COPY_RATE:
        shape = (place.copied_bytes,)
        source = torch.zeros(shape, dtype=torch.uint8, device=place.device)
        target = torch.empty_like(source)
        seconds, rounds = place.timer.measure([lambda: target.copy_(source)])
        return Ceiling(item, 2 * place.copied_bytes / seconds / 1e9, "GB/s", rounds)
    size = place.matmul_size
    left, right = torch.randn(2, size, size, device=place.device).to(torch.bfloat16)
    product = torch.empty_like(left)
    seconds, rounds = place.timer.measure([lambda: torch.mm(left, right, out=product)])
    return Ceiling(item, 2 * size**3 / seconds / 1e12, "TFLOPS", rounds)


def launched(item: str, place: Bench) -> Compiled:
    """A workload once, for what its libraries compile and tune."""
    workload = next(each for each in FIRST_LAUNCHES if first_launch(each) == item)
    started = time.monotonic()
    with torch.no_grad():
        build(workload, place.layer, place.operations, place.device)()
    if place.device.type == "cuda":
        torch.cuda.synchronize()
    return Compiled(item, time.monotonic() - started, "")


def timed(item: str, place: Bench) -> Timed:
    """A workload, on as many sets of inputs as make caches cold."""
    workload = workload_of(item)
    moved = floor_bytes(workload, place.layer)
    sets = sets_of(moved)
    runs = []
    for number in range(sets):
        # The library gets the inputs that the kernels get.
        torch.manual_seed(number)
        runs.append(build(workload, place.layer, place.operations, place.device))
    with torch.no_grad():
        seconds, replays = place.timer.measure(runs)
    return Timed(item, seconds, replays, sets, moved)

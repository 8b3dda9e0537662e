"""What passes between measuring and judging: what to compile, and what came out of it."""

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import TypeAdapter

from truehit.kernels.table import Architecture


@dataclass(frozen=True, slots=True)
class Job:
    """One compilation. `module` is where the kernel's table is."""

    module: str
    kernel: str
    variant: str
    architecture: Architecture

    @property
    def name(self) -> str:
        """As in the register table and in every failure."""
        return f"{self.kernel}/{self.variant}"


@dataclass(frozen=True, slots=True)
class Measured:
    """A kernel that compiled. `registers`: a thread; `shared_bytes`: static and dynamic, a block;
    `matrix`: matrix instructions in the PTX by family; `rounded_to_tf32`: how many of them read
    fp32 operands rounded to tf32; `expects_matrix`: what the variant says."""

    warps: int
    stages: int
    registers: int
    stack_bytes: int
    spill_store_bytes: int
    spill_load_bytes: int
    shared_bytes: int
    tensor_memory_columns: int
    matrix: Mapping[str, int]
    rounded_to_tf32: int
    expects_matrix: bool


@dataclass(frozen=True, slots=True)
class Rejected:
    """The table is not one that can be compiled, or the compiler said no. One line."""

    rejection: str


@dataclass(frozen=True, slots=True)
class Lost:
    """The compiler gave no answer: it ended, or took too long. One line."""

    loss: str


Answer = Measured | Rejected | Lost


@dataclass(frozen=True, slots=True)
class Taken:
    """A job and its answer."""

    job: Job
    answer: Answer


@dataclass(frozen=True, slots=True)
class Problem:
    """A module of kernels that cannot be looked at, and why."""

    module: str
    reason: str


@dataclass(frozen=True, slots=True)
class Found:
    """Said once by a child, before any job."""

    triton: str
    jobs: tuple[Job, ...]
    problems: tuple[Problem, ...]


FOUND: TypeAdapter[Found] = TypeAdapter(Found)
JOB: TypeAdapter[Job] = TypeAdapter(Job)
ANSWER: TypeAdapter[Measured | Rejected] = TypeAdapter(Measured | Rejected)

"""What a measurement must hold: a pure function, so that every limit is tested without a compiler.

Blocking architectures are those the kernels run on; what is found on the other one is reported.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from truehit.kernels.gate.measurement import Job, Lost, Measured, Rejected, Taken
from truehit.kernels.table import Architecture

BLOCKING = frozenset({Architecture.SM_80, Architecture.SM_90})
# What one block may ask for, of the 164 and 228 KiB of a multiprocessor.
SHARED_LIMIT_BYTES = {
    Architecture.SM_80: 163 << 10,
    Architecture.SM_90: 227 << 10,
    Architecture.SM_100: 227 << 10,
}
TENSOR_MEMORY_LIMIT_COLUMNS = 512
GROWTH_LIMIT_PERCENT = 10


class Verdict(StrEnum):
    """The worst of a run is its answer."""

    HOLDS = "holds"
    REFUTED = "refuted"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Finding:
    """`text`: number and limit, one line."""

    job: Job
    verdict: Verdict
    text: str

    @property
    def blocks(self) -> bool:
        """Does it decide, or is it only told?"""
        return self.job.architecture in BLOCKING


def judge(taken: Taken) -> tuple[Finding, ...]:
    """Everything that is wrong with one compilation by itself; nothing if it holds."""
    match taken.answer:
        case Rejected(rejection):
            return (Finding(taken.job, Verdict.REFUTED, rejection),)
        case Lost(loss):
            return (Finding(taken.job, Verdict.UNKNOWN, loss),)
        case Measured() as measured:
            words = (
                spills(measured),
                shared(measured, taken.job.architecture),
                tensor_memory(measured),
                matrix(measured),
            )
            return tuple(Finding(taken.job, Verdict.REFUTED, word) for word in words if word)


def compare(taken: Taken, recorded_registers: int | None) -> tuple[Finding, ...]:
    """What is wrong with one compilation against what was recorded of it."""
    match taken.answer:
        # The assembler that spills a lot gives up registers too: their number says nothing.
        case Measured() as measured if spills(measured) is None:
            word = registers(measured, recorded_registers)
            return (Finding(taken.job, Verdict.REFUTED, word),) if word else ()
        case _:
            return ()


def spills(measured: Measured) -> str | None:
    """A register that lies in memory is read at the speed of memory."""
    stores, loads = measured.spill_store_bytes, measured.spill_load_bytes
    if not stores and not loads:
        return None
    return (
        f"spills {stores} bytes of stores and {loads} of loads a thread, and 0 are allowed; "
        f"it uses {measured.registers} registers with {measured.warps} warps"
    )


def shared(measured: Measured, architecture: Architecture) -> str | None:
    """A block that asks for more is refused by the driver, at its first launch."""
    limit_bytes = SHARED_LIMIT_BYTES[architecture]
    if measured.shared_bytes <= limit_bytes:
        return None
    return (
        f"asks for {measured.shared_bytes} bytes of shared memory, and a block has "
        f"{limit_bytes}; it has {measured.stages} stages"
    )


def tensor_memory(measured: Measured) -> str | None:
    """As for shared memory."""
    if measured.tensor_memory_columns <= TENSOR_MEMORY_LIMIT_COLUMNS:
        return None
    return (
        f"asks for {measured.tensor_memory_columns} columns of tensor memory, and there are "
        f"{TENSOR_MEMORY_LIMIT_COLUMNS}"
    )


def matrix(measured: Measured) -> str | None:
    """A product that silently became scalar code is right, and tens of times slower."""
    if not measured.expects_matrix or any(measured.matrix.values()):
        return None
    return "has 0 matrix instructions, and its variant expects some"


def registers(measured: Measured, recorded: int | None) -> str | None:
    """Registers bound how many warps are resident; growth that nobody meant is a regression."""
    if recorded is None:
        return "has no recorded registers; --record writes what it uses"
    limit = recorded * (100 + GROWTH_LIMIT_PERCENT) // 100
    if measured.registers <= limit:
        return None
    return (
        f"uses {measured.registers} registers; {recorded} are recorded, so at most {limit} "
        f"are allowed; --record writes the new number if it is meant"
    )


def is_refuted_by_spills(taken: Taken) -> bool:
    """What must be so of a control."""
    return isinstance(taken.answer, Measured) and spills(taken.answer) is not None


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """Refuted before unknown: a refutation stays one whatever else is learned."""
    seen = set(verdicts)
    order = (Verdict.REFUTED, Verdict.UNKNOWN)
    return next((verdict for verdict in order if verdict in seen), Verdict.HOLDS)

"""Admission: what fits, now and to the end. The estimate of a step is the plan's own count."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AdmitQuery:
    """All in blocks. `free`: free blocks of the pool. `owed`: what admitted requests may still take
    under their reservations. `needed`: taken by this step. `whole`: the most this request ever
    holds."""

    free: int
    owed: int
    needed: int
    whole: int


def fits_now(q: AdmitQuery) -> bool:
    """The step's blocks are there."""
    return q.needed <= q.free


def fits_to_the_end(q: AdmitQuery) -> bool:
    """The whole request fits beside every reservation given before."""
    return max(q.whole, q.needed) + q.owed <= q.free


def pages_needed(end: int, held: int, block: int) -> int:
    """Attention pages to take so that tokens [0, end) have a page; `held` columns exist already."""
    return max(0, (end + block - 1) // block - held)

"""Which sizes a question speaks of: all of them, or one listed geometry.

Mixed radix covers every `unit | alignment | block`. Two grids of which neither divides the other
have no radix, so those pairs are asked at concrete sizes with everything else unbounded.
"""

from dataclasses import dataclass
from math import lcm
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class AllSizes:
    """One block size for all groups; unit, alignment and block symbolic, each dividing the next."""

    @property
    def label(self) -> str:
        """The domain in words."""
        return "all unit | alignment | block"


@dataclass(frozen=True, slots=True)
class Sizes:
    """One geometry in tokens; a chunk's checkpoint alignment is free unless it is given."""

    grid: int
    read_grid: int
    unit: int
    alignment: int | None = None

    @property
    def scheduler_block(self) -> int:
        """The least common multiple of the groups' blocks."""
        return lcm(self.grid, self.read_grid)

    @property
    def label(self) -> str:
        """The domain in words."""
        fixed = f", alignment {self.alignment}" if self.alignment is not None else ""
        blocks = (
            f"block {self.grid}"
            if self.grid == self.read_grid
            else f"blocks {self.read_grid}/{self.grid}"
        )
        return f"{blocks}, unit {self.unit}{fixed}"


Scope: TypeAlias = AllSizes | Sizes

EVERYWHERE = AllSizes()
SCOPES: tuple[Scope, ...] = (
    EVERYWHERE,
    Sizes(grid=1600, read_grid=1600, unit=16),
    Sizes(grid=1648, read_grid=816, unit=16),
    Sizes(grid=1568, read_grid=4, unit=4),
)

WIDEST_SMALL_BLOCK = 12
"""Where the search for the smallest geometry of a refutation stops: the defects met so far need two
or four units a block; three times that leaves room for one that needs more."""


def small_geometries() -> list[Sizes]:
    """Geometries by block, then unit, then alignment: the order of a reader's effort."""
    return [
        Sizes(grid=block, read_grid=block, unit=unit, alignment=alignment)
        for block in range(1, WIDEST_SMALL_BLOCK + 1)
        for unit in range(1, block + 1)
        for alignment in range(unit, block + 1)
        if block % alignment == 0 and alignment % unit == 0
    ]

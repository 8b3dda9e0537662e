"""Kept positions of a request, from the geometry's formulas: what `grid` and `reach` mean by
*kept*."""

from truehit.spec.geometry import Geometry
from truehit.spec.ledger_records import RequestBook


class Kept:
    """legal(P), extend(P), the junction, and the multiples of the retention period (0: none)."""

    __slots__ = ("period",)

    def __init__(self, geometry: Geometry) -> None:
        self.period: int = geometry.retention_period_tokens or 0

    def first_above(self, request: RequestBook, start: int) -> int:
        """The first kept position above `start`, or 0."""
        first = (start // self.period + 1) * self.period if self.period else 0
        for point in (request.replay, request.extend, request.junction):
            if start < point and (point < first or not first):
                first = point
        return first

    def between(self, request: RequestBook, start: int, end: int) -> list[int]:
        """Kept positions in (start, end], ascending."""
        points = (request.replay, request.extend, request.junction)
        found = {point for point in points if start < point <= end}
        if self.period:
            first = (start // self.period + 1) * self.period
            found.update(range(first, end + 1, self.period))
        return sorted(found)

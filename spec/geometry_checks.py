"""Every impossible geometry is refused by one sentence: field, number, why, and what works."""

from truehit.spec import geometry_groups, geometry_limits
from truehit.spec.geometry import Geometry
from truehit.spec.geometry_error import GeometryError

__all__ = ["GeometryError", "check"]

_CHECKS = (
    geometry_groups.names,
    geometry_groups.blocks,
    geometry_groups.windows,
    geometry_groups.hash_unit,
    geometry_groups.kernel_chunk,
    geometry_limits.lengths,
    geometry_limits.drafts,
    geometry_limits.drop,
    geometry_limits.retention,
    geometry_limits.step_limits,
    geometry_limits.checkpoints,
    geometry_limits.pool,
)


def check(geometry: Geometry) -> None:
    """Raise the first `GeometryError` of a geometry that cannot work."""
    for find in _CHECKS:
        for error in find(geometry):
            raise error

"""A prompt computed alone: one chunk, pages of its own, nothing cached. What every other way of
computing it is compared with."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from torch import Tensor

from truehit.engine.memory import Int32
from truehit.engine.model.backend import Backend
from truehit.engine.model.plane import Model, Plane
from truehit.engine.model.step import Row, pack
from truehit.spec.geometry import Geometry, Kind
from truehit.spec.units import ceil_div, running_column


@dataclass(frozen=True, slots=True)
class Alone:
    """`logits` [tokens, vocabulary] after every token; the plane and the tables it ran on."""

    logits: Tensor
    plane: Plane
    tables: tuple[Int32, ...]


def compute_alone(
    model: Model,
    geometry: Geometry,
    backend: Backend,
    path: Sequence[int],
    *,
    is_watched: bool = False,
) -> Alone:
    """Run the whole path as one prefill; at least one token."""
    tables, blocks = _tables(geometry, len(path))
    plane = Plane(model, replace(geometry, pool_blocks=blocks), backend, is_watched=is_watched)
    plane.begin(0, 0, 1)
    row = Row(
        request=0,
        slot=0,
        path=path,
        start=0,
        planned_end=len(path),
        checkpoint_tokens=0,
        is_decode=False,
        tables=tables,
        logits_from=0,
    )
    logits = plane.forward(pack([row], backend.device))
    plane.settle([len(path)])
    return Alone(logits, plane, tables)


def _tables(geometry: Geometry, tokens: int) -> tuple[tuple[Int32, ...], int]:
    """A page for every column, one for the state, and how many blocks that takes with block 0."""
    tables, blocks = [], 1
    for group in geometry.groups:
        columns = ceil_div(tokens, group.block_tokens)
        match group.kind:
            case Kind.RECURRENT_STATE:
                table = np.zeros(columns, np.int32)
                table[running_column(tokens, group.block_tokens)] = blocks
                blocks += 1
            case Kind.CIRCULAR_BUFFER:
                table = np.zeros(0, np.int32)
            case Kind.FULL_ATTENTION | Kind.SLIDING_WINDOW:
                table = np.arange(blocks, blocks + columns, dtype=np.int32)
                blocks += columns
        tables.append(table)
    return tuple(tables), blocks

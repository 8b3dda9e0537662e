"""One step, packed: the tokens of all rows behind each other, prefill rows first.

A row says what the scheduler said; everything else follows from it, by host arithmetic on what the
host knows and by slot arithmetic (`engine.slots`, `kernels.slots`) on what the device knows."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from truehit.engine.memory import Int32

SEGMENT_TOKENS = 64
"""The chunk of the chunked delta rule; segments end at its multiples, so that a prompt is cut alike
wherever it was resumed from."""


@dataclass(frozen=True, slots=True)
class Row:
    """One request's part of a step. `request`: its number; `slot`: its row of the engine; `path`:
    its tokens up to the last one that runs, drafts included; it runs [start, len(path)).
    `planned_end`: where the scheduler thought it would end. `checkpoint_tokens`: the position
    exported from the middle (0: none). `tables`: by group, int32[columns]. `logits_from`: logits
    are wanted from this position on."""

    request: int
    slot: int
    path: Sequence[int]
    start: int
    planned_end: int
    checkpoint_tokens: int
    is_decode: bool
    tables: tuple[Int32, ...]
    logits_from: int

    @property
    def end(self) -> int:
        return len(self.path)


@dataclass(frozen=True, slots=True)
class Step:
    """R rows, T tokens; the first `prefill_rows` rows with `prefill_tokens` tokens and
    `prefill_segments` segments are prefills, the others decode or verify and have a segment a
    token.

    tokens, positions int64[T]; row_starts int32[R + 1]; row_segments int32[R + 1]; segment_starts
    int32[S + 1]; segment_picks int64[S]: which of (nothing, the T token targets, the R checkpoint
    targets) receives the state after the segment; wanted int64[W]: tokens whose logits are
    wanted."""

    rows: tuple[Row, ...]
    prefill_rows: int
    prefill_tokens: int
    prefill_segments: int
    longest_row_tokens: int
    tokens: Tensor
    positions: Tensor
    row_starts: Tensor
    row_segments: Tensor
    segment_starts: Tensor
    segment_picks: Tensor
    wanted: Tensor

    @property
    def token_count(self) -> int:
        return self.tokens.shape[0]


def segment_ends(start: int, end: int, checkpoint_tokens: int) -> list[int]:
    """Where the segments of a prefill row end: at multiples, at the checkpoint, at its end."""
    first = start // SEGMENT_TOKENS * SEGMENT_TOKENS + SEGMENT_TOKENS
    ends = {*range(first, end, SEGMENT_TOKENS), end}
    if start < checkpoint_tokens < end:
        ends.add(checkpoint_tokens)
    return sorted(ends)


def pack(rows: Sequence[Row], device: torch.device) -> Step:
    """Pack the rows of a step; prefill rows come first, otherwise in the order given."""
    ordered = tuple(sorted(rows, key=lambda row: row.is_decode))
    row_starts, row_segments, segment_starts = [0], [0], [0]
    tokens: list[int] = []
    positions: list[int] = []
    wanted: list[int] = []
    picks: list[tuple[int, bool]] = []
    for number, row in enumerate(ordered):
        first = row_starts[-1]
        tokens += row.path[row.start : row.end]
        positions += range(row.start, row.end)
        ends = (
            list(range(row.start + 1, row.end + 1))
            if row.is_decode
            else segment_ends(row.start, row.end, row.checkpoint_tokens)
        )
        for end in ends:
            is_checkpoint = not row.is_decode and end == row.checkpoint_tokens != row.end
            segment_starts.append(first + end - row.start)
            picks.append((number if is_checkpoint else first + end - row.start - 1, is_checkpoint))
        wanted += range(first + max(row.logits_from - row.start, 0), first + row.end - row.start)
        row_starts.append(first + row.end - row.start)
        row_segments.append(len(picks))
    prefills = sum(not row.is_decode for row in ordered)
    count = len(tokens)

    def index(values: Sequence[int], dtype: torch.dtype = torch.int32) -> Tensor:
        return torch.tensor(values, dtype=dtype, device=device)

    return Step(
        rows=ordered,
        prefill_rows=prefills,
        prefill_tokens=row_starts[prefills],
        prefill_segments=row_segments[prefills],
        longest_row_tokens=_longest(row_starts),
        tokens=index(tokens, torch.int64),
        positions=index(positions, torch.int64),
        row_starts=index(row_starts),
        row_segments=index(row_segments),
        segment_starts=index(segment_starts),
        segment_picks=index(
            [1 + count + at if is_checkpoint else 1 + at for at, is_checkpoint in picks],
            torch.int64,
        ),
        wanted=index(wanted, torch.int64),
    )


def _longest(offsets: Sequence[int]) -> int:
    return int(np.diff(offsets).max(initial=0))

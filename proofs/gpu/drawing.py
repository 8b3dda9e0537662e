"""Random inputs of one seed: drawn on the CPU, so that every device gets the same."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

import torch
from torch import Tensor

from truehit.kernels.recurrence import SEGMENT_TOKENS


class Draw:
    """`seed` and `name` say everything that is drawn."""

    def __init__(self, seed: int, name: str, device: torch.device) -> None:
        self.pick = random.Random(f"{seed}:{name}")
        self._random = torch.Generator().manual_seed(self.pick.getrandbits(60))
        self.device = device

    def normal(self, *shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
        """Standard normal."""
        return torch.randn(*shape, generator=self._random).to(dtype).to(self.device)

    def uniform(
        self, low: float, high: float, *shape: int, dtype: torch.dtype = torch.float32
    ) -> Tensor:
        """Between the two."""
        values = low + (high - low) * torch.rand(*shape, generator=self._random)
        return values.to(dtype).to(self.device)

    def table(self, numbers: Sequence[int]) -> Tensor:
        """int32 on the device."""
        return torch.tensor(list(numbers), dtype=torch.int32, device=self.device)

    def lengths(self, rows: int, longest: int) -> list[int]:
        """Rows of every length: an empty one, one of a token, the longest, others; shuffled."""
        drawn = [0, 1, longest, *(self.pick.randint(1, longest) for _ in range(rows))][:rows]
        self.pick.shuffle(drawn)
        return drawn

    def pages(self, drawn: int, poisoned: int, *shape: int, dtype: torch.dtype) -> Tensor:
        """Page 0 poisoned, then drawn ones, then poisoned ones."""
        pages = torch.full((1 + drawn + poisoned, *shape), float("nan"), dtype=dtype)
        pages = pages.to(self.device)
        pages[1 : 1 + drawn] = self.normal(drawn, *shape, dtype=dtype)
        return pages


def offsets(lengths: Sequence[int]) -> list[int]:
    """Where each begins, and the end."""
    return [0, *accumulate(lengths)]


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of a launch in segments, with a page for what is read and written. Pages 1 to `rows` are
    sources; those behind are written; `written` has every target."""

    row_lengths: list[int]
    segment_lengths: list[int]
    row_segments: list[int]
    sources: list[int]
    targets: list[int]
    target_pages: int

    @property
    def tokens(self) -> int:
        return sum(self.row_lengths)

    @property
    def written(self) -> list[int]:
        return [target for target in self.targets if target]

    @property
    def targets_by_token(self) -> list[int]:
        """The target of a segment at its last token; none has no token."""
        targets = [0] * self.tokens
        for end, target in zip(offsets(self.segment_lengths)[1:], self.targets, strict=True):
            targets[end - 1] = target
        return targets


def drawn_rows(draw: Draw, rows: int, longest: int, each_token: bool) -> Rows:
    """Ragged rows. Most have a source, most segments a target, and some of the rows that begin from
    a page end on it."""
    lengths = draw.lengths(rows, longest)
    sources = [row + 1 if draw.pick.random() < 0.8 else 0 for row in range(rows)]
    cuts = [_cut(draw, length, each_token) for length in lengths]
    targets: list[int] = []
    page = rows + 1
    for own, source in zip(cuts, sources, strict=True):
        for _ in own:
            is_kept = draw.pick.random() < 0.7
            targets.append(page if is_kept else 0)
            page += is_kept
        if own and source and draw.pick.random() < 0.5:
            targets[-1] = source
    segment_lengths = [length for own in cuts for length in own]
    return Rows(
        lengths, segment_lengths, offsets([len(own) for own in cuts]), sources, targets, page - rows
    )


def _cut(draw: Draw, length: int, each_token: bool) -> list[int]:
    """Segments of a row: whole ones, and ragged ones."""
    parts: list[int] = []
    while sum(parts) < length:
        left = length - sum(parts)
        whole = draw.pick.random() < 0.5
        part = SEGMENT_TOKENS if whole else draw.pick.randint(1, SEGMENT_TOKENS)
        parts.append(min(1 if each_token else part, left))
    return parts

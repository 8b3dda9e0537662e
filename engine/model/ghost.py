"""Ghosts: integers that travel in every page beside the floats, and say which tokens made them.

A wrong state and a rounding difference look alike in floats. A ghost cannot round: a state page
says how many tokens it has consumed, which stretches of positions, and a digest of the token ids in
order; an attention page says for each entry its position and the digest of the tokens up to it.
They are copied with the page, updated from the page a chunk really started from, and held against
the reader's own tokens at every read. Test mode only: reading them waits for the device.

What they do not see: whether a kernel computed the right floats."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from truehit.engine.model.layout import STATE_GHOST_NUMBERS
from truehit.engine.model.pool import Pool

FACTOR = 6364136223846793005
ADDEND = 1442695040888963407
WORD = 1 << 64
MOST_SPANS = 4
WRITTEN = 1
MOST_FINDINGS = 64


def fold(digest: int, token: int) -> int:
    """The digest of one token more (a signed 64-bit number; 0: of no token)."""
    folded = ((digest ^ token) * FACTOR + ADDEND) % WORD
    return folded - WORD if folded >= WORD // 2 else folded


@dataclass(frozen=True, slots=True)
class Held:
    """What a state page has consumed: so many tokens, with this digest, in these stretches of
    positions (the last one ends where the state stands)."""

    tokens: int
    digest: int
    spans: tuple[tuple[int, int], ...]

    def words(self) -> str:
        match self.spans:
            case ():
                return "the zero state"
            case ((0, end),):
                return f"state@{end}"
            case spans:
                return "tokens " + " + ".join(f"[{low}, {high})" for low, high in spans)


ZERO = Held(0, 0, ())


@dataclass(frozen=True, slots=True)
class Finding:
    """A page that does not hold what its reader takes it for. `claimed_tokens`: the state after so
    many tokens, or the entry at that position (`is_entry`)."""

    step: int
    request: int
    group: str
    column: int
    block: int
    claimed_tokens: int
    is_entry: bool
    held: str

    def sentence(self, name: str) -> str:
        """One line; `name` of the request."""
        claim = f"entry {self.claimed_tokens}" if self.is_entry else f"state@{self.claimed_tokens}"
        return (
            f"request {name}: page {self.block} (column {self.column} of {self.group}) is read as "
            f"{claim} and holds {self.held} (step {self.step})"
        )


@dataclass(slots=True)
class Paths:
    """Digests of every prefix of each request's tokens, kept up as they come."""

    _of: dict[int, tuple[list[int], list[int]]] = field(default_factory=dict)

    def digests(self, request: int, path: Sequence[int]) -> list[int]:
        """Entry n is the digest of the first n tokens of the path."""
        tokens, digests = self._of.setdefault(request, ([], [0]))
        keep = min(len(tokens), len(path))
        if tokens[:keep] != list(path[:keep]):
            pairs = enumerate(zip(tokens, path, strict=False))
            keep = next(at for at, (had, has) in pairs if had != has)
        del tokens[keep:], digests[keep + 1 :]
        for token in path[keep:]:
            tokens.append(int(token))
            digests.append(fold(digests[-1], int(token)))
        return digests

    def __len__(self) -> int:
        """Requests whose digests are kept."""
        return len(self._of)

    def forget(self, request: int) -> None:
        self._of.pop(request, None)


class Ghosts:
    """The ghosts of one pool, and what they have found."""

    def __init__(self, pool: Pool) -> None:
        self._views = {group: pool.view(own) for group, own in pool.layout.ghosts.items()}
        self.paths = Paths()
        self.findings: list[Finding] = []

    def groups(self) -> tuple[int, ...]:
        return tuple(self._views)

    # --- states -----------------------------------------------------------------------------

    def state(self, group: int, page: int) -> Held | None:
        """What a state page holds; None: nothing that was written as a state. Page 0: the zero
        state."""
        if page == 0:
            return ZERO
        numbers = self._views[group][page].tolist()
        if numbers[0] != WRITTEN:
            return None
        count = numbers[3]
        spans = tuple((numbers[4 + 2 * i], numbers[5 + 2 * i]) for i in range(count))
        return Held(numbers[1], numbers[2], spans)

    def write_state(self, group: int, page: int, held: Held | None) -> None:
        """Page 0 is never written; None: whatever was made of something unwritten."""
        if page == 0:
            return
        numbers = [0] * STATE_GHOST_NUMBERS
        if held is not None:
            spans = held.spans[-MOST_SPANS:]
            numbers[:4] = [WRITTEN, held.tokens, held.digest, len(spans)]
            numbers[4 : 4 + 2 * len(spans)] = [bound for span in spans for bound in span]
        self._views[group][page] = torch.tensor(numbers, device=self._views[group].device)

    def consume(
        self, held: Held | None, request: int, path: Sequence[int], start: int, end: int
    ) -> Held | None:
        """The state after `held` has consumed tokens [start, end) of the request."""
        if held is None or start == end:
            return held
        digests = self.paths.digests(request, path)
        if held.tokens == start and held.digest == digests[start]:
            return Held(end, digests[end], ((0, end),))
        digest = held.digest
        for token in path[start:end]:
            digest = fold(digest, int(token))
        spans = held.spans
        if len(spans) > 1 and spans[-1][1] == start:
            spans = (*spans[:-1], (spans[-1][0], end))
        else:
            spans = (*spans, (start, end))
        return Held(held.tokens + end - start, digest, spans)

    # --- entries ----------------------------------------------------------------------------

    def entries(self, group: int, pages: Sequence[int]) -> np.ndarray:
        """(position + 1, digest) of every entry of these pages, int64[pages, block tokens, 2]."""
        own = self._views[group]
        return own[torch.tensor(list(pages), dtype=torch.int64, device=own.device)].cpu().numpy()

    def write_entries(
        self, group: int, pages: Tensor, offsets: Tensor, numbers: Sequence[tuple[int, int]]
    ) -> None:
        """The entries of tokens; tokens with page 0 are not written."""
        own = self._views[group]
        kept = pages != 0
        values = torch.tensor(list(numbers), dtype=torch.int64, device=own.device).view(-1, 2)
        own[pages[kept].long(), offsets[kept].long()] = values[kept]

"""States across segments, against their definition in float64, one token and one head at a time."""

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import pytest
import torch

from truehit.kernels.recurrence import recurrence_reference, state_recurrence

from ..buffers import assert_near, at_the_edge, page_digests
from .decode import TOLERANCE, drawn_pool, initial_states, offsets, table, zoned_outputs

Four = tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]


@dataclass(frozen=True, slots=True)
class Segments:
    """`lengths`: of the segments of each row."""

    lengths: list[list[int]]
    sources: list[int]
    targets: list[int]

    def tables(self) -> Four:
        rows = table(offsets([len(row) for row in self.lengths]))
        starts = table(offsets([length for row in self.lengths for length in row]))
        return rows, starts, table(self.sources), table(self.targets)

    def count(self) -> int:
        return sum(map(sum, self.lengths))


@dataclass(frozen=True, slots=True)
class Drawn:
    """What the segments' triangular systems might have given."""

    k: torch.Tensor
    w: torch.Tensor
    u: torch.Tensor
    g_cumulative: torch.Tensor

    @classmethod
    def of(
        cls,
        segments: Segments,
        dtype: torch.dtype = torch.float32,
        heads: tuple[int, int] = (2, 4),
        sizes: tuple[int, int] = (24, 20),
    ) -> "Drawn":
        draw = torch.Generator().manual_seed(1)
        count, (key_heads, value_heads), (keys, values) = segments.count(), heads, sizes
        k = torch.nn.functional.normalize(
            torch.randn(count, key_heads, keys, generator=draw), dim=-1
        )
        w = torch.randn(count, value_heads, keys, generator=draw) * keys**-0.5 / 4
        u = torch.randn(count, value_heads, values, generator=draw)
        g = torch.log(0.95 + 0.05 * torch.rand(count, value_heads, generator=draw))
        lengths = [length for row in segments.lengths for length in row]
        total = torch.cat([part.cumsum(0) for part in torch.split(g, lengths)])
        wide = total.to(torch.promote_types(dtype, torch.float32))
        return cls(k.to(dtype), w.to(dtype), u.to(dtype), wide)

    def page(self) -> tuple[int, ...]:
        """HV, V, K"""
        return *self.u.shape[1:], self.k.shape[2]

    def all(self) -> Four:
        k, w, u, g_cumulative = map(at_the_edge, (self.k, self.w, self.u, self.g_cumulative))
        return k, w, u, g_cumulative

    def part(self, start: int, end: int) -> "Drawn":
        return Drawn(*(x[start:end] for x in (self.k, self.w, self.u, self.g_cumulative)))


def truth(drawn: Drawn, tokens: slice, initial: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """New values of one segment `[n, HV, V]` and the state after it, in float64."""
    k, w, u, g = (x[tokens].double() for x in (drawn.k, drawn.w, drawn.u, drawn.g_cumulative))
    group = u.shape[1] // k.shape[1]
    new_values, after = u.clone(), initial.clone()
    for head in range(u.shape[1]):
        last = g[-1, head] if len(g) else torch.zeros((), dtype=torch.float64)
        after[head] = initial[head] * last.exp()
        for i in range(len(u)):
            new_values[i, head] -= initial[head].mv(w[i, head])
            left = new_values[i, head] * (last - g[i, head]).exp()
            after[head] += torch.outer(left, k[i, head // group])
    return new_values, after


def check(
    segments: Segments,
    dtype: torch.dtype,
    pool_dtype: torch.dtype,
    recurrence: Any = state_recurrence,
    **shape: tuple[int, int],
) -> None:
    drawn = Drawn.of(segments, dtype, **shape)
    zoned = drawn_pool(drawn.page(), pool_dtype)
    states = zoned.tensor
    initial, before = initial_states(states, segments.sources), page_digests(states)
    rows, starts, sources, targets = segments.tables()
    with zoned_outputs():
        h, new_values = recurrence(*drawn.all(), states, rows, starts, sources, targets)
    near = TOLERANCE[dtype]
    for (first, last), state in zip(pairwise(rows.tolist()), initial, strict=True):
        for segment in range(first, last):
            assert_near(h[segment], state, near, f"h of segment {segment}")
            tokens = slice(*starts[segment : segment + 2].tolist())
            expected, state = truth(drawn, tokens, state)
            assert_near(new_values[tokens], expected, near, f"new values of segment {segment}")
            if page := segments.targets[segment]:
                assert_near(states[page], state, max(near, TOLERANCE[pool_dtype]), f"page {page}")
    changed = {page for page, digest in enumerate(page_digests(states)) if digest != before[page]}
    assert changed == set(segments.targets) - {0}
    assert zoned.intact()


RAGGED = Segments(
    lengths=[[40, 64, 1], [], [1], [16, 3, 0, 17], [5, 2]],
    sources=[3, 5, 0, 3, 8],
    targets=[10, 0, 11, 12, 13, 14, 15, 0, 8, 16],
)
"""Page 8 in place, and the row goes on; page 3 is shared; a row and a segment are empty."""


def case_fp32() -> None:
    check(RAGGED, torch.float32, torch.float32)


def case_fp32_in_a_bf16_pool() -> None:
    check(RAGGED, torch.float32, torch.bfloat16)


def case_bf16_in_an_fp32_pool() -> None:
    check(RAGGED, torch.bfloat16, torch.float32, sizes=(64, 64))


def case_bf16() -> None:
    check(RAGGED, torch.bfloat16, torch.bfloat16, sizes=(64, 64))


def case_the_reference() -> None:
    check(RAGGED, torch.float64, torch.float64, recurrence_reference)
    check(RAGGED, torch.float32, torch.float32, recurrence_reference)
    check(RAGGED, torch.bfloat16, torch.bfloat16, recurrence_reference)


def case_sizes_and_heads() -> None:
    segments = Segments([[20], [7]], [2, 0], [4, 5])
    check(segments, torch.bfloat16, torch.float32, heads=(1, 2), sizes=(128, 128))
    check(segments, torch.float32, torch.float32, heads=(1, 3), sizes=(16, 40))
    check(segments, torch.float32, torch.float32, heads=(1, 1), sizes=(8, 8))


def case_storing_changes_nothing_that_follows() -> None:
    """Even in a bf16 pool the state goes on in fp32; and what is stored is what goes on."""
    found = []
    for targets in ([0, 0, 0], [10, 11, 4]):
        segments = Segments([[30, 9, 64]], [4], targets)
        drawn = Drawn.of(segments)
        pool = drawn_pool(drawn.page(), torch.bfloat16).tensor
        h, _ = state_recurrence(*drawn.all(), pool, *segments.tables())
        found.append((h, pool))
    assert torch.equal(found[0][0], found[1][0])
    h, pool = found[1]
    assert torch.equal(pool[10], h[1].to(torch.bfloat16))
    assert torch.equal(pool[11], h[2].to(torch.bfloat16))


def case_a_row_goes_on_from_a_page() -> None:
    whole = Segments([[30, 9, 12]], [4], [0, 10, 11])
    drawn = Drawn.of(whole)
    pool = drawn_pool(drawn.page(), torch.float32).tensor
    h, new_values = state_recurrence(*drawn.all(), pool, *whole.tables())
    rest = Segments([[12]], [10], [12])
    later = drawn.part(39, 51)
    resumed, resumed_values = state_recurrence(*later.all(), pool, *rest.tables())
    assert torch.equal(resumed[0], h[2])
    assert torch.equal(resumed_values, new_values[39:])
    assert torch.equal(pool[12], pool[11])


def case_offsets_beyond_32_bits() -> None:
    segments = Segments([[2]], [2], [3])
    drawn = Drawn.of(segments)
    memory = torch.empty(3 * 2**30 + 4 * 20 * 24, dtype=torch.bfloat16)
    pool = memory.as_strided((4, 4, 20, 24), (2**30, 20 * 24, 24, 1))
    pool[2] = drawn_pool(drawn.page(), torch.bfloat16).tensor[2]
    expected, after = truth(drawn, slice(0, 2), pool[2].double())
    _, new_values = state_recurrence(*drawn.all(), pool, *segments.tables())
    assert_near(new_values, expected, 1e-5, "new values")
    assert_near(pool[3], after, 1e-2, "page 3")


def case_nothing_to_do() -> None:
    segments = Segments([[], []], [1, 2], [])
    drawn = Drawn.of(Segments([[1]], [1], [0]))
    none = drawn.part(0, 0)
    pool = drawn_pool(none.page(), torch.float32)
    h, new_values = state_recurrence(*none.all(), pool.tensor, *segments.tables())
    assert (h.shape, new_values.shape) == ((0, 4, 20, 24), (0, 4, 20))
    assert pool.intact()


def case_refusals() -> None:
    segments = Segments([[2]], [1], [2])
    drawn = Drawn.of(segments)
    pool = drawn_pool(drawn.page(), torch.float32).tensor
    tables = dict(
        zip(
            ("row_segments", "segment_starts", "sources", "segment_targets"),
            segments.tables(),
            strict=True,
        )
    )

    def refuses(said: str, **changed: torch.Tensor) -> None:
        inputs = {"k": drawn.k, "w": drawn.w, "u": drawn.u, "g_cumulative": drawn.g_cumulative}
        with pytest.raises(ValueError, match=re.escape(said)):
            state_recurrence(**{"states": pool, **inputs, **tables, **changed})

    refuses("w has shape (2, 2, 24); (2, 4, 24) would do", w=drawn.w[:, :2])
    refuses("k is torch.bfloat16, strides (48, 24, 1); torch.float32", k=drawn.k.bfloat16())
    refuses("segment_starts has shape (2,); (3,) would do", segment_targets=table([2, 3]))
    refuses("row_segments has shape (2,); (3,) would do", sources=table([2, 3]))
    refuses("states is torch.float64", states=pool.double())

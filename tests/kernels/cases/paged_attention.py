"""Attention over pages, against its definition in float64, one query and one entry at a time."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from math import prod
from typing import Any

import pytest
import torch

from truehit.kernels.paged_attention import (
    attention_reference,
    paged_attention,
    store_entries,
    store_reference,
)

from ..buffers import RedZoned, assert_near, at_the_edge, page_digests
from ..programs import backwards
from .decode import TOLERANCE, offsets, table, zoned_outputs

PAGES = 40


@dataclass(frozen=True, slots=True)
class Layer:
    """`heads`: of queries, of keys. `block`: entries of a page."""

    heads: tuple[int, int] = (4, 2)
    dims: int = 24
    block: int = 5
    dtype: torch.dtype = torch.float32
    window_tokens: int | None = None

    def drawn(self, tokens: int, heads: int, seed: int) -> torch.Tensor:
        draw = torch.Generator().manual_seed(seed)
        return torch.randn(tokens, heads, self.dims, generator=draw).to(self.dtype)

    def pool(self, pages: int = PAGES) -> RedZoned:
        """Poison; pages apart by a gap."""
        shape = (pages, self.block, self.heads[1], self.dims)
        steps = (prod(shape[1:]) + 16, shape[2] * shape[3], shape[3], 1)
        return RedZoned.make(shape, self.dtype, steps)


@dataclass(frozen=True, slots=True)
class Step:
    """One entry a row. `before`: tokens that other steps have stored."""

    widths: list[int]
    before: list[int]

    def ends(self) -> list[int]:
        return [start + width for start, width in zip(self.before, self.widths, strict=True)]


@dataclass(frozen=True, slots=True)
class Filled:
    """Pools in which each row has exactly the entries it may read, on pages in no order; all else
    is poison. `entries`: keys and values of each row by position, NaN where none is."""

    keys: RedZoned
    values: RedZoned
    tables: torch.Tensor
    entries: list[tuple[torch.Tensor, torch.Tensor]]

    @classmethod
    def of(cls, layer: Layer, step: Step) -> "Filled":
        keys, values = layer.pool(), layer.pool()
        columns = max(-(-end // layer.block) for end in step.ends()) + 1
        unused = torch.randperm(PAGES - 1, generator=torch.Generator().manual_seed(3)) + 1
        pages = unused[: len(step.widths) * columns].to(torch.int32).view(-1, columns)
        entries = []
        for row, (start, end) in enumerate(zip(step.before, step.ends(), strict=True)):
            window = end if layer.window_tokens is None else layer.window_tokens
            lowest = max(0, start - window + 1)
            pair = tuple(layer.drawn(end, layer.heads[1], 10 * row + each) for each in (1, 2))
            for pool, rows in zip((keys, values), pair, strict=True):
                for position in range(lowest, end):
                    page = int(pages[row, position // layer.block])
                    pool.tensor[page, position % layer.block] = rows[position]
            # What is out of every window is a hole, and so is what lies behind the row.
            pages[row, : lowest // layer.block] = 0
            pages[row, -(-end // layer.block) :] = 0
            entries.append((pair[0], pair[1]))
        return cls(keys, values, at_the_edge(pages), entries)

    def pools(self) -> tuple[torch.Tensor, torch.Tensor]:
        return self.keys.tensor, self.values.tensor


def truth(
    q: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, start: int, window: int | None
) -> torch.Tensor:
    """`o` of one row in float64, by position."""
    q, keys, values = q.double(), keys.double(), values.double()
    o = torch.zeros_like(q)
    for t in range(len(q)):
        own = start + t
        lowest = 0 if window is None else max(0, own - window + 1)
        for head in range(q.shape[1]):
            key_head = head // (q.shape[1] // keys.shape[1])
            seen = slice(lowest, own + 1)
            scores = keys[seen, key_head].mv(q[t, head]) / q.shape[2] ** 0.5
            weights = torch.exp(scores - scores.max())
            o[t, head] = (weights / weights.sum()) @ values[seen, key_head]
    return o


def check(layer: Layer, step: Step, attention: Callable[..., torch.Tensor] | None = None) -> None:
    filled, starts = Filled.of(layer, step), offsets(step.widths)
    keys, values = filled.pools()
    q = at_the_edge(layer.drawn(starts[-1], layer.heads[0], 7))
    before = page_digests(keys), page_digests(values)
    arguments = (q, keys, values, filled.tables, table(starts), table(step.before))
    with zoned_outputs():
        if attention is None:
            o = paged_attention(*arguments, max(step.widths), layer.window_tokens)
        else:
            o = attention(*arguments, layer.window_tokens)
    for row, (first, last) in enumerate(pairwise(starts)):
        if first == last:
            continue
        expected = truth(q[first:last], *filled.entries[row], step.before[row], layer.window_tokens)
        assert_near(o[first:last], expected, TOLERANCE[layer.dtype], f"row {row}")
    assert (page_digests(keys), page_digests(values)) == before
    assert filled.keys.intact()
    assert filled.values.intact()


PREFILL = Step(widths=[19, 0, 1, 12], before=[0, 6, 14, 9])
DECODE = Step(widths=[1, 3, 0, 1], before=[17, 4, 5, 0])
"""With drafts, an empty row, and a row that starts."""


def case_fp32() -> None:
    check(Layer(), PREFILL)
    check(Layer(), DECODE)


def case_bf16() -> None:
    check(Layer(dtype=torch.bfloat16), PREFILL)
    check(Layer(dtype=torch.bfloat16), DECODE)


def case_fp32_in_a_window() -> None:
    """Pages before the window are holes, entries before it poison."""
    for window in (1, 4, 7):
        check(Layer(window_tokens=window), PREFILL)
    check(Layer(window_tokens=6), DECODE)


def case_bf16_in_a_window() -> None:
    check(Layer(dtype=torch.bfloat16, window_tokens=6), PREFILL)
    check(Layer(dtype=torch.bfloat16, window_tokens=6), DECODE)


def case_a_window_wider_than_the_row() -> None:
    check(Layer(window_tokens=100), DECODE)


def case_the_reference() -> None:
    for dtype in (torch.float64, torch.float32, torch.bfloat16):
        for window in (None, 4):
            layer = Layer(dtype=dtype, window_tokens=window)
            check(layer, PREFILL, attention_reference)
            check(layer, DECODE, attention_reference)


def case_sizes_and_heads() -> None:
    step = Step(widths=[2, 1], before=[3, 20])
    for heads, dims, block in (((3, 1), 64, 16), ((6, 2), 128, 1 + 12), ((2, 2), 256, 32)):
        check(Layer(heads=heads, dims=dims, block=block), step)
        check(Layer(heads=heads, dims=dims, block=block, dtype=torch.bfloat16), step)
    check(Layer(heads=(16, 1), dims=8, block=1), Step(widths=[2], before=[11]))


def case_long_rows() -> None:
    """Several tiles of queries and of entries, in bf16's wide tiles too."""
    step = Step(widths=[70, 33], before=[60, 5])
    for dtype in (torch.float32, torch.bfloat16):
        layer = Layer(heads=(2, 1), dims=64, block=16, dtype=dtype)
        check(layer, step)
        check(replace(layer, window_tokens=20), step)


def case_the_last_program_first() -> None:
    """A tile of five tokens, three heads each, leaves a line over."""
    with backwards():
        check(Layer(), PREFILL)
        check(Layer(heads=(3, 1)), PREFILL)


def case_a_hole_takes_no_part() -> None:
    """Even within what a token sees; a token that sees holes only has zeros."""
    layer, step = Layer(), Step(widths=[2, 1], before=[12, 2])
    filled = Filled.of(layer, step)
    filled.tables[0, 1] = 0
    filled.tables[1, 0] = 0
    q = layer.drawn(3, 4, 7)
    arguments = (q, *filled.pools(), filled.tables, table([0, 2, 3]), table(step.before))
    kept = [position for position in range(14) if position // layer.block != 1]
    keys, values = (x[kept] for x in filled.entries[0])
    for o in (paged_attention(*arguments, longest_row_tokens=2), attention_reference(*arguments)):
        assert_near(o[:2], truth(q[:2], keys, values, 7, None), 1e-5, "o around a hole")
        assert torch.equal(o[2], torch.zeros(4, 24))


def case_scores_may_be_large() -> None:
    layer, step = Layer(), Step(widths=[3], before=[30])
    filled = Filled.of(layer, step)
    q = layer.drawn(3, 4, 7) * 300
    keys, values = filled.pools()
    arguments = (q, keys, values, filled.tables, table([0, 3]), table([30]))
    o = paged_attention(*arguments, longest_row_tokens=3)
    assert_near(o, truth(q, *filled.entries[0], 30, None), 1e-4, "o of large scores")


def case_what_was_stored_matters() -> None:
    layer, step = Layer(), Step(widths=[2], before=[9])
    filled = Filled.of(layer, step)
    q, tables = layer.drawn(2, 4, 7), (filled.tables, table([0, 2]), table([9]))
    outputs = []
    for _ in range(2):
        outputs.append(paged_attention(q, *filled.pools(), *tables, longest_row_tokens=2))
        filled.values.tensor[int(filled.tables[0, 0]), 0] += 10
    assert (outputs[0] - outputs[1]).abs().max() > 0.1


def case_stored_entries() -> None:
    """Bit for bit, from views; the null page, other places and other pages stay."""
    for dtype in (torch.float32, torch.bfloat16):
        layer = Layer(dtype=dtype)
        for store in (store_entries, store_reference):
            keys, values = layer.pool(), layer.pool()
            expected = [keys.tensor.clone(), values.tensor.clone()]
            mixed = layer.drawn(11, 4, 5)
            new = mixed[:, :2], mixed[:, 2:]
            pages, places = [3, 3, 0, 7, 7, 7, 9, 0, 39, 1, 1], [4, 0, 2, 0, 1, 2, 3, 0, 4, 0, 3]
            store(*new, keys.tensor, values.tensor, table(pages), table(places))
            for t, (page, place) in enumerate(zip(pages, places, strict=True)):
                if page:
                    expected[0][page, place], expected[1][page, place] = new[0][t], new[1][t]
            assert page_digests(keys.tensor) == page_digests(expected[0])
            assert page_digests(values.tensor) == page_digests(expected[1])
            assert keys.intact()
            assert values.intact()


def case_stored_entries_are_read() -> None:
    """A prefill in two steps and a decode, stored and read by the kernels alone."""
    layer = Layer(block=4)
    filled = Filled.of(layer, Step(widths=[14], before=[0]))
    keys, values = layer.pool(), layer.pool()
    q, tables = layer.drawn(14, 4, 7), filled.tables
    outputs = []
    for start, end in ((0, 6), (6, 13), (13, 14)):
        own = torch.arange(start, end)
        places = tables[0, own // 4], (own % 4).to(torch.int32)
        new_keys, new_values = (x[start:end] for x in filled.entries[0])
        store_entries(new_keys, new_values, keys.tensor, values.tensor, *places)
        rows = (tables, table([0, end - start]), table([start]))
        outputs.append(
            paged_attention(
                q[start:end], keys.tensor, values.tensor, *rows, longest_row_tokens=end - start
            )
        )
    expected = truth(q, *filled.entries[0], 0, None)
    assert_near(torch.cat(outputs), expected, 1e-5, "o of all steps")


def case_offsets_beyond_32_bits() -> None:
    layer = Layer(heads=(2, 1), dims=16, block=4, dtype=torch.bfloat16)
    shape, steps = (4, 4, 1, 16), (2**30, 16, 16, 1)
    keys, values = (
        torch.empty(3 * 2**30 + 4 * 16, dtype=torch.bfloat16).as_strided(shape, steps)
        for _ in range(2)
    )
    new = layer.drawn(2, 1, 1), layer.drawn(2, 1, 2)
    store_entries(*new, keys, values, table([3, 2]), table([3, 0]))
    assert torch.equal(keys[3, 3], new[0][0])
    assert torch.equal(values[2, 0], new[1][1])
    q = layer.drawn(1, 2, 7)
    rows = (table([0, 0, 3, 2]).view(1, 4), table([0, 1]), table([12]))
    o = paged_attention(q, keys, values, *rows, longest_row_tokens=1, window_tokens=2)
    key, value = (torch.cat([x.new_zeros(11, 1, 16), x]) for x in new)
    assert_near(o, truth(q, key, value, 12, 2), 1e-2, "o")


def case_nothing_to_do() -> None:
    layer = Layer()
    keys, values = layer.pool(), layer.pool()
    none = layer.drawn(0, 2, 1)
    store_entries(none, none, keys.tensor, values.tensor, table([]), table([]))
    q = layer.drawn(0, 4, 1)
    rows = (table([1, 2, 3, 4]).view(2, 2), table([0, 0, 0]), table([3, 0]))
    o = paged_attention(q, keys.tensor, values.tensor, *rows, longest_row_tokens=0)
    assert o.shape == (0, 4, 24)
    assert keys.tensor.isnan().all()
    assert keys.intact()


def case_agrees_with_torch() -> None:
    """Its scaled_dot_product_attention, on the row's entries gathered."""
    for window in (None, 6):
        layer, step = Layer(window_tokens=window), Step(widths=[13, 1], before=[8, 17])
        filled, starts = Filled.of(layer, step), offsets(step.widths)
        q = layer.drawn(14, 4, 7)
        tables = (filled.tables, table(starts), table(step.before))
        o = paged_attention(
            q, *filled.pools(), *tables, longest_row_tokens=13, window_tokens=window
        )
        for row, (first, last) in enumerate(pairwise(starts)):
            own = torch.arange(step.before[row], step.ends()[row])[:, None]
            entries = torch.arange(step.ends()[row])
            seen = entries <= own
            if window is not None:
                seen &= entries > own - window
            key, value = (x.transpose(0, 1)[None] for x in filled.entries[row])
            expected = torch.nn.functional.scaled_dot_product_attention(
                q[first:last].transpose(0, 1)[None], key, value, attn_mask=seen, enable_gqa=True
            )
            assert_near(o[first:last], expected[0].transpose(0, 1), 1e-5, f"row {row}")


def case_refusals() -> None:
    layer = Layer()
    pool = layer.pool().tensor
    wanted = {
        "q": layer.drawn(2, 4, 7),
        "keys": pool,
        "values": pool,
        "tables": table([1, 2]).view(1, 2),
        "row_starts": table([0, 2]),
        "starts": table([1]),
        "longest_row_tokens": 2,
    }

    def refuses(said: str, **changed: Any) -> None:
        with pytest.raises(ValueError, match=re.escape(said)):
            paged_attention(**{**wanted, **changed})

    refuses("3 query heads over 2; 2 would do", q=layer.drawn(2, 3, 7))
    refuses("34 query heads over 2; 32 would do", q=layer.drawn(2, 34, 7))
    refuses("keys is torch.float32; torch.bfloat16 would do", q=layer.drawn(2, 4, 7).bfloat16())
    refuses("keys is torch.float64; torch.float32 would do", keys=pool.double(), values=pool)
    refuses("values has shape (40, 5, 2, 20); (40, 5, 2, 24) would do", values=pool[..., :20])
    refuses("keys has strides (240, 48, 1, 2)", keys=pool.mT.contiguous().mT)
    refuses("tables has shape (1, 2); (2, 2)", starts=table([1, 1]), row_starts=table([0] * 3))
    refuses("tables is torch.int32, strides (4, 2)", tables=table([1, 2, 3, 4]).view(1, 4)[:, ::2])
    refuses("longest_row_tokens is 0; 2 would do", longest_row_tokens=0)
    refuses("row_starts has shape (2,); (3,) would do", starts=table([1, 1]))
    refuses("window_tokens is 0; 1 or None would do", window_tokens=0)
    refuses("q is torch.float32, strides", q=layer.drawn(2, 24, 7)[..., :4].mT)

    def no_place(said: str, **changed: Any) -> None:
        new = layer.drawn(2, 2, 1)
        arguments = {"new_keys": new, "new_values": new, "keys": pool, "values": pool}
        places = {"pages": table([1, 1]), "offsets": table([0, 1])}
        with pytest.raises(ValueError, match=re.escape(said)):
            store_entries(**{**arguments, **places, **changed})

    no_place("new_values has shape (1, 2, 24); (2, 2, 24)", new_values=layer.drawn(1, 2, 1))
    no_place("pages has shape (3,); (2,) would do", pages=table([1, 2, 3]))
    no_place("offsets is torch.int64", offsets=torch.tensor([0, 1]))
    no_place("keys is torch.bfloat16; torch.float32 would do", keys=pool.bfloat16())

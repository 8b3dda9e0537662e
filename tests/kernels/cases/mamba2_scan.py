"""Mamba2 over a whole prefill, against the rule in float64, one token and one head at a time."""

import re
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
import torch

from truehit.kernels.mamba2 import Mamba2Tokens, Mamba2Weights, mamba2_update
from truehit.kernels.mamba2_scan import mamba2_scan, scan_reference

from ..buffers import assert_near, at_the_edge, page_digests
from ..programs import backwards
from .decode import TOLERANCE, drawn_pool, initial_states, table, zoned_outputs
from .mamba2 import Layer, changed, part, refusals, truth, views
from .recurrence import Segments

Scan = Callable[..., torch.Tensor]
LAYER = Layer(lines=12)


def check(
    layer: Layer, segments: Segments, pool_dtype: torch.dtype, scan: Scan = mamba2_scan
) -> None:
    tokens, weights = layer.tokens(segments.count()), layer.weights()
    zoned = drawn_pool(layer.page(), pool_dtype)
    states = zoned.tensor
    initial, before = initial_states(states, segments.sources), page_digests(states)
    rows, starts, sources, targets = segments.tables()
    with zoned_outputs():
        given = changed(tokens, at_the_edge), weights
        y = scan(*given, states, rows, starts, sources, targets)
    near = TOLERANCE[layer.dtype]
    for (first, last), state in zip(pairwise(rows.tolist()), initial, strict=True):
        start, end = int(starts[first]), int(starts[last])
        expected, after = truth(part(tokens, start, end), weights, state)
        assert_near(y[start:end], expected, near, f"y of [{start}, {end})")
        for segment in range(first, last):
            if page := segments.targets[segment]:
                count = int(starts[segment + 1]) - start
                wanted = after[count - 1] if count else state
                assert_near(states[page], wanted, max(near, TOLERANCE[pool_dtype]), f"page {page}")
    written = {page for page, digest in enumerate(page_digests(states)) if digest != before[page]}
    assert written == set(segments.targets) - {0}
    assert zoned.intact()


RAGGED = Segments(
    lengths=[[18, 64], [], [1], [16, 0, 3], [5, 2]],
    sources=[3, 5, 0, 3, 8],
    targets=[10, 0, 12, 13, 14, 0, 8, 16],
)
"""Page 8 in place, and the row goes on; page 3 is shared; a row and a segment are empty."""
SHORT = Segments(lengths=[[18, 3], [7]], sources=[4, 0], targets=[10, 4, 12])


def case_fp32() -> None:
    check(LAYER, RAGGED, torch.float32)


def case_fp32_in_a_bf16_pool() -> None:
    check(LAYER, SHORT, torch.bfloat16)


def case_bf16_in_an_fp32_pool() -> None:
    check(replace(LAYER, dtype=torch.bfloat16), RAGGED, torch.float32)


def case_bf16() -> None:
    check(replace(LAYER, dtype=torch.bfloat16), RAGGED, torch.bfloat16)


def case_steps_as_they_are() -> None:
    check(replace(LAYER, is_softplus=False), SHORT, torch.float32)


def case_the_last_program_first() -> None:
    with backwards():
        check(LAYER, SHORT, torch.float32)


def case_the_reference() -> None:
    for dtype in (torch.float64, torch.float32, torch.bfloat16):
        check(replace(LAYER, dtype=dtype), RAGGED, dtype, scan_reference)
    check(replace(LAYER, is_softplus=False), SHORT, torch.float32, scan_reference)


def case_sizes_and_heads() -> None:
    segments = Segments([[20], [7]], [2, 0], [4, 5])
    check(Layer(heads=1, groups=1, lines=64, columns=128), segments, torch.float32)
    for dtype in (torch.float32, torch.bfloat16):
        check(Layer(heads=1, groups=1, lines=8, columns=256, dtype=dtype), segments, dtype)
        check(Layer(heads=2, groups=2, lines=40, columns=16, dtype=dtype), segments, dtype)
        check(Layer(heads=1, groups=1, lines=16, columns=8, dtype=dtype), segments, dtype)


def case_wide_tiles() -> None:
    """Those bf16 has for the sizes that its table names."""
    layer = Layer(heads=2, groups=1, lines=40, columns=128, dtype=torch.bfloat16)
    check(layer, RAGGED, torch.float32)
    check(layer, RAGGED, torch.bfloat16)


def case_storing_changes_nothing_that_follows() -> None:
    """Even in a bf16 pool the state goes on in fp32."""
    layer, found = replace(LAYER, heads=2), []
    for targets in ([0, 0, 0], [10, 11, 4]):
        segments = Segments([[30, 9, 20]], [4], targets)
        pool = drawn_pool(layer.page(), torch.bfloat16).tensor
        given = layer.tokens(59), layer.weights()
        found.append(mamba2_scan(*given, pool, *segments.tables()))
    assert torch.equal(*found)


def case_a_row_goes_on_from_a_page() -> None:
    layer = replace(LAYER, heads=2)
    tokens, weights = layer.tokens(51), layer.weights()
    pool = drawn_pool(layer.page(), torch.float32).tensor
    whole = Segments([[30, 9, 12]], [4], [0, 10, 11])
    y = mamba2_scan(tokens, weights, pool, *whole.tables())
    rest = Segments([[12]], [10], [12])
    resumed = mamba2_scan(part(tokens, 39, 51), weights, pool, *rest.tables())
    assert torch.equal(resumed, y[39:])
    assert torch.equal(pool[12], pool[11])


def case_a_decode_goes_on_from_a_prefill() -> None:
    layer = replace(LAYER, heads=2)
    tokens, weights = layer.tokens(23), layer.weights()
    pool = drawn_pool(layer.page(), torch.float32).tensor
    expected, after = truth(tokens, weights, pool[4])
    prefill = Segments([[20]], [4], [10])
    mamba2_scan(part(tokens, 0, 20), weights, pool, *prefill.tables())
    rows = (table([0, 3]), table([10]), table([0, 0, 11]))
    y = mamba2_update(part(tokens, 20, 23), weights, pool, *rows)
    assert_near(y, expected[20:], 1e-5, "y after a prefill")
    assert_near(pool[11], after[22], 1e-5, "the last state")


def case_the_initial_state_matters() -> None:
    layer = LAYER
    given = layer.tokens(20), layer.weights()
    pool = drawn_pool(layer.page(), torch.float32).tensor
    outputs = [
        mamba2_scan(*given, pool, *Segments([[20]], [source], [target]).tables())
        for source, target in ((4, 10), (0, 11))
    ]
    assert (outputs[0] - outputs[1])[-1].abs().max() > 0.1
    assert (pool[10] - pool[11]).abs().max() > 0.1


def case_tokens_may_be_views() -> None:
    layer = LAYER
    tokens, weights = layer.tokens(19), layer.weights()
    pool = drawn_pool(layer.page(), torch.float32).tensor
    expected, after = truth(tokens, weights, pool[4])
    y = mamba2_scan(views(tokens), weights, pool, *Segments([[19]], [4], [5]).tables())
    assert_near(y, expected, 1e-5, "y of views")
    assert_near(pool[5], after[18], 1e-5, "state")


def case_offsets_beyond_32_bits() -> None:
    layer = LAYER
    tokens, weights = layer.tokens(2), layer.weights()
    memory = torch.empty(3 * 2**30 + 4 * 12 * 24, dtype=torch.bfloat16)
    pool = memory.as_strided((4, 4, 12, 24), (2**30, 12 * 24, 24, 1))
    pool[2] = drawn_pool(layer.page(), torch.bfloat16).tensor[2]
    expected, after = truth(tokens, weights, pool[2])
    y = mamba2_scan(tokens, weights, pool, *Segments([[2]], [2], [3]).tables())
    assert_near(y, expected, 1e-5, "y")
    assert_near(pool[3], after[1], 1e-2, "page 3")


def case_nothing_to_do() -> None:
    layer = LAYER
    pool = drawn_pool(layer.page(), torch.float32)
    none = Segments([[], []], [1, 2], [])
    y = mamba2_scan(layer.tokens(0), layer.weights(), pool.tensor, *none.tables())
    assert y.shape == (0, 4, 12)
    assert pool.intact()


def case_agrees_with_transformers() -> None:
    from transformers.models.nemotron_h import modeling_nemotron_h as theirs

    layer = LAYER
    tokens, weights = layer.tokens(26), layer.weights()
    pool = drawn_pool(layer.page(), torch.float32).tensor
    # Wrapped, it is mamba-ssm's kernel where that is installed.
    expected, state = theirs.mamba2_chunk_scan.__wrapped__(
        tokens.x[None],
        tokens.dt[None],
        weights.A,
        tokens.B[None],
        tokens.C[None],
        chunk_size=16,
        D=weights.D,
        dt_bias=weights.dt_bias,
        initial_states=pool[4][None],
        dt_softplus=True,
        return_final_states=True,
    )
    y = mamba2_scan(tokens, weights, pool, *Segments([[20, 6]], [4], [0, 5]).tables())
    assert_near(y, expected[0], 1e-5, "y")
    assert_near(pool[5], state[0], 1e-5, "state")


def case_refusals() -> None:
    layer = LAYER
    tokens, weights = layer.tokens(2), layer.weights()
    pool = drawn_pool(layer.page(), torch.float32).tensor
    names = ("row_segments", "segment_starts", "sources", "segment_targets")
    tables = dict(zip(names, Segments([[2]], [1], [2]).tables(), strict=True))

    def refuses(
        said: str, tokens: Mamba2Tokens = tokens, weights: Mamba2Weights = weights, **rows: Any
    ) -> None:
        with pytest.raises(ValueError, match=re.escape(said)):
            mamba2_scan(tokens, weights, **{"states": pool, **tables, **rows})

    for each in refusals("mamba2_scan", tokens, weights):
        refuses(*each)
    refuses("states has shape (24, 4, 24, 12); (24, 4, 12, 24) would do", states=pool.mT)
    refuses("segment_starts has shape (2,); (3,) would do", segment_targets=table([2, 3]))
    refuses("row_segments has shape (2,); (3,) would do", sources=table([2, 3]))
    refuses("dt has strides (1, 2)", replace(tokens, dt=tokens.dt.T.contiguous().T))

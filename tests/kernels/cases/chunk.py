"""Prefills in segments, against the rule in float64 and against other people's implementations."""

import re
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import pytest
import torch

from truehit.kernels.chunk import FlaSegments, TorchSegments, chunk_reference, gated_delta_chunk
from truehit.kernels.decode import gated_delta_decode
from truehit.kernels.recurrence import SEGMENT_TOKENS

from ..buffers import assert_near, page_digests
from .decode import (
    TOLERANCE,
    Tokens,
    drawn_pool,
    fla_naive,
    initial_states,
    offsets,
    table,
    truth,
    unit,
)

Chunk = Callable[..., torch.Tensor]


def cut(prefix: int, length: int, block: int) -> tuple[list[int], list[bool]]:
    """Lengths of the segments of a prefill behind `prefix` tokens, and which end on a block's end
    or the prefill's; kernels' chunks are counted from the prefill's start."""
    end = prefix + length
    ends = {at for at in range(prefix + 1, end) if at % block == 0} | {end}
    stops = sorted(ends | set(range(prefix + SEGMENT_TOKENS, end, SEGMENT_TOKENS)))
    lengths = [later - earlier for earlier, later in pairwise([prefix, *stops])]
    return lengths, [stop in ends for stop in stops]


def check_rows(
    rows: list[tuple[int, int]],
    block: int,
    dtype: torch.dtype,
    pool_dtype: torch.dtype,
    chunk: Chunk = gated_delta_chunk,
    in_place: bool = False,
) -> None:
    """`rows`: (prefix, length). Every block end crossed is written, and every row's end."""
    lengths, targets, sources, next_page = [], [], [], len(rows) + 1
    for row, (prefix, length) in enumerate(rows):
        sources.append(row + 1 if prefix else 0)
        of_row, stored = cut(prefix, length, block) if length else ([], [])
        lengths.append(of_row)
        for keep in stored:
            targets.append(next_page if keep else 0)
            next_page += keep
        if in_place and prefix and of_row:
            targets[-1] = row + 1
    starts = offsets([sum(of_row) for of_row in lengths])
    segment_starts = offsets([length for of_row in lengths for length in of_row])
    tokens = Tokens.drawn(starts[-1], dtype, heads=(1, 2), sizes=(16, 16))
    zoned = drawn_pool(tokens.page(), pool_dtype, next_page + 1)
    states, before = zoned.tensor, page_digests(zoned.tensor)
    initial = initial_states(states, sources)
    row_segments = table(offsets([len(of_row) for of_row in lengths]))
    tables = (table(starts), row_segments, table(segment_starts), table(sources), table(targets))
    o = chunk(*tokens.all(), states, *tables)
    assert o.dtype is dtype
    for (start, end), state in zip(pairwise(starts), initial, strict=True):
        if start == end:
            continue
        part = tokens.part(start, end)
        expected, after = truth(part, state)
        assert_near(o[start:end], expected, TOLERANCE[dtype], f"o of [{start}, {end})")
        for stop, page in zip(segment_starts[1:], targets, strict=True):
            if page and start < stop <= end:
                near = max(TOLERANCE[dtype], TOLERANCE[pool_dtype])
                assert_near(states[page], after[stop - start - 1], near, f"state at {stop}")
    changed = {page for page, digest in enumerate(page_digests(states)) if digest != before[page]}
    assert changed == set(targets) - {0}
    assert zoned.intact()


ROWS = [(0, 70), (37, 130), (5, 0), (16, 1), (99, 66)]


def case_blocks_of_16() -> None:
    check_rows([(0, 35), (13, 40), (16, 16)], 16, torch.float32, torch.float32)


def case_blocks_of_48() -> None:
    check_rows(ROWS, 48, torch.float32, torch.float32)


def case_blocks_of_64_in_place() -> None:
    check_rows(ROWS, 64, torch.float32, torch.float32, in_place=True)


def case_blocks_of_100() -> None:
    check_rows(ROWS, 100, torch.float32, torch.float32)


def case_bf16() -> None:
    check_rows(ROWS, 48, torch.bfloat16, torch.float32)
    check_rows(ROWS[:2], 100, torch.bfloat16, torch.bfloat16)


def case_fp32_in_a_bf16_pool() -> None:
    check_rows(ROWS[:2], 100, torch.float32, torch.bfloat16)


def case_the_reference() -> None:
    for block in (16, 48, 64, 100):
        check_rows(ROWS, block, torch.float64, torch.float64, chunk_reference)
    check_rows(ROWS, 64, torch.float64, torch.float64, chunk_reference, in_place=True)
    check_rows(ROWS, 48, torch.float32, torch.bfloat16, chunk_reference)
    check_rows(ROWS, 48, torch.bfloat16, torch.float32, chunk_reference)


def one_row(
    tokens: Tokens, pool: torch.Tensor, lengths: list[int], source: int, targets: list[int]
) -> torch.Tensor:
    starts = offsets(lengths)
    tables = (table([0, starts[-1]]), table([0, len(lengths)]), table(starts))
    return gated_delta_chunk(*tokens.all(), pool, *tables, table([source]), table(targets))


def case_two_rows_share_a_source() -> None:
    tokens = Tokens.drawn(24, heads=(1, 2), sizes=(16, 16))
    pool = drawn_pool(tokens.page(), torch.float32).tensor
    tables = (table([0, 12, 24]), table([0, 1, 2]), table([0, 12, 24]))
    before = page_digests(pool)
    o = gated_delta_chunk(*tokens.all(), pool, *tables, table([4, 4]), table([5, 0]))
    for start, end in ((0, 12), (12, 24)):
        expected, _ = truth(tokens.part(start, end), pool[4])
        assert_near(o[start:end], expected, 1e-5, f"o of [{start}, {end})")
    after = page_digests(pool)
    assert [page for page, digest in enumerate(after) if digest != before[page]] == [5]


def case_decode_goes_on_from_a_stored_state() -> None:
    tokens = Tokens.drawn(72, heads=(1, 2), sizes=(16, 16))
    pool = drawn_pool(tokens.page(), torch.float32).tensor
    expected, after = truth(tokens, pool[4])
    one_row(tokens.part(0, 69), pool, [64, 5], 4, [0, 10])
    later = tokens.part(69, 72)
    o = gated_delta_decode(*later.all(), pool, table([0, 3]), table([10]), table([0, 11, 10]))
    assert_near(o, expected[69:], 1e-5, "o")
    assert_near(pool[11], after[70], 1e-5, "after a token")
    assert_near(pool[10], after[71], 1e-5, "in place")


def case_the_initial_state_matters() -> None:
    tokens = Tokens.drawn(20, heads=(1, 2), sizes=(16, 16))
    pool = drawn_pool(tokens.page(), torch.float32).tensor
    found = [one_row(tokens, pool, [20], source, [0])[-1] for source in (4, 0)]
    assert (found[0] - found[1]).abs().max() > 0.1


def case_agrees_with_flash_linear_attention() -> None:
    tokens = Tokens.drawn(100, heads=(1, 2), sizes=(16, 16))
    pool = drawn_pool(tokens.page(), torch.float32).tensor
    q, k = (unit(x).repeat_interleave(2, 1)[None] for x in (tokens.q, tokens.k))
    theirs, state = fla_naive().naive_chunk_gated_delta_rule(
        q=q,
        k=k,
        v=tokens.v[None],
        g=tokens.g[None],
        beta=tokens.beta[None],
        initial_state=pool[4].mT[None],
        output_final_state=True,
    )
    o = one_row(tokens, pool, [48, 48, 4], 4, [0, 0, 5])
    assert_near(o, theirs[0], 1e-5, "o")
    assert_near(pool[5], state[0].mT, 1e-5, "state")


def case_agrees_with_transformers() -> None:
    from transformers.models.qwen3_next import modeling_qwen3_next as theirs

    tokens = Tokens.drawn(100, heads=(1, 2), sizes=(16, 16))
    pool = drawn_pool(tokens.page(), torch.float32).tensor
    # Wrapped, it is flash-linear-attention's kernel where that is installed.
    expected, state = theirs.torch_chunk_gated_delta_rule.__wrapped__(
        *(x[None] for x in tokens.all()),
        initial_state=pool[4].mT[None],
        output_final_state=True,
        use_qk_l2norm_in_kernel=True,
    )
    o = one_row(tokens, pool, [48, 48, 4], 4, [0, 0, 5])
    assert_near(o, expected[0], 1e-5, "o")
    assert_near(pool[5], state[0].mT, 1e-5, "state")


def keep_one_configuration() -> None:
    """Of each kernel of theirs that is used: without a device there is nothing to time."""
    from fla.modules.norm import l2norm
    from fla.ops.common import chunk_o
    from fla.ops.gated_delta_rule import chunk_fwd, wy_fast
    from fla.ops.utils import cumsum
    from triton.runtime.autotuner import Autotuner

    for kernel in (
        l2norm.l2norm_fwd_kernel,
        cumsum.chunk_local_cumsum_scalar_kernel,
        chunk_fwd.chunk_gated_delta_rule_fwd_kkt_solve_kernel,
        wy_fast.recompute_w_u_fwd_kernel,
        chunk_o.chunk_fwd_kernel_o,
    ):
        while not isinstance(kernel, Autotuner):
            kernel = kernel.fn
        kernel.configs = kernel.configs[:1]


def case_their_kernels_are_our_torch() -> None:
    """What CUDA runs within segments, interpreted: logarithms, layouts, chunks as we take them."""
    keep_one_configuration()
    tokens = Tokens.drawn(130, heads=(1, 2), sizes=(64, 64))
    starts = table([0, 64, 81, 81, 82, 130])
    plain, theirs = TorchSegments(), FlaSegments()
    expected = plain.prepare(*tokens.all(), starts)
    found = theirs.prepare(*tokens.all(), starts)
    for name in ("q", "k", "w", "u", "g_cumulative"):
        assert_near(getattr(found, name), getattr(expected, name), 1e-5, name)
    h = torch.randn(5, 2, 64, 64, generator=torch.Generator().manual_seed(2))
    outputs = [
        within.output(expected, h, tokens.v, starts, scale=0.3) for within in (plain, theirs)
    ]
    assert_near(outputs[1], outputs[0], 1e-5, "o")


def case_nothing_to_do() -> None:
    tokens = Tokens.drawn(0)
    pool = drawn_pool(tokens.page(), torch.float32)
    tables = (table([0, 0]), table([0, 0]), table([0]), table([1]), table([]))
    assert gated_delta_chunk(*tokens.all(), pool.tensor, *tables).shape == tokens.v.shape
    assert chunk_reference(*tokens.all(), pool.tensor, *tables).shape == tokens.v.shape


def case_refusals() -> None:
    tokens = Tokens.drawn(4)
    pool = drawn_pool(tokens.page(), torch.float32).tensor
    with pytest.raises(ValueError, match=re.escape("beta has shape (3, 4); (4, 4) would do")):
        one_row(replace(tokens, beta=tokens.beta[:3]), pool, [4], 1, [2])
    with pytest.raises(ValueError, match=re.escape("segment_starts has shape (2,); (3,) would")):
        one_row(tokens, pool, [4], 1, [2, 3])

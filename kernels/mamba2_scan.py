"""The state space of Mamba2 over a whole prefill, segment by segment.

Property: `mamba2_scan` equals the token by token rule of `mamba2.py`, whatever the segments; after
each segment with a target, that page holds the state that has consumed exactly the tokens behind
page `sources[row]` and the row's tokens up to the segment's end. It is stored from the fp32 state
that goes on, so storing changes nothing that follows.

Within a segment all tokens are matrix products: with a the logarithm of the decay, cumulative,

    y_i = exp(a_i) S C_i + sum_{j <= i} exp(a_i - a_j) dt'_j (B_j.C_i) x_j + D x_i
    S = exp(a_last) S + sum_j exp(a_last - a_j) dt'_j x_j B_j^T

* `tokens`, `weights`, `states`: as in `mamba2.py`.
* `segment_starts int32 [S + 1]`: offsets of segments in T, at most 64 tokens apart; a segment may
  be empty. `row_segments int32 [rows + 1]`: offsets of rows in S; a row may be empty.
* `sources int32 [rows]`: page of the initial state, or 0 for the zero state.
* `segment_targets int32 [S]`: page that receives the state after the segment, or 0 for none. The
  targets of a launch are distinct pages; a row may name its own source, which it has read by then.
* Returns `y [T, H, P]` in the dtype of x.
* ValueError: a shape, dtype or stride that is none of these.

Products of fp32 operands are taken in full fp32 (`input_precision="ieee"`); bf16 operands are
multiplied as they are and summed in fp32, so the state is rounded to bf16 as an operand only.

Two kernels: the states, one segment after the other, and then all outputs at once. One kernel for
both spills. Source of the form: Dao and Gu, Transformers are SSMs (2024), section 6."""

from itertools import pairwise

import torch
import triton
import triton.language as tl

from truehit.kernels.decode import TYPES, check_tables
from truehit.kernels.mamba2 import (
    KINDS,
    Mamba2Tokens,
    Mamba2Weights,
    check_inputs,
    softplus,
    variant_name,
)
from truehit.kernels.recurrence import SEGMENT_TOKENS
from truehit.kernels.table import Architecture, Config, KernelTable, Variant, architecture_of

LEAST_COLUMNS = 64
"""Of a tile; a multiple of `BK`, whatever the state has."""


def scan_reference(
    tokens: Mamba2Tokens,
    weights: Mamba2Weights,
    states: torch.Tensor,
    row_segments: torch.Tensor,
    segment_starts: torch.Tensor,
    sources: torch.Tensor,
    segment_targets: torch.Tensor,
) -> torch.Tensor:
    """The same without Triton, in the wider of fp32 and the dtype of x; float64 too."""
    wide = torch.promote_types(torch.float32, tokens.x.dtype)
    group = tokens.x.shape[1] // tokens.B.shape[1]
    x, steps = tokens.x.to(wide).transpose(0, 1), weights.steps(tokens.dt, wide).T
    b, c = (
        each.to(wide).repeat_interleave(group, 1).transpose(0, 1) for each in (tokens.B, tokens.C)
    )
    y = torch.empty_like(x)
    starts, targets = segment_starts.tolist(), segment_targets.tolist()
    rows = zip(pairwise(row_segments.tolist()), sources.tolist(), strict=True)
    for (first, last), source in rows:
        state = states[source].to(wide) if source else torch.zeros_like(states[0], dtype=wide)
        for segment in range(first, last):
            own = slice(starts[segment], starts[segment + 1])
            if own.start < own.stop:
                value, step = x[:, own], steps[:, own]
                decay = (step * weights.A.to(wide)[:, None]).cumsum(-1)
                whole, later = decay[:, -1:], torch.ones_like(c[0, own, :1] @ b[0, own, :1].mT)
                between = (decay[..., None] - decay[:, None]).where(later.tril() > 0, -torch.inf)
                scores = c[:, own] @ b[:, own].mT * between.exp() * step[:, None]
                y[:, own] = c[:, own] @ state.mT * decay.exp()[..., None] + scores @ value
                y[:, own] += weights.D.to(wide)[:, None, None] * value
                left = value * (step * (whole - decay).exp())[..., None]
                state = state * whole[..., None].exp() + left.mT @ b[:, own]
            if targets[segment]:
                states[targets[segment]] = state.to(states.dtype)
    return y.transpose(0, 1).to(tokens.x.dtype).contiguous()


@triton.jit
def mamba2_states_kernel(
    x,
    dt,
    B,
    A,
    dt_bias,
    h,
    steps,
    decay,
    states,
    row_segments,
    segment_starts,
    sources,
    segment_targets,
    x_stride,
    B_stride,
    page_stride,
    H: tl.constexpr,
    G: tl.constexpr,
    P: tl.constexpr,
    N: tl.constexpr,
    BN: tl.constexpr,
    SOFTPLUS: tl.constexpr,
    SEGMENT: tl.constexpr,
    BT: tl.constexpr,
    BP: tl.constexpr,
):
    head = tl.program_id(1)
    row = tl.program_id(2)
    group = head // (H // G)
    lines = tl.program_id(0) * BP + tl.arange(0, BP)
    columns = tl.arange(0, BN)
    in_lines = lines < P
    in_columns = columns < N
    inside = in_columns[:, None] & in_lines[None, :]
    tile = head * (P * N) + lines[None, :] * N + columns[:, None]
    first = tl.load(row_segments + row)
    last = tl.load(row_segments + row + 1)
    source = tl.load(sources + row).to(tl.int64)
    held = inside & (source != 0) & (first < last)
    state = tl.load(states + source * page_stride + tile, mask=held, other=0.0).to(tl.float32)
    # An empty segment may store to the source what other threads are still reading there.
    tl.debug_barrier()
    rate = tl.load(A + head)
    bias = tl.load(dt_bias + head)
    for index in range(first, last):
        segment = tl.cast(index, tl.int64)
        start = tl.load(segment_starts + segment).to(tl.int64)
        end = tl.load(segment_starts + segment + 1).to(tl.int64)
        target = tl.load(segment_targets + segment)
        tl.store(h + segment * (H * P * N) + tile, state.to(h.dtype.element_ty), mask=inside)
        before = tl.zeros_like(rate)
        for block in range(SEGMENT // BT):
            tokens = start + block * BT + tl.arange(0, BT)
            in_tokens = tokens < end
            at_lines = in_tokens[:, None] & in_lines[None, :]
            at_columns = in_tokens[:, None] & in_columns[None, :]
            step = tl.load(dt + tokens * H + head, mask=in_tokens, other=0.0).to(tl.float32) + bias
            own = tokens[:, None] * x_stride + head * P + lines[None, :]
            shared = tokens[:, None] * B_stride + group * N + columns[None, :]
            value = tl.load(x + own, mask=at_lines, other=0.0)
            b = tl.load(B + shared, mask=at_columns, other=0.0)
            if SOFTPLUS:
                step = softplus(step)
            step = tl.where(in_tokens, step, 0.0)
            within = tl.cumsum(step * rate, 0)
            whole = tl.sum(step * rate, 0)
            # Of the programs that share a token's step, one keeps it.
            kept = in_tokens & (tl.program_id(0) == 0)
            tl.store(steps + tokens * H + head, step, mask=kept)
            tl.store(decay + tokens * H + head, before + within, mask=kept)
            left = value.to(tl.float32) * (step * tl.exp(whole - within))[:, None]
            left = left.to(value.dtype)
            state = tl.dot(tl.trans(b), left, state * tl.exp(whole), input_precision="ieee")
            before += whole
        tl.store(
            states + target.to(tl.int64) * page_stride + tile,
            state.to(states.dtype.element_ty),
            mask=inside & (target != 0),
        )


@triton.jit
def mamba2_outputs_kernel(
    x,
    B,
    C,
    D,
    h,
    steps,
    decay,
    y,
    segment_starts,
    x_stride,
    B_stride,
    C_stride,
    H: tl.constexpr,
    G: tl.constexpr,
    P: tl.constexpr,
    N: tl.constexpr,
    BN: tl.constexpr,
    SEGMENT: tl.constexpr,
    BT: tl.constexpr,
    BP: tl.constexpr,
    BK: tl.constexpr,
):
    segment = tl.program_id(0).to(tl.int64)
    head = tl.program_id(1)
    tiles = (P + BP - 1) // BP
    start = tl.load(segment_starts + segment).to(tl.int64)
    end = tl.load(segment_starts + segment + 1).to(tl.int64)
    first = start + tl.program_id(2) // tiles * BT
    if first < end:
        group = head // (H // G)
        lines = tl.program_id(2) % tiles * BP + tl.arange(0, BP)
        asked = first + tl.arange(0, BT)
        given = start + tl.arange(0, SEGMENT)
        is_asked = asked < end
        is_given = given < end
        in_lines = lines < P
        scores = tl.zeros((BT, SEGMENT), tl.float32)
        seen = tl.zeros((BT, BP), tl.float32)
        for block in range(BN // BK):
            columns = block * BK + tl.arange(0, BK)
            in_columns = (columns < N)[None, :]
            to_asked = asked[:, None] * C_stride + group * N + columns[None, :]
            to_given = given[:, None] * B_stride + group * N + columns[None, :]
            held = segment * (H * P * N) + head * (P * N) + lines[:, None] * N + columns[None, :]
            c = tl.load(C + to_asked, mask=is_asked[:, None] & in_columns, other=0.0)
            b = tl.load(B + to_given, mask=is_given[:, None] & in_columns, other=0.0)
            state = tl.load(h + held, mask=in_lines[:, None] & in_columns, other=0.0)
            scores = tl.dot(c, tl.trans(b), scores, input_precision="ieee")
            seen = tl.dot(c, tl.trans(state), seen, input_precision="ieee")
        step = tl.load(steps + given * H + head, mask=is_given, other=0.0)
        from_given = tl.load(decay + given * H + head, mask=is_given, other=0.0)
        to_each = tl.load(decay + asked * H + head, mask=is_asked, other=0.0)
        between = to_each[:, None] - from_given[None, :]
        between = tl.where(asked[:, None] < given[None, :], -float("inf"), between)
        scores = scores * tl.exp(between) * step[None, :]
        at_given = is_given[:, None] & in_lines[None, :]
        at_asked = is_asked[:, None] & in_lines[None, :]
        own = head * P + lines[None, :]
        value = tl.load(x + given[:, None] * x_stride + own, mask=at_given, other=0.0)
        seen = seen * tl.exp(to_each)[:, None]
        seen = tl.dot(scores.to(value.dtype), value, seen, input_precision="ieee")
        skipped = tl.load(x + asked[:, None] * x_stride + own, mask=at_asked, other=0.0)
        seen += tl.load(D + head) * skipped.to(tl.float32)
        out = y + (asked[:, None] * H + head) * P + lines[None, :]
        tl.store(out, seen.to(y.dtype.element_ty), mask=at_asked)


def mamba2_scan(
    tokens: Mamba2Tokens,
    weights: Mamba2Weights,
    states: torch.Tensor,
    row_segments: torch.Tensor,
    segment_starts: torch.Tensor,
    sources: torch.Tensor,
    segment_targets: torch.Tensor,
) -> torch.Tensor:
    """Launches both kernels: one program per row, head and `BP` rows of the state; then one per
    segment, head and tile of outputs."""
    where, segments = "mamba2_scan", segment_targets.numel()
    check_inputs(where, tokens, weights, states)
    check_tables(
        where,
        tokens.x.device,
        row_segments=(row_segments, sources.numel() + 1),
        segment_starts=(segment_starts, segments + 1),
        sources=(sources, sources.numel()),
        segment_targets=(segment_targets, segments),
    )
    (count, heads, lines), (groups, columns) = tokens.x.shape, tokens.B.shape[1:]
    dtype, device = tokens.x.dtype, tokens.x.device
    y = torch.empty(count, heads, lines, dtype=dtype, device=device)
    if segments == 0:
        return y
    h = torch.empty(segments, heads, lines, columns, dtype=dtype, device=device)
    steps = torch.empty(count, heads, dtype=torch.float32, device=device)
    decay = torch.empty(count, heads, dtype=torch.float32, device=device)
    kind = variant_name(TYPES[dtype], TYPES[states.dtype], columns, weights.is_softplus)
    config = STATES.config(kind, architecture_of(device))
    sizes = _sizes(heads, groups, lines, columns)
    mamba2_states_kernel[(triton.cdiv(lines, config.tiles["BP"]), heads, sources.numel())](
        tokens.x,
        tokens.dt,
        tokens.B,
        weights.A,
        weights.dt_bias,
        h,
        steps,
        decay,
        states,
        row_segments,
        segment_starts,
        sources,
        segment_targets,
        tokens.x.stride(0),
        tokens.B.stride(0),
        states.stride(0),
        **sizes,
        SOFTPLUS=weights.is_softplus,
        **config.tiles,
        num_warps=config.warps,
        num_stages=config.stages,
    )
    _outputs(tokens, weights, h, steps, decay, y, segment_starts, sizes)
    return y


def _outputs(
    tokens: Mamba2Tokens,
    weights: Mamba2Weights,
    h: torch.Tensor,
    steps: torch.Tensor,
    decay: torch.Tensor,
    y: torch.Tensor,
    segment_starts: torch.Tensor,
    sizes: dict[str, int],
) -> None:
    """The second launch, once the states before all segments are known."""
    (_, heads, lines), segments = y.shape, h.shape[0]
    config = OUTPUTS.config(TYPES[y.dtype], architecture_of(y.device))
    tiles = triton.cdiv(lines, config.tiles["BP"]) * (SEGMENT_TOKENS // config.tiles["BT"])
    mamba2_outputs_kernel[(segments, heads, tiles)](
        tokens.x,
        tokens.B,
        tokens.C,
        weights.D,
        h,
        steps,
        decay,
        y,
        segment_starts,
        tokens.x.stride(0),
        tokens.B.stride(0),
        tokens.C.stride(0),
        **sizes,
        **config.tiles,
        num_warps=config.warps,
        num_stages=config.stages,
    )


def _sizes(heads: int, groups: int, lines: int, columns: int) -> dict[str, int]:
    """What both kernels are compiled for."""
    return {
        "H": heads,
        "G": groups,
        "P": lines,
        "N": columns,
        "BN": max(LEAST_COLUMNS, triton.next_power_of_2(columns)),
        "SEGMENT": SEGMENT_TOKENS,
    }


def _types(activations: str, *names: str) -> dict[str, str]:
    return dict.fromkeys(names, f"*{activations}")


def _states_variant(activations: str, pool: str, columns: int, is_softplus: bool) -> Variant:
    types = {
        **_types(activations, "x", "dt", "B", "h"),
        **_types("fp32", "A", "dt_bias", "steps", "decay"),
        "states": f"*{pool}",
        **_types("i32", "row_segments", "segment_starts", "sources", "segment_targets"),
        **dict.fromkeys(("x_stride", "B_stride", "page_stride"), "i32"),
    }
    return Variant(
        name=variant_name(activations, pool, columns, is_softplus),
        types=types,
        constants={**_sizes(64, 8, 64, columns), "SOFTPLUS": is_softplus},
        aligned=frozenset(types),
        tensor_cores=activations == "bf16",
    )


def _outputs_variant(activations: str) -> Variant:
    types = {
        **_types(activations, "x", "B", "C", "h", "y"),
        **_types("fp32", "D", "steps", "decay"),
        **_types("i32", "segment_starts"),
        **dict.fromkeys(("x_stride", "B_stride", "C_stride"), "i32"),
    }
    return Variant(
        name=activations,
        types=types,
        constants=_sizes(64, 8, 64, 128),
        aligned=frozenset(types),
        tensor_cores=activations == "bf16",
    )


STATES = KernelTable(
    name="mamba2_states",
    function=mamba2_states_kernel,
    variants=tuple(_states_variant(*kind) for kind in KINDS),
    configs=dict.fromkeys(Architecture, Config({"BT": 16, "BP": 16}, warps=4, stages=1)),
    own_configs={
        (variant_name(*kind), architecture): Config(
            {"BT": SEGMENT_TOKENS, "BP": 32}, warps=4 if kind[2] == 128 else 8, stages=2
        )
        for kind in KINDS
        for architecture in Architecture
        if kind[0] == "bf16"
    },
)
OUTPUTS = KernelTable(
    name="mamba2_outputs",
    function=mamba2_outputs_kernel,
    variants=tuple(map(_outputs_variant, TYPES.values())),
    configs=dict.fromkeys(Architecture, Config({"BT": 16, "BP": 16, "BK": 32}, warps=4, stages=1)),
    own_configs={
        ("bf16", architecture): Config(
            {"BT": SEGMENT_TOKENS, "BP": 64, "BK": 64}, warps=4, stages=2
        )
        for architecture in Architecture
    },
)

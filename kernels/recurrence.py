"""The states of the gated delta rule across segments, read from and written to pages.

Property: after each segment with a target, that page holds the state that has consumed exactly the
tokens behind page `sources[row]` and the row's tokens up to the segment's end; it is stored from
the fp32 state that goes on, so storing changes nothing that follows.

Per value head, with the decay G cumulative within the segment and w, u of `chunk.py`:

    h = S;  new = u - w S^T;  S = exp(G_last) S + (exp(G_last - G) new)^T k

* `k [T, H, K]` (unit length), `w [T, HV, K]`, `u [T, HV, V]`: tokens of all rows, packed and
  contiguous, one dtype, fp32 or bf16; HV is a multiple of H.
* `g_cumulative fp32 [T, HV]`: natural logarithm of the decay since the segment's start.
* `states [pages, HV, V, K]`: fp32 or bf16, the page stride is free. Page 0 is the null page.
* `segment_starts int32 [S + 1]`: offsets of segments in T, at most 64 tokens apart; a segment may
  be empty. `row_segments int32 [rows + 1]`: offsets of rows in S; a row may be empty.
* `sources int32 [rows]`: page of the initial state, or 0 for the zero state.
* `segment_targets int32 [S]`: page that receives the state after the segment, or 0 for none. The
  targets of a launch are distinct pages; a row may name its own source, which it has read by then.
* Returns `h [S, HV, V, K]` in the dtype of k, the state before each segment, and
  `new_values [T, HV, V]` in the dtype of u.
* ValueError: a shape, dtype or stride that is none of these.

Products of fp32 operands are taken in full fp32 (`input_precision="ieee"`); bf16 operands are
multiplied as they are and summed in fp32, so the state is rounded to bf16 as an operand only.

Source of the form: Yang et al., Gated Delta Networks (2024), section 3.3; keeping the states apart
from what is done within segments is the design of flash-linear-attention."""

from itertools import pairwise

import torch
import triton
import triton.language as tl

from truehit.kernels.decode import TYPES, check_inputs, check_tables, variant_name
from truehit.kernels.table import Architecture, Config, KernelTable, Variant, architecture_of

SEGMENT_TOKENS = 64
"""The most tokens of a segment."""


@triton.jit
def state_recurrence_kernel(
    k,
    w,
    u,
    g_cumulative,
    h,
    new_values,
    states,
    row_segments,
    segment_starts,
    sources,
    segment_targets,
    page_stride,
    H: tl.constexpr,
    HV: tl.constexpr,
    K: tl.constexpr,
    V: tl.constexpr,
    BK: tl.constexpr,
    SEGMENT: tl.constexpr,
    BT: tl.constexpr,
    BV: tl.constexpr,
):
    head = tl.program_id(1)
    row = tl.program_id(2)
    key_head = head // (HV // H)
    values = tl.program_id(0) * BV + tl.arange(0, BV)
    keys = tl.arange(0, BK)
    steps = tl.arange(0, BT)
    in_values = values < V
    in_keys = keys < K
    inside = in_keys[:, None] & in_values[None, :]
    tile = head * (V * K) + values[None, :] * K + keys[:, None]
    first = tl.load(row_segments + row)
    last = tl.load(row_segments + row + 1)
    source = tl.load(sources + row).to(tl.int64)
    held = inside & (source != 0) & (first < last)
    state = tl.load(states + source * page_stride + tile, mask=held, other=0.0).to(tl.float32)
    target = tl.load(segment_targets + first, mask=first < last, other=0)
    for index in range(first, last):
        segment = tl.cast(index, tl.int64)
        start = tl.load(segment_starts + segment).to(tl.int64)
        end = tl.load(segment_starts + segment + 1).to(tl.int64)
        following = tl.load(segment_targets + segment + 1, mask=segment + 1 < last, other=0)
        whole = tl.load(g_cumulative + (end - 1) * HV + head, mask=start < end, other=0.0)
        tl.store(h + segment * (HV * V * K) + tile, state.to(h.dtype.element_ty), mask=inside)
        operand = state.to(w.dtype.element_ty)
        state *= tl.exp(whole)
        for block in range(SEGMENT // BT):
            tokens = start + block * BT + steps
            in_tokens = tokens < end
            at_keys = in_tokens[:, None] & in_keys[None, :]
            at_values = in_tokens[:, None] & in_values[None, :]
            offsets = (tokens[:, None] * HV + head) * V + values[None, :]
            key = tl.load(
                k + (tokens[:, None] * H + key_head) * K + keys[None, :], mask=at_keys, other=0.0
            )
            weight = tl.load(
                w + (tokens[:, None] * HV + head) * K + keys[None, :], mask=at_keys, other=0.0
            )
            new = tl.load(u + offsets, mask=at_values, other=0.0).to(tl.float32)
            decay = tl.load(g_cumulative + tokens * HV + head, mask=in_tokens, other=0.0)
            new -= tl.dot(weight, operand, input_precision="ieee")
            tl.store(new_values + offsets, new.to(new_values.dtype.element_ty), mask=at_values)
            left = new * tl.exp(whole - decay)[:, None]
            left = left.to(k.dtype.element_ty)
            state = tl.dot(tl.trans(key), left, state, input_precision="ieee")
        if target != 0:
            tl.store(
                states + target.to(tl.int64) * page_stride + tile,
                state.to(states.dtype.element_ty),
                mask=inside,
            )
        target = following


def _variant(activations: str, pool: str, keys: int, heads: int, value_heads: int) -> Variant:
    moved = dict.fromkeys(("k", "w", "u", "h", "new_values"), f"*{activations}")
    names = ("row_segments", "segment_starts", "sources", "segment_targets")
    tables = dict.fromkeys(names, "*i32")
    types = {"g_cumulative": "*fp32", "states": f"*{pool}", "page_stride": "i32"}
    return Variant(
        name=variant_name(activations, pool, keys),
        types={**moved, **types, **tables},
        constants={
            "H": heads,
            "HV": value_heads,
            "K": keys,
            "V": keys,
            "BK": keys,
            "SEGMENT": SEGMENT_TOKENS,
        },
        aligned=frozenset({*moved, *types, *tables}),
        tensor_cores=activations == "bf16",
    )


TABLE = KernelTable(
    name="state_recurrence",
    function=state_recurrence_kernel,
    variants=tuple(
        _variant(activations, pool, *shape)
        for shape in ((128, 16, 32), (64, 2, 8))
        for activations in TYPES.values()
        for pool in TYPES.values()
    ),
    configs=dict.fromkeys(Architecture, Config({"BT": 16, "BV": 16}, warps=4, stages=1)),
    own_configs={
        (variant_name("bf16", pool, keys), architecture): Config(
            {"BT": SEGMENT_TOKENS, "BV": 32},
            warps=4,
            # Offsets are loaded before what they point to: distance two takes five stages.
            stages=3 if architecture is Architecture.SM_80 else 5,
        )
        for pool in TYPES.values()
        for keys in (64, 128)
        for architecture in Architecture
    },
)


def state_recurrence(
    k: torch.Tensor,
    w: torch.Tensor,
    u: torch.Tensor,
    g_cumulative: torch.Tensor,
    states: torch.Tensor,
    row_segments: torch.Tensor,
    segment_starts: torch.Tensor,
    sources: torch.Tensor,
    segment_targets: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Launches the kernel: one program per row, value head and `BV` rows of the state."""
    where = "state_recurrence"
    check_inputs(where, states, k=k, w=w, v=u, g=g_cumulative)
    check_tables(
        where,
        u.device,
        row_segments=(row_segments, sources.numel() + 1),
        segment_starts=(segment_starts, segment_targets.numel() + 1),
        sources=(sources, sources.numel()),
        segment_targets=(segment_targets, segment_targets.numel()),
    )
    for name, x in (("k", k), ("w", w), ("u", u)):
        if x.dtype != u.dtype or not x.is_contiguous():
            raise ValueError(
                f"{where}: {name} is {x.dtype}, strides {x.stride()}; {u.dtype} packed would do"
            )
    (key_heads, keys), (value_heads, values) = k.shape[1:], u.shape[1:]
    h = torch.empty(
        segment_targets.numel(), value_heads, values, keys, dtype=k.dtype, device=k.device
    )
    new_values = torch.empty_like(u)
    if not h.numel():
        return h, new_values
    name = variant_name(TYPES[u.dtype], TYPES[states.dtype], keys)
    config = TABLE.config(name, architecture_of(u.device))
    grid = (triton.cdiv(values, config.tiles["BV"]), value_heads, sources.numel())
    state_recurrence_kernel[grid](
        k,
        w,
        u,
        g_cumulative,
        h,
        new_values,
        states,
        row_segments,
        segment_starts,
        sources,
        segment_targets,
        states.stride(0),
        H=key_heads,
        HV=value_heads,
        K=keys,
        V=values,
        BK=max(16, triton.next_power_of_2(keys)),
        SEGMENT=SEGMENT_TOKENS,
        **config.tiles,
        num_warps=config.warps,
        num_stages=config.stages,
    )
    return h, new_values


def recurrence_reference(
    k: torch.Tensor,
    w: torch.Tensor,
    u: torch.Tensor,
    g_cumulative: torch.Tensor,
    states: torch.Tensor,
    row_segments: torch.Tensor,
    segment_starts: torch.Tensor,
    sources: torch.Tensor,
    segment_targets: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor]:
    """The same without Triton, in the wider of fp32 and the dtype of k; float64 too."""
    wide = torch.promote_types(torch.float32, k.dtype)
    group = u.shape[1] // k.shape[1]
    by_head = (x.to(wide).transpose(0, 1) for x in (k.repeat_interleave(group, 1), w, u))
    keys, weights, updates = by_head
    new_values, g = updates.clone(), g_cumulative.to(wide).T
    starts, targets = segment_starts.tolist(), segment_targets.tolist()
    h = torch.empty((len(targets), *states.shape[1:]), dtype=k.dtype, device=k.device)
    rows = zip(pairwise(row_segments.tolist()), sources.tolist(), strict=True)
    for (first, last), source in rows:
        state = states[source].to(wide) if source else torch.zeros_like(states[0], dtype=wide)
        for segment in range(first, last):
            h[segment] = state.to(k.dtype)
            tokens = slice(starts[segment], starts[segment + 1])
            if tokens.start < tokens.stop:
                new_values[:, tokens] -= weights[:, tokens] @ state.mT
                whole = g[:, tokens.stop - 1, None]
                left = new_values[:, tokens] * (whole - g[:, tokens]).exp()[..., None]
                state = state * whole[..., None].exp() + left.mT @ keys[:, tokens]
            if targets[segment]:
                states[targets[segment]] = state.to(states.dtype)
    return h, new_values.transpose(0, 1).to(u.dtype).contiguous()

"""Gated delta rule, token by token: decoding, and verification of drafts, as one kernel.

Property: after token t of a row, page `targets[t]` holds the state that has consumed exactly the
tokens behind page `sources[row]` and the row's tokens up to and including t.

Per value head, with decay g (natural log), step size beta and unit q, k (q is scaled too):

    S *= exp(g);  u = beta (v - S k);  S += u k^T;  o = S q

One token a row is decoding; 1 + k tokens a row verify k drafts, each state on its own page, so
that accepting a prefix of the drafts is picking a page.

* `q, k [T, H, K]`, `v [T, HV, V]`, `g, beta [T, HV]`: tokens of all rows, packed; HV is a multiple
  of H, and value head n reads key head n // (HV / H). fp32 or bf16; tokens of q, k, v may be
  strided, g and beta are contiguous.
* `states [pages, HV, V, K]`: fp32 or bf16, the page stride is free. Page 0 is the null page.
* `row_starts int32 [rows + 1]`: offsets of rows in T; a row may be empty.
* `sources int32 [rows]`: page of the initial state, or 0 for the zero state.
* `targets int32 [T]`: page that receives the state after the token, or 0 for none. The targets of
  a launch are distinct pages; a row may name its own source, which it has read by then.
* Returns `o [T, HV, V]` in the dtype of v. The state is held in fp32 between tokens.
* ValueError: a shape, dtype or stride that is none of these.

Source of the rule: Yang, Kautz, Hatamizadeh, Gated Delta Networks (2024), equation 10."""

from itertools import pairwise

import torch
import triton
import triton.language as tl

from truehit.kernels.table import Architecture, Config, KernelTable, Variant, architecture_of

NORM_EPSILON = tl.constexpr(1e-6)
TYPES = {torch.float32: "fp32", torch.bfloat16: "bf16"}


def unit_length(x: torch.Tensor) -> torch.Tensor:
    """The vectors of the last axis, with length one (a zero vector stays zero)."""
    return x * torch.rsqrt((x * x).sum(-1, keepdim=True) + NORM_EPSILON.value)


def decode_reference(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    g: torch.Tensor,
    beta: torch.Tensor,
    states: torch.Tensor,
    row_starts: torch.Tensor,
    sources: torch.Tensor,
    targets: torch.Tensor,
    scale: float | None = None,
) -> torch.Tensor:
    """The rule as written above, in the wider of fp32 and the dtype of v; float64 too."""
    wide = torch.promote_types(torch.float32, v.dtype)
    group = v.shape[1] // k.shape[1]
    scale = k.shape[-1] ** -0.5 if scale is None else scale
    q = unit_length(q.to(wide)).repeat_interleave(group, 1) * scale
    k = unit_length(k.to(wide)).repeat_interleave(group, 1)
    values, decay, beta = v.to(wide), g.to(wide).exp(), beta.to(wide)
    o = torch.empty_like(values)
    targets_list = targets.tolist()
    rows = zip(pairwise(row_starts.tolist()), sources.tolist(), strict=True)
    for (start, end), source in rows:
        state = states[source].to(wide) if source else torch.zeros_like(states[0], dtype=wide)
        for t in range(start, end):
            state = state * decay[t, :, None, None]
            update = beta[t, :, None] * (values[t] - (state @ k[t, :, :, None]).squeeze(-1))
            state = state + update[:, :, None] * k[t, :, None, :]
            o[t] = (state @ q[t, :, :, None]).squeeze(-1)
            if targets_list[t]:
                states[targets_list[t]] = state.to(states.dtype)
    return o.to(v.dtype)


@triton.jit
def gated_delta_decode_kernel(
    q,
    k,
    v,
    g,
    beta,
    o,
    states,
    row_starts,
    sources,
    targets,
    scale,
    q_stride,
    k_stride,
    v_stride,
    page_stride,
    H: tl.constexpr,
    HV: tl.constexpr,
    K: tl.constexpr,
    V: tl.constexpr,
    BK: tl.constexpr,
    BV: tl.constexpr,
):
    head = tl.program_id(1)
    row = tl.program_id(2)
    key_head = head // (HV // H)
    values = tl.program_id(0) * BV + tl.arange(0, BV)
    keys = tl.arange(0, BK)
    in_values = values < V
    in_keys = keys < K
    inside = in_values[:, None] & in_keys[None, :]
    tile = states + head * (V * K) + values[:, None] * K + keys[None, :]
    token = tl.load(row_starts + row)
    end = tl.load(row_starts + row + 1)
    source = tl.load(sources + row)
    held = inside & (source != 0) & (token < end)
    state = tl.load(tile + source.to(tl.int64) * page_stride, mask=held, other=0.0).to(tl.float32)
    while token < end:
        at = token.to(tl.int64)
        query = tl.load(q + at * q_stride + key_head * K + keys, mask=in_keys, other=0.0)
        key = tl.load(k + at * k_stride + key_head * K + keys, mask=in_keys, other=0.0)
        value = tl.load(v + at * v_stride + head * V + values, mask=in_values, other=0.0)
        decay = tl.exp(tl.load(g + at * HV + head).to(tl.float32))
        step = tl.load(beta + at * HV + head).to(tl.float32)
        target = tl.load(targets + token)
        query = query.to(tl.float32)
        key = key.to(tl.float32)
        query = query * (tl.rsqrt(tl.sum(query * query, 0) + NORM_EPSILON) * scale)
        key = key * tl.rsqrt(tl.sum(key * key, 0) + NORM_EPSILON)
        state = state * decay
        update = step * (value.to(tl.float32) - tl.sum(state * key[None, :], 1))
        state = state + update[:, None] * key[None, :]
        output = tl.sum(state * query[None, :], 1)
        tl.store(o + (at * HV + head) * V + values, output.to(o.dtype.element_ty), mask=in_values)
        tl.store(
            tile + target.to(tl.int64) * page_stride,
            state.to(states.dtype.element_ty),
            mask=inside & (target != 0),
        )
        token += 1


def gated_delta_decode(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    g: torch.Tensor,
    beta: torch.Tensor,
    states: torch.Tensor,
    row_starts: torch.Tensor,
    sources: torch.Tensor,
    targets: torch.Tensor,
    scale: float | None = None,
) -> torch.Tensor:
    """Launches the kernel: one program per row, value head and `BV` rows of the state."""
    check_inputs("gated_delta_decode", states, q=q, k=k, v=v, g=g, beta=beta)
    check_tables(
        "gated_delta_decode",
        v.device,
        row_starts=(row_starts, sources.numel() + 1),
        sources=(sources, sources.numel()),
        targets=(targets, v.shape[0]),
    )
    (tokens, value_heads, values), (key_heads, keys) = v.shape, k.shape[1:]
    o = torch.empty(tokens, value_heads, values, dtype=v.dtype, device=v.device)
    if tokens == 0:
        return o
    config = TABLE.config(
        variant_name(TYPES[v.dtype], TYPES[states.dtype], keys), architecture_of(v.device)
    )
    grid = (triton.cdiv(values, config.tiles["BV"]), value_heads, sources.numel())
    gated_delta_decode_kernel[grid](
        q,
        k,
        v,
        g,
        beta,
        o,
        states,
        row_starts,
        sources,
        targets,
        keys**-0.5 if scale is None else scale,
        q.stride(0),
        k.stride(0),
        v.stride(0),
        states.stride(0),
        H=key_heads,
        HV=value_heads,
        K=keys,
        V=values,
        BK=triton.next_power_of_2(keys),
        **config.tiles,
        num_warps=config.warps,
        num_stages=config.stages,
    )
    return o


def check_inputs(where: str, states: torch.Tensor, **inputs: torch.Tensor) -> None:
    """ValueError unless shapes, dtypes, devices and strides are those of `gated_delta_decode`;
    `inputs` are named as there, and all but k and v may be missing."""
    k, v = inputs["k"], inputs["v"]
    (tokens, heads, values), (key_heads, keys) = v.shape, k.shape[1:]
    if heads % key_heads:
        fit = max(heads // key_heads, 1) * key_heads
        raise ValueError(f"{where}: {heads} value heads over {key_heads} key heads; {fit} would do")
    shapes: dict[str, tuple[int, ...]] = {
        "q": (tokens, key_heads, keys),
        "k": (tokens, key_heads, keys),
        "v": (tokens, heads, values),
        "w": (tokens, heads, keys),
        "g": (tokens, heads),
        "beta": (tokens, heads),
        "states": (states.shape[0], heads, values, keys),
    }
    for name, x in {**inputs, "states": states}.items():
        check_tensor(where, name, x, shapes[name], v.device)
        if x.dtype not in (torch.float32, torch.bfloat16):
            raise ValueError(f"{where}: {name} is {x.dtype}; torch.float32 and bfloat16 would do")
        packed = x.is_contiguous() if x.dim() == 2 else not x.shape[0] or x[0].is_contiguous()
        if not packed:
            raise ValueError(f"{where}: {name} has strides {x.stride()}; contiguous() would do")


def check_tables(where: str, device: torch.device, **tables: tuple[torch.Tensor, int]) -> None:
    """ValueError unless each is a contiguous int32 vector of its length on the device."""
    for name, (x, length) in tables.items():
        check_tensor(where, name, x, (length,), device)
        if x.dtype != torch.int32 or not x.is_contiguous():
            raise ValueError(
                f"{where}: {name} is {x.dtype}, stride {x.stride()}; int32, 1 would do"
            )


def check_tensor(
    where: str, name: str, x: torch.Tensor, shape: tuple[int, ...], device: torch.device
) -> None:
    """ValueError unless the shape and the device are these."""
    if tuple(x.shape) != shape:
        raise ValueError(f"{where}: {name} has shape {tuple(x.shape)}; {shape} would do")
    if x.device != device:
        raise ValueError(f"{where}: {name} is on {x.device}; {device} would do")


def variant_name(activations: str, pool: str, keys: int) -> str:
    """`bf16_fp32_k128`: bf16 activations, an fp32 pool, keys of 128."""
    return f"{activations}_{pool}_k{keys}"


def _variant(activations: str, pool: str, keys: int, heads: int, value_heads: int) -> Variant:
    moved = dict.fromkeys(("q", "k", "v", "beta", "o"), f"*{activations}")
    tables = dict.fromkeys(("row_starts", "sources", "targets"), "*i32")
    strides = dict.fromkeys(("q_stride", "k_stride", "v_stride", "page_stride"), "i32")
    return Variant(
        name=variant_name(activations, pool, keys),
        types={**moved, "g": "*fp32", "states": f"*{pool}", **tables, "scale": "fp32", **strides},
        constants={"H": heads, "HV": value_heads, "K": keys, "V": keys, "BK": keys},
        aligned=frozenset({*moved, "g", "states", *tables, *strides}),
    )


TABLE = KernelTable(
    name="gated_delta_decode",
    function=gated_delta_decode_kernel,
    variants=tuple(
        _variant(activations, pool, *shape)
        for shape in ((128, 16, 32), (64, 2, 8))
        for activations in TYPES.values()
        for pool in TYPES.values()
    ),
    configs=dict.fromkeys(Architecture, Config({"BV": 8}, warps=1, stages=1)),
)

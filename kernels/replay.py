"""Verification of drafts without a page for every token: outputs first, the state once it is known
which tokens count.

Property: `gated_delta_verify` followed by `gated_delta_commit` leaves on page `targets[row]` the
state that `gated_delta_decode` leaves after the row's first `accepted[row]` tokens, bit for bit
under the interpreter, and returns the same outputs; no other page is written but that of a boundary
inside the accepted prefix.

A verification that stores each state moves 1 + 9 states to keep one of them. This one reads a state
and keeps the tokens as they came in, a few kilobytes a row; a commit reads the state again, repeats
the accepted tokens and writes once. Tokens are kept as they came in, not of unit length: that is
exact, and in bf16 half the bytes.

* `q, k, v, g, beta, states, row_starts, sources`: as in `decode.py`.
* `caches`: `k [R, 9, H, K]`, `v [R, 9, HV, V]`, `g, beta [R, 9, HV]`, contiguous, each in the dtype
  of what it keeps; `ReplayCache.like` makes one. Row r of a launch has row r of the cache; R is at
  least the rows. Tokens of a row beyond the ninth have outputs but cannot be committed.
* `accepted int32 [rows]`: tokens of the row that count, at most those it had. 0: nothing is stored.
* `targets int32 [rows]`: page that receives the state after them, or 0 for none.
* `boundary_targets int32 [rows]`: page that receives the state after the row's first
  `boundary_offsets[row]` tokens, if that is 1 to `accepted[row]`; or 0 for none.
* All targets of a commit are distinct pages; a row may name its own source, read by then. Between
  the two launches nobody writes the source.
* Returns `o [T, HV, V]` in the dtype of v. The state is held in fp32 between tokens.
* ValueError: a shape, dtype or stride that is none of these.

Source of the idea: the replayed commit of FlashInfer's gated delta rule; vLLM's ReplaySSM."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Self

import torch
import triton
import triton.language as tl

from truehit.kernels.decode import (
    NORM_EPSILON,
    TYPES,
    check_inputs,
    check_tables,
    check_tensor,
    decode_reference,
    unit_length,
    variant_name,
)
from truehit.kernels.table import Architecture, Config, KernelTable, Variant, architecture_of

CACHED_TOKENS = 9
"""Of a row: one token, and eight drafts."""


@dataclass(frozen=True, slots=True)
class ReplayCache:
    """The tokens of the last verification, as they came in; see above."""

    k: torch.Tensor
    v: torch.Tensor
    g: torch.Tensor
    beta: torch.Tensor

    @classmethod
    def like(
        cls, rows: int, k: torch.Tensor, v: torch.Tensor, g: torch.Tensor, beta: torch.Tensor
    ) -> Self:
        """For that many rows of such tokens."""
        return cls(*(x.new_zeros(rows, CACHED_TOKENS, *x.shape[1:]) for x in (k, v, g, beta)))

    def tokens(self) -> dict[str, torch.Tensor]:
        """By name and packed: token t of row r is `CACHED_TOKENS` r + t."""
        named = {"k": self.k, "v": self.v, "g": self.g, "beta": self.beta}
        return {name: x.flatten(0, 1) for name, x in named.items()}


def verify_reference(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    g: torch.Tensor,
    beta: torch.Tensor,
    states: torch.Tensor,
    caches: ReplayCache,
    row_starts: torch.Tensor,
    sources: torch.Tensor,
    scale: float | None = None,
) -> torch.Tensor:
    """`decode_reference` that stores nothing, and a copy of the tokens."""
    for row, (start, end) in enumerate(pairwise(row_starts.tolist())):
        end = min(end, start + CACHED_TOKENS)
        for cache, x in ((caches.k, k), (caches.v, v), (caches.g, g), (caches.beta, beta)):
            cache[row, : end - start] = x[start:end]
    nowhere = row_starts.new_zeros(v.shape[0])
    return decode_reference(q, k, v, g, beta, states, row_starts, sources, nowhere, scale)


def commit_reference(
    states: torch.Tensor,
    caches: ReplayCache,
    sources: torch.Tensor,
    targets: torch.Tensor,
    accepted: torch.Tensor,
    boundary_targets: torch.Tensor,
    boundary_offsets: torch.Tensor,
) -> None:
    """The rule of `decode.py`, in the wider of fp32 and the dtype of v; float64 too."""
    wide = torch.promote_types(torch.float32, caches.v.dtype)
    group = caches.v.shape[2] // caches.k.shape[2]
    keys = unit_length(caches.k.to(wide)).repeat_interleave(group, 2)
    values, decay, beta = caches.v.to(wide), caches.g.to(wide).exp(), caches.beta.to(wide)
    tables = (sources, targets, accepted, boundary_targets, boundary_offsets)
    rows = zip(*(each.tolist() for each in tables), strict=True)
    for row, (source, target, count, boundary, offset) in enumerate(rows):
        state = states[source].to(wide) if source else torch.zeros_like(states[0], dtype=wide)
        for t in range(min(count, CACHED_TOKENS)):
            key = keys[row, t]
            state = state * decay[row, t, :, None, None]
            update = beta[row, t, :, None] * (values[row, t] - (state @ key[..., None]).squeeze(-1))
            state = state + update[:, :, None] * key[:, None, :]
            if boundary and t + 1 == offset:
                states[boundary] = state.to(states.dtype)
        if target and count > 0:
            states[target] = state.to(states.dtype)


@triton.jit
def unit(x):
    """Of length one, in fp32, where the lanes outside are 0."""
    x = x.to(tl.float32)
    return x * tl.rsqrt(tl.sum(x * x, 0) + NORM_EPSILON)


@triton.jit
def after(state, key, value, decay, step):
    """The state after one more token; the key has length one."""
    state = state * tl.exp(decay.to(tl.float32))
    left = value.to(tl.float32) - tl.sum(state * key[None, :], 1)
    update = step.to(tl.float32) * left
    return state + update[:, None] * key[None, :]


@triton.jit
def gated_delta_verify_kernel(
    q,
    k,
    v,
    g,
    beta,
    o,
    states,
    cached_k,
    cached_v,
    cached_g,
    cached_beta,
    row_starts,
    sources,
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
    TOKENS: tl.constexpr,
    BV: tl.constexpr,
):
    tile = tl.program_id(0)
    head = tl.program_id(1)
    row = tl.program_id(2)
    key_head = head // (HV // H)
    values = tile * BV + tl.arange(0, BV)
    keys = tl.arange(0, BK)
    in_values = values < V
    in_keys = keys < K
    inside = in_values[:, None] & in_keys[None, :]
    start = tl.load(row_starts + row)
    end = tl.load(row_starts + row + 1)
    source = tl.load(sources + row)
    page = states + source.to(tl.int64) * page_stride
    held = inside & (source != 0) & (start < end)
    at_head = head * (V * K) + values[:, None] * K + keys[None, :]
    state = tl.load(page + at_head, mask=held, other=0.0).to(tl.float32)
    token = start
    while token < end:
        at = token.to(tl.int64)
        slot = row.to(tl.int64) * TOKENS + (token - start)
        query = tl.load(q + at * q_stride + key_head * K + keys, mask=in_keys, other=0.0)
        key = tl.load(k + at * k_stride + key_head * K + keys, mask=in_keys, other=0.0)
        value = tl.load(v + at * v_stride + head * V + values, mask=in_values, other=0.0)
        decay = tl.load(g + at * HV + head)
        step = tl.load(beta + at * HV + head)
        kept = token - start < TOKENS
        # Of the programs that share a token's decay, or its key, one keeps it.
        first = kept & (tile == 0)
        keeps_key = first & (head % (HV // H) == 0)
        tl.store(cached_k + (slot * H + key_head) * K + keys, key, mask=in_keys & keeps_key)
        tl.store(cached_v + (slot * HV + head) * V + values, value, mask=in_values & kept)
        tl.store(cached_g + slot * HV + head, decay, mask=first)
        tl.store(cached_beta + slot * HV + head, step, mask=first)
        query = query.to(tl.float32)
        query = query * (tl.rsqrt(tl.sum(query * query, 0) + NORM_EPSILON) * scale)
        state = after(state, unit(key), value, decay, step)
        output = tl.sum(state * query[None, :], 1)
        tl.store(o + (at * HV + head) * V + values, output.to(o.dtype.element_ty), mask=in_values)
        token += 1


@triton.jit
def gated_delta_commit_kernel(
    states,
    cached_k,
    cached_v,
    cached_g,
    cached_beta,
    sources,
    targets,
    accepted,
    boundary_targets,
    boundary_offsets,
    page_stride,
    H: tl.constexpr,
    HV: tl.constexpr,
    K: tl.constexpr,
    V: tl.constexpr,
    BK: tl.constexpr,
    TOKENS: tl.constexpr,
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
    source = tl.load(sources + row)
    target = tl.load(targets + row)
    count = tl.minimum(tl.load(accepted + row), TOKENS)
    boundary_target = tl.load(boundary_targets + row)
    tile = states + head * (V * K) + values[:, None] * K + keys[None, :]
    held = inside & (source != 0) & (count > 0)
    state = tl.load(tile + source.to(tl.int64) * page_stride, mask=held, other=0.0).to(tl.float32)
    slot = row.to(tl.int64) * TOKENS
    boundary = slot + tl.load(boundary_offsets + row)
    last = slot + count
    while slot < last:
        key = tl.load(cached_k + (slot * H + key_head) * K + keys, mask=in_keys, other=0.0)
        value = tl.load(cached_v + (slot * HV + head) * V + values, mask=in_values, other=0.0)
        decay = tl.load(cached_g + slot * HV + head)
        step = tl.load(cached_beta + slot * HV + head)
        state = after(state, unit(key), value, decay, step)
        slot += 1
        tl.store(
            tile + boundary_target.to(tl.int64) * page_stride,
            state.to(states.dtype.element_ty),
            mask=inside & (boundary_target != 0) & (slot == boundary),
        )
    tl.store(
        tile + target.to(tl.int64) * page_stride,
        state.to(states.dtype.element_ty),
        mask=inside & (target != 0) & (count > 0),
    )


def gated_delta_verify(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    g: torch.Tensor,
    beta: torch.Tensor,
    states: torch.Tensor,
    caches: ReplayCache,
    row_starts: torch.Tensor,
    sources: torch.Tensor,
    scale: float | None = None,
) -> torch.Tensor:
    """Launches the kernel: one program per row, value head and `BV` rows of the state."""
    where, rows = "gated_delta_verify", sources.numel()
    check_inputs(where, states, q=q, k=k, v=v, g=g, beta=beta)
    starts = (row_starts, rows + 1)
    check_tables(where, v.device, row_starts=starts, sources=(sources, rows))
    _check_caches(where, caches, rows, k=k, v=v, g=g, beta=beta)
    (tokens, value_heads, values), (key_heads, keys) = v.shape, k.shape[1:]
    o = torch.empty(tokens, value_heads, values, dtype=v.dtype, device=v.device)
    if tokens == 0:
        return o
    name = variant_name(TYPES[v.dtype], TYPES[states.dtype], keys)
    config = VERIFY.config(name, architecture_of(v.device))
    gated_delta_verify_kernel[(triton.cdiv(values, config.tiles["BV"]), value_heads, rows)](
        q,
        k,
        v,
        g,
        beta,
        o,
        states,
        caches.k,
        caches.v,
        caches.g,
        caches.beta,
        row_starts,
        sources,
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
        TOKENS=CACHED_TOKENS,
        **config.tiles,
        num_warps=config.warps,
        num_stages=config.stages,
    )
    return o


def gated_delta_commit(
    states: torch.Tensor,
    caches: ReplayCache,
    sources: torch.Tensor,
    targets: torch.Tensor,
    accepted: torch.Tensor,
    boundary_targets: torch.Tensor,
    boundary_offsets: torch.Tensor,
) -> None:
    """Launches the kernel: one program per row, value head and `BV` rows of the state."""
    where, rows = "gated_delta_commit", sources.numel()
    tokens = caches.tokens()
    check_inputs(where, states, **tokens)
    _check_caches(where, caches, rows, **tokens)
    check_tables(
        where,
        states.device,
        sources=(sources, rows),
        targets=(targets, rows),
        accepted=(accepted, rows),
        boundary_targets=(boundary_targets, rows),
        boundary_offsets=(boundary_offsets, rows),
    )
    if rows == 0:
        return
    (key_heads, keys), (value_heads, values) = caches.k.shape[2:], caches.v.shape[2:]
    name = variant_name(TYPES[caches.v.dtype], TYPES[states.dtype], keys)
    config = COMMIT.config(name, architecture_of(states.device))
    gated_delta_commit_kernel[(triton.cdiv(values, config.tiles["BV"]), value_heads, rows)](
        states,
        caches.k,
        caches.v,
        caches.g,
        caches.beta,
        sources,
        targets,
        accepted,
        boundary_targets,
        boundary_offsets,
        states.stride(0),
        H=key_heads,
        HV=value_heads,
        K=keys,
        V=values,
        BK=triton.next_power_of_2(keys),
        TOKENS=CACHED_TOKENS,
        **config.tiles,
        num_warps=config.warps,
        num_stages=config.stages,
    )


def _check_caches(where: str, caches: ReplayCache, rows: int, **tokens: torch.Tensor) -> None:
    kept = {"k": caches.k, "v": caches.v, "g": caches.g, "beta": caches.beta}
    fitting = max(rows, caches.k.shape[0])
    for name, x in tokens.items():
        shape = (fitting, CACHED_TOKENS, *x.shape[1:])
        check_tensor(where, f"caches.{name}", kept[name], shape, x.device)
        if kept[name].dtype != x.dtype or not kept[name].is_contiguous():
            raise ValueError(
                f"{where}: caches.{name} is {kept[name].dtype}, strides {kept[name].stride()}; "
                f"{x.dtype} packed would do"
            )


def _variants(
    names: tuple[str, ...], tables: tuple[str, ...], others: dict[str, str]
) -> tuple[Variant, ...]:
    """Of one kernel, in all sizes and types; `names` are of activations."""
    types = {"page_stride": "i32", **others, **dict.fromkeys(tables, "*i32")}
    return tuple(
        Variant(
            name=variant_name(activations, pool, keys),
            types={**dict.fromkeys(names, f"*{activations}"), "states": f"*{pool}", **types},
            constants={
                "H": heads,
                "HV": value_heads,
                "K": keys,
                "V": keys,
                "BK": keys,
                "TOKENS": CACHED_TOKENS,
            },
            aligned=frozenset({*names, "states", *types} - {"scale"}),
        )
        for keys, heads, value_heads in ((128, 16, 32), (64, 2, 8))
        for activations in TYPES.values()
        for pool in TYPES.values()
    )


_KEPT = ("cached_k", "cached_v", "cached_beta")
_CONFIGS = dict.fromkeys(Architecture, Config({"BV": 8}, warps=1, stages=1))
VERIFY = KernelTable(
    name="gated_delta_verify",
    function=gated_delta_verify_kernel,
    variants=_variants(
        ("q", "k", "v", "beta", "o", *_KEPT),
        ("row_starts", "sources"),
        {"g": "*fp32", "cached_g": "*fp32", "scale": "fp32"}
        | dict.fromkeys(("q_stride", "k_stride", "v_stride"), "i32"),
    ),
    configs=_CONFIGS,
)
COMMIT = KernelTable(
    name="gated_delta_commit",
    function=gated_delta_commit_kernel,
    variants=_variants(
        _KEPT,
        ("sources", "targets", "accepted", "boundary_targets", "boundary_offsets"),
        {"cached_g": "*fp32"},
    ),
    configs=_CONFIGS,
)

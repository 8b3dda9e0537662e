"""The state space of Mamba2, token by token: decoding, and verification of drafts, as one kernel.

Property: after token t of a row, page `targets[t]` holds the state that has consumed exactly the
tokens behind page `sources[row]` and the row's tokens up to and including t.

Per head, with the step dt' = softplus(dt + dt_bias) (or dt + dt_bias) and a negative rate A:

    S = exp(dt' A) S + dt' x B^T;  y = S C + D x

One token a row is decoding; 1 + k tokens a row verify k drafts, each state on its own page.

* `Mamba2Tokens`: `x [T, H, P]`, `dt [T, H]`, `B, C [T, G, N]`: tokens of all rows, packed; H is a
  multiple of G, and head n reads group n // (H / G). All fp32, or all bf16; tokens of x, B, C may
  be strided, dt is contiguous.
* `Mamba2Weights`: `A, D, dt_bias fp32 [H]`.
* `states [pages, H, P, N]`: fp32 or bf16, the page stride is free. Page 0 is the null page.
* `row_starts int32 [rows + 1]`: offsets of rows in T; a row may be empty.
* `sources int32 [rows]`: page of the initial state, or 0 for the zero state.
* `targets int32 [T]`: page that receives the state after the token, or 0 for none. The targets of
  a launch are distinct pages; a row may name its own source, which it has read by then.
* Returns `y [T, H, P]` in the dtype of x. The state is held in fp32 between tokens.
* ValueError: a shape, dtype or stride that is none of these.

Source of the rule: Dao and Gu, Transformers are SSMs (2024), section 6."""

from dataclasses import dataclass
from itertools import pairwise

import torch
import triton
import triton.language as tl

from truehit.kernels.decode import TYPES, check_tables, check_tensor
from truehit.kernels.table import Architecture, Config, KernelTable, Variant, architecture_of


@dataclass(frozen=True, slots=True)
class Mamba2Tokens:
    """What a layer computes from its input; see above."""

    x: torch.Tensor
    dt: torch.Tensor
    B: torch.Tensor
    C: torch.Tensor


@dataclass(frozen=True, slots=True)
class Mamba2Weights:
    """What a layer has learned. `is_softplus`: of the step, else it is taken as it is."""

    A: torch.Tensor
    D: torch.Tensor
    dt_bias: torch.Tensor
    is_softplus: bool = True

    def steps(self, dt: torch.Tensor, wide: torch.dtype) -> torch.Tensor:
        """dt' as above."""
        biased = dt.to(wide) + self.dt_bias.to(wide)
        return torch.nn.functional.softplus(biased) if self.is_softplus else biased


def update_reference(
    tokens: Mamba2Tokens,
    weights: Mamba2Weights,
    states: torch.Tensor,
    row_starts: torch.Tensor,
    sources: torch.Tensor,
    targets: torch.Tensor,
) -> torch.Tensor:
    """The rule as written above, in the wider of fp32 and the dtype of x; float64 too."""
    wide = torch.promote_types(torch.float32, tokens.x.dtype)
    group = tokens.x.shape[1] // tokens.B.shape[1]
    x, steps = tokens.x.to(wide), weights.steps(tokens.dt, wide)
    inputs, outputs = (each.to(wide).repeat_interleave(group, 1) for each in (tokens.B, tokens.C))
    decay = (steps * weights.A.to(wide)).exp()
    skip, y = weights.D.to(wide)[:, None], torch.empty_like(x)
    targets_list = targets.tolist()
    rows = zip(pairwise(row_starts.tolist()), sources.tolist(), strict=True)
    for (start, end), source in rows:
        state = states[source].to(wide) if source else torch.zeros_like(states[0], dtype=wide)
        for t in range(start, end):
            update = (steps[t, :, None] * x[t])[:, :, None] * inputs[t, :, None, :]
            state = state * decay[t, :, None, None] + update
            y[t] = (state @ outputs[t, :, :, None]).squeeze(-1) + skip * x[t]
            if targets_list[t]:
                states[targets_list[t]] = state.to(states.dtype)
    return y.to(tokens.x.dtype)


@triton.jit
def softplus(x):
    """log(1 + exp(x)), as exact for small results as for large ones: steps are near 1e-3."""
    small = tl.exp(-tl.abs(x))
    total = small + 1.0
    rounded = total - 1.0
    # What the sum has lost of `small` is a factor of its logarithm.
    exact = tl.log(total) * (small / tl.where(rounded == 0.0, 1.0, rounded))
    return tl.maximum(x, 0.0) + tl.where(rounded == 0.0, small, exact)


@triton.jit
def mamba2_update_kernel(
    x,
    dt,
    B,
    C,
    A,
    D,
    dt_bias,
    y,
    states,
    row_starts,
    sources,
    targets,
    x_stride,
    B_stride,
    C_stride,
    page_stride,
    H: tl.constexpr,
    G: tl.constexpr,
    P: tl.constexpr,
    N: tl.constexpr,
    BN: tl.constexpr,
    SOFTPLUS: tl.constexpr,
    BP: tl.constexpr,
):
    head = tl.program_id(1)
    row = tl.program_id(2)
    group = head // (H // G)
    lines = tl.program_id(0) * BP + tl.arange(0, BP)
    columns = tl.arange(0, BN)
    in_lines = lines < P
    in_columns = columns < N
    inside = in_lines[:, None] & in_columns[None, :]
    tile = states + head * (P * N) + lines[:, None] * N + columns[None, :]
    token = tl.load(row_starts + row)
    end = tl.load(row_starts + row + 1)
    source = tl.load(sources + row)
    held = inside & (source != 0) & (token < end)
    state = tl.load(tile + source.to(tl.int64) * page_stride, mask=held, other=0.0).to(tl.float32)
    rate = tl.load(A + head)
    skip = tl.load(D + head)
    bias = tl.load(dt_bias + head)
    while token < end:
        at = token.to(tl.int64)
        value = tl.load(x + at * x_stride + head * P + lines, mask=in_lines, other=0.0)
        b = tl.load(B + at * B_stride + group * N + columns, mask=in_columns, other=0.0)
        c = tl.load(C + at * C_stride + group * N + columns, mask=in_columns, other=0.0)
        step = tl.load(dt + at * H + head).to(tl.float32) + bias
        target = tl.load(targets + token)
        if SOFTPLUS:
            step = softplus(step)
        value = value.to(tl.float32)
        update = (step * value)[:, None] * b.to(tl.float32)[None, :]
        state = state * tl.exp(step * rate) + update
        seen = tl.sum(state * c.to(tl.float32)[None, :], 1) + skip * value
        tl.store(y + (at * H + head) * P + lines, seen.to(y.dtype.element_ty), mask=in_lines)
        tl.store(
            tile + target.to(tl.int64) * page_stride,
            state.to(states.dtype.element_ty),
            mask=inside & (target != 0),
        )
        token += 1


def mamba2_update(
    tokens: Mamba2Tokens,
    weights: Mamba2Weights,
    states: torch.Tensor,
    row_starts: torch.Tensor,
    sources: torch.Tensor,
    targets: torch.Tensor,
) -> torch.Tensor:
    """Launches the kernel: one program per row, head and `BP` rows of the state."""
    where = "mamba2_update"
    check_inputs(where, tokens, weights, states)
    x, (groups, columns) = tokens.x, tokens.B.shape[1:]
    count, heads, lines = x.shape
    check_tables(
        where,
        x.device,
        row_starts=(row_starts, sources.numel() + 1),
        sources=(sources, sources.numel()),
        targets=(targets, count),
    )
    y = torch.empty(count, heads, lines, dtype=x.dtype, device=x.device)
    if count == 0:
        return y
    name = variant_name(TYPES[x.dtype], TYPES[states.dtype], columns, weights.is_softplus)
    config = TABLE.config(name, architecture_of(x.device))
    mamba2_update_kernel[(triton.cdiv(lines, config.tiles["BP"]), heads, sources.numel())](
        x,
        tokens.dt,
        tokens.B,
        tokens.C,
        weights.A,
        weights.D,
        weights.dt_bias,
        y,
        states,
        row_starts,
        sources,
        targets,
        x.stride(0),
        tokens.B.stride(0),
        tokens.C.stride(0),
        states.stride(0),
        H=heads,
        G=groups,
        P=lines,
        N=columns,
        BN=triton.next_power_of_2(columns),
        SOFTPLUS=weights.is_softplus,
        **config.tiles,
        num_warps=config.warps,
        num_stages=config.stages,
    )
    return y


def check_inputs(
    where: str, tokens: Mamba2Tokens, weights: Mamba2Weights, states: torch.Tensor
) -> None:
    """ValueError unless shapes, dtypes, devices and strides are those of `mamba2_update`."""
    x, (groups, columns) = tokens.x, tokens.B.shape[1:]
    count, heads, lines = x.shape
    if heads % groups:
        fit = max(heads // groups, 1) * groups
        raise ValueError(f"{where}: {heads} heads over {groups} groups; {fit} would do")
    activations = (x.dtype,) if x.dtype in TYPES else tuple(TYPES)
    wanted = {
        "x": (x, (count, heads, lines), activations),
        "dt": (tokens.dt, (count, heads), activations),
        "B": (tokens.B, (count, groups, columns), activations),
        "C": (tokens.C, (count, groups, columns), activations),
        "A": (weights.A, (heads,), (torch.float32,)),
        "D": (weights.D, (heads,), (torch.float32,)),
        "dt_bias": (weights.dt_bias, (heads,), (torch.float32,)),
        "states": (states, (states.shape[0], heads, lines, columns), tuple(TYPES)),
    }
    for name, (each, shape, dtypes) in wanted.items():
        check_tensor(where, name, each, shape, x.device)
        if each.dtype not in dtypes:
            raise ValueError(f"{where}: {name} is {each.dtype}; {dtypes[0]} would do")
        packed = each[:1] if each.dim() > 2 else each
        if not packed.is_contiguous():
            raise ValueError(f"{where}: {name} has strides {each.stride()}; contiguous() would do")


def variant_name(activations: str, pool: str, columns: int, is_softplus: bool) -> str:
    """`bf16_fp32_n128`: bf16 activations, an fp32 pool, states of 128; `_linear`: no softplus."""
    return f"{activations}_{pool}_n{columns}{'' if is_softplus else '_linear'}"


def _variant(activations: str, pool: str, columns: int, is_softplus: bool) -> Variant:
    types = {
        **dict.fromkeys(("x", "dt", "B", "C", "y"), f"*{activations}"),
        **dict.fromkeys(("A", "D", "dt_bias"), "*fp32"),
        "states": f"*{pool}",
        **dict.fromkeys(("row_starts", "sources", "targets"), "*i32"),
        **dict.fromkeys(("x_stride", "B_stride", "C_stride", "page_stride"), "i32"),
    }
    sizes = {"H": 64, "G": 8, "P": 64, "N": columns, "BN": columns}
    return Variant(
        name=variant_name(activations, pool, columns, is_softplus),
        types=types,
        constants={**sizes, "SOFTPLUS": is_softplus},
        aligned=frozenset(types),
    )


KINDS = (
    *(
        (activations, pool, columns, True)
        for columns in (128, 256)
        for activations in TYPES.values()
        for pool in TYPES.values()
    ),
    ("bf16", "fp32", 128, False),
)
"""Of variants: activations, pool, columns of the state, and whether the step is a softplus."""
TABLE = KernelTable(
    name="mamba2_update",
    function=mamba2_update_kernel,
    variants=tuple(_variant(*kind) for kind in KINDS),
    configs=dict.fromkeys(Architecture, Config({"BP": 8}, warps=1, stages=1)),
    own_configs={
        (variant_name(*kind), architecture): Config({"BP": 4}, warps=1, stages=1)
        for kind in KINDS
        for architecture in Architecture
        if kind[2] == 256
    },
)

"""Gated delta rule over a whole prefill, segment by segment.

Property: `gated_delta_chunk` equals the token by token rule of `decode.py`, whatever the segments;
after each segment with a target, that page holds the state that has consumed the row's prefix up
to and including the segment.

Within a segment the updates u of all tokens solve one triangular system, so that a segment costs
matrix products: with G the decay cumulative within the segment,

    (I + tril(beta_i exp(G_i - G_j) k_i.k_j, -1)) [u | w] = [beta v | beta exp(G) k]
    new = u - w S^T                                          (`recurrence.py`, where pages are)
    o_i = scale (exp(G_i) S q_i + sum_{j <= i} exp(G_i - G_j) (q_i.k_j) new_j)

The first and the last line know no pages. They are `SegmentMath`: flash-linear-attention's
kernels on CUDA, plain torch on the CPU.

* `q, k [T, H, K]`, `v [T, HV, V]`, `g, beta [T, HV]`: as in `decode.py`, contiguous on CUDA.
* `states [pages, HV, V, K]`, `row_segments int32 [rows + 1]`, `segment_starts int32 [S + 1]`,
  `sources int32 [rows]`, `segment_targets int32 [S]`: as in `recurrence.py`; a segment has at most
  64 tokens. `row_starts int32 [rows + 1]` repeats the segments' outer offsets.
* Returns `o [T, HV, V]` in the dtype of v.
* ValueError: a shape, dtype or stride that is none of these.

Source of the form: Yang et al., Parallelizing Linear Transformers with the Delta Rule (2024),
section 3, with the decay of Gated Delta Networks (2024), section 3.3."""

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import torch

from truehit.kernels.decode import NORM_EPSILON, check_inputs, check_tables, unit_length
from truehit.kernels.recurrence import SEGMENT_TOKENS, recurrence_reference, state_recurrence


@dataclass(frozen=True, slots=True)
class Prepared:
    """What the states are built from: unit `q, k [T, H, K]`, `w [T, HV, K]`, `u [T, HV, V]`, and
    `g_cumulative fp32 [T, HV]`, the natural logarithm of the decay since the segment's start."""

    q: torch.Tensor
    k: torch.Tensor
    w: torch.Tensor
    u: torch.Tensor
    g_cumulative: torch.Tensor


class SegmentMath(Protocol):
    """What is done within segments, before and after the states are known."""

    def prepare(
        self,
        q: torch.Tensor,
        k: torch.Tensor,
        v: torch.Tensor,
        g: torch.Tensor,
        beta: torch.Tensor,
        segment_starts: torch.Tensor,
    ) -> Prepared:
        """The triangular systems, solved."""
        ...

    def output(
        self,
        prepared: Prepared,
        h: torch.Tensor,
        new_values: torch.Tensor,
        segment_starts: torch.Tensor,
        scale: float,
    ) -> torch.Tensor:
        """`o [T, HV, V]`, from the states before the segments and the updates within them."""
        ...


class TorchSegments:
    """Plain torch, one segment after the other, in the wider of fp32 and the dtype given."""

    def prepare(
        self,
        q: torch.Tensor,
        k: torch.Tensor,
        v: torch.Tensor,
        g: torch.Tensor,
        beta: torch.Tensor,
        segment_starts: torch.Tensor,
    ) -> Prepared:
        wide = torch.promote_types(torch.float32, v.dtype)
        unit_q, unit_k = unit_length(q.to(wide)), unit_length(k.to(wide))
        keys, values = _by_head(unit_k, v.shape[1]), _by_head(v.to(wide), v.shape[1])
        steps, decay = beta.to(wide).T[..., None], g.to(wide).T
        g_cumulative = torch.empty_like(decay)
        solved = torch.empty_like(torch.cat((values, keys), -1))
        for start, end in pairwise(segment_starts.tolist()):
            tokens = slice(start, end)
            total = g_cumulative[:, tokens] = decay[:, tokens].cumsum(-1)
            key, step = keys[:, tokens], steps[:, tokens]
            right = torch.cat((values[:, tokens], key * total.exp()[..., None]), -1) * step
            solved[:, tokens] = torch.linalg.solve_triangular(
                step * _decay_between(total) * (key @ key.mT),
                right,
                upper=False,
                unitriangular=True,
            )
        solved, values_size = solved.transpose(0, 1).to(v.dtype), v.shape[-1]
        return Prepared(
            q=unit_q.to(q.dtype),
            k=unit_k.to(k.dtype),
            w=solved[..., values_size:].contiguous(),
            u=solved[..., :values_size].contiguous(),
            g_cumulative=g_cumulative.T.contiguous(),
        )

    def output(
        self,
        prepared: Prepared,
        h: torch.Tensor,
        new_values: torch.Tensor,
        segment_starts: torch.Tensor,
        scale: float,
    ) -> torch.Tensor:
        wide = torch.promote_types(torch.float32, new_values.dtype)
        heads = new_values.shape[1]
        queries, keys = (_by_head(x.to(wide), heads) for x in (prepared.q, prepared.k))
        values, g = _by_head(new_values.to(wide), heads), prepared.g_cumulative.to(wide).T
        o = torch.empty_like(values)
        for segment, (start, end) in enumerate(pairwise(segment_starts.tolist())):
            tokens = slice(start, end)
            query, total = queries[:, tokens] * scale, g[:, tokens]
            earlier = _decay_between(total) * (query @ keys[:, tokens].mT) @ values[:, tokens]
            o[:, tokens] = query @ h[segment].to(wide).mT * total.exp()[..., None] + earlier
        return o.transpose(0, 1).to(new_values.dtype).contiguous()


class FlaSegments:
    """flash-linear-attention's kernels, each segment one of their chunks. CUDA only. They think in
    logarithms to base 2, and multiply fp32 operands in tf32."""

    def prepare(
        self,
        q: torch.Tensor,
        k: torch.Tensor,
        v: torch.Tensor,
        g: torch.Tensor,
        beta: torch.Tensor,
        segment_starts: torch.Tensor,
    ) -> Prepared:
        from fla.modules.norm.l2norm import l2norm_fwd
        from fla.ops.gated_delta_rule.chunk_fwd import chunk_gated_delta_rule_fwd_intra
        from fla.ops.utils import chunk_local_cumsum

        chunks = _chunks(segment_starts)
        unit_q, _ = l2norm_fwd(q.contiguous(), eps=NORM_EPSILON.value)
        unit_k, _ = l2norm_fwd(k.contiguous(), eps=NORM_EPSILON.value)
        g_cumulative = chunk_local_cumsum(g[None], SEGMENT_TOKENS, **chunks)
        w, u, _ = chunk_gated_delta_rule_fwd_intra(
            k=unit_k[None],
            v=v[None].contiguous(),
            g=g_cumulative / math.log(2),
            beta=beta[None],
            chunk_size=SEGMENT_TOKENS,
            **chunks,
        )
        return Prepared(q=unit_q, k=unit_k, w=w[0], u=u[0], g_cumulative=g_cumulative[0])

    def output(
        self,
        prepared: Prepared,
        h: torch.Tensor,
        new_values: torch.Tensor,
        segment_starts: torch.Tensor,
        scale: float,
    ) -> torch.Tensor:
        from fla.ops.common.chunk_o import chunk_fwd_o

        o: torch.Tensor = chunk_fwd_o(
            q=prepared.q[None],
            k=prepared.k[None],
            v=new_values[None],
            h=h[None],
            g=prepared.g_cumulative[None] / math.log(2),
            scale=scale,
            state_v_first=True,
            chunk_size=SEGMENT_TOKENS,
            **_chunks(segment_starts),
        )
        return o[0]


def _chunks(segment_starts: torch.Tensor) -> dict[str, torch.Tensor]:
    """Every segment is chunk 0 of itself; said here, nothing is counted on the host."""
    segments = torch.arange(
        segment_starts.numel() - 1, dtype=torch.int32, device=segment_starts.device
    )
    indices = torch.stack((segments, torch.zeros_like(segments)), 1)
    return {"cu_seqlens": segment_starts, "chunk_indices": indices}


def segment_math(device: torch.device) -> SegmentMath:
    """What a device has."""
    return FlaSegments() if device.type == "cuda" else TorchSegments()


def gated_delta_chunk(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    g: torch.Tensor,
    beta: torch.Tensor,
    states: torch.Tensor,
    row_starts: torch.Tensor,
    row_segments: torch.Tensor,
    segment_starts: torch.Tensor,
    sources: torch.Tensor,
    segment_targets: torch.Tensor,
    scale: float | None = None,
    within: SegmentMath | None = None,
) -> torch.Tensor:
    """The whole prefill: `within` its segments (by default what the device has), and
    `state_recurrence` across them. The host waits for nothing."""
    check_inputs("gated_delta_chunk", states, q=q, k=k, v=v, g=g, beta=beta)
    rows = (row_starts, sources.numel() + 1)
    segments = (segment_starts, segment_targets.numel() + 1)
    check_tables("gated_delta_chunk", v.device, row_starts=rows, segment_starts=segments)
    if v.shape[0] == 0:
        return torch.empty_like(v)
    within = segment_math(v.device) if within is None else within
    prepared = within.prepare(q, k, v, g, beta, segment_starts)
    h, new_values = state_recurrence(
        prepared.k,
        prepared.w,
        prepared.u,
        prepared.g_cumulative,
        states,
        row_segments,
        segment_starts,
        sources,
        segment_targets,
    )
    scale = k.shape[-1] ** -0.5 if scale is None else scale
    return within.output(prepared, h, new_values, segment_starts, scale)


def _by_head(x: torch.Tensor, heads: int) -> torch.Tensor:
    """`[T, n, D]` -> `[heads, T, D]`, heads a multiple of n."""
    return x.transpose(0, 1).repeat_interleave(heads // x.shape[1], 0)


def _decay_between(g: torch.Tensor) -> torch.Tensor:
    """`[HV, n]` -> `[HV, n, n]`: what is left at token i of an update at token j <= i, else 0."""
    later = torch.ones(g.shape[-1], g.shape[-1], dtype=torch.bool, device=g.device).triu(1)
    return (g[:, :, None] - g[:, None, :]).masked_fill(later, -torch.inf).exp()


def chunk_reference(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    g: torch.Tensor,
    beta: torch.Tensor,
    states: torch.Tensor,
    row_starts: torch.Tensor,
    row_segments: torch.Tensor,
    segment_starts: torch.Tensor,
    sources: torch.Tensor,
    segment_targets: torch.Tensor,
    scale: float | None = None,
) -> torch.Tensor:
    """The same without Triton, in the wider of fp32 and the dtype of v; float64 too."""
    wide = torch.promote_types(torch.float32, v.dtype)
    within = TorchSegments()
    prepared = within.prepare(q.to(wide), k.to(wide), v.to(wide), g, beta, segment_starts)
    h, new_values = recurrence_reference(
        prepared.k,
        prepared.w,
        prepared.u,
        prepared.g_cumulative,
        states,
        row_segments,
        segment_starts,
        sources,
        segment_targets,
    )
    scale = k.shape[-1] ** -0.5 if scale is None else scale
    return within.output(prepared, h, new_values, segment_starts, scale).to(v.dtype)

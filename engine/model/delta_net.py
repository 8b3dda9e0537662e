"""A gated delta net over pages: convolution and recurrence start from the page of the row's source
and leave their window and state in the pages of its targets.

Per value head, with decay g <= 0 and rate beta: S *= exp(g); S += beta (v - S k) k^T; o = S q.
Source: Gated Delta Networks (Yang et al., 2024), in the layout of Qwen3-Next."""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from truehit.engine.model.backend import Backend, DeltaInputs, Spans
from truehit.engine.model.config import DeltaNetShape
from truehit.engine.model.parts import gated_rms_norm, wide
from truehit.engine.model.step import Step
from truehit.engine.model.weights import DeltaNetWeights


@dataclass(frozen=True, slots=True)
class StatePages:
    """Pages of a step in one state group: sources int32[R], token_targets int32[T],
    segment_targets int32[S]."""

    sources: Tensor
    token_targets: Tensor
    segment_targets: Tensor


def mix(
    x: Tensor,
    weights: DeltaNetWeights,
    shape: DeltaNetShape,
    epsilon: float,
    pool: tuple[Tensor, Tensor],
    pages: StatePages,
    step: Step,
    backend: Backend,
) -> Tensor:
    """One layer; x [tokens, hidden]. `pool`: states and windows in pages."""
    states, windows = pool
    mixed = backend.causal_conv(
        F.linear(x, weights.qkv),
        weights.convolution,
        windows,
        _spans(step),
        pages.sources,
        pages.segment_targets,
    )
    inputs = _inputs(x, mixed, weights, shape)
    out = torch.empty_like(inputs.v)
    cut = step.prefill_tokens
    if cut:
        out[:cut] = backend.delta_chunk(
            inputs.part(0, cut),
            states,
            _prefill_spans(step),
            pages.sources[: step.prefill_rows],
            pages.segment_targets[: step.prefill_segments],
        )
    if cut < step.token_count:
        out[cut:] = backend.delta_decode(
            inputs.part(cut, step.token_count),
            states,
            step.row_starts[step.prefill_rows :] - cut,
            pages.sources[step.prefill_rows :],
            pages.token_targets[cut:],
        )
    gate = F.linear(x, weights.gate).view_as(out)
    return F.linear(gated_rms_norm(out, gate, weights.norm, epsilon).flatten(1), weights.output)


def _spans(step: Step) -> Spans:
    return Spans(
        step.row_starts,
        step.row_segments,
        step.segment_starts,
        step.longest_row_tokens,
    )


def _prefill_spans(step: Step) -> Spans:
    rows = step.prefill_rows
    return Spans(
        step.row_starts[: rows + 1],
        step.row_segments[: rows + 1],
        step.segment_starts[: step.prefill_segments + 1],
        step.longest_row_tokens,
    )


def _inputs(
    x: Tensor, mixed: Tensor, weights: DeltaNetWeights, shape: DeltaNetShape
) -> DeltaInputs:
    keys = shape.key_heads * shape.key_size
    sizes = [keys, keys, shape.value_heads * shape.value_size]
    q, k, v = torch.split(mixed, sizes, dim=-1)
    tokens, exact = x.shape[0], wide(x.dtype)
    pace = F.softplus(F.linear(x, weights.decay).to(exact) + weights.decay_bias)
    return DeltaInputs(
        q=q.view(tokens, shape.key_heads, shape.key_size),
        k=k.view(tokens, shape.key_heads, shape.key_size),
        v=v.view(tokens, shape.value_heads, shape.value_size),
        g=-weights.decay_log.to(exact).exp() * pace,
        beta=F.linear(x, weights.beta).sigmoid(),
    )

"""The parts of a layer that know nothing of pages: norms, rotation, feed-forward blocks.

Everything computes in float32 at least, and in float64 when the activations are float64."""

import torch
from torch import Tensor
from torch.nn import functional as F

from truehit.engine.model.config import AttentionShape, SparseShape
from truehit.engine.model.weights import DenseWeights, SparseWeights


def wide(dtype: torch.dtype) -> torch.dtype:
    """The type to accumulate in."""
    return torch.promote_types(dtype, torch.float32)


def rms_norm(x: Tensor, weight: Tensor, epsilon: float) -> Tensor:
    """x / rms(x) * (1 + weight), over the last dimension."""
    y = x.to(wide(x.dtype))
    y = y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + epsilon)
    return (y * (1.0 + weight.to(y.dtype))).to(x.dtype)


def gated_rms_norm(x: Tensor, gate: Tensor, weight: Tensor, epsilon: float) -> Tensor:
    """x / rms(x) * weight * silu(gate), over the last dimension."""
    y = x.to(wide(x.dtype))
    y = (y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + epsilon)).to(x.dtype)
    return (weight * y * F.silu(gate.to(wide(x.dtype)))).to(x.dtype)


def rotation(positions: Tensor, shape: AttentionShape, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """Cosines and sines [tokens, 1, rotary size] of rotary positions."""
    exact = wide(dtype)
    powers = torch.arange(0, shape.rotary_size, 2, dtype=exact, device=positions.device)
    frequencies = 1.0 / shape.rope_theta ** (powers / shape.rotary_size)
    angles = positions.to(exact)[:, None] * frequencies
    both = torch.cat((angles, angles), dim=-1)[:, None, :]
    return both.cos().to(dtype), both.sin().to(dtype)


def rotate(x: Tensor, cosines: Tensor, sines: Tensor) -> Tensor:
    """Rotate the leading dimensions of every head; x [tokens, heads, size]."""
    size = cosines.shape[-1]
    turned, kept = x[..., :size], x[..., size:]
    first, second = turned.chunk(2, dim=-1)
    swapped = torch.cat((-second, first), dim=-1)
    return torch.cat((turned * cosines + swapped * sines, kept), dim=-1)


def feed_forward(
    x: Tensor, weights: DenseWeights | SparseWeights, shape: SparseShape | None
) -> Tensor:
    """The feed-forward block of a layer; x [tokens, hidden]."""
    match weights:
        case DenseWeights():
            return _dense(x, weights)
        case SparseWeights():
            assert shape is not None
            return _sparse(x, weights, shape)


def _dense(x: Tensor, weights: DenseWeights) -> Tensor:
    return F.linear(F.silu(F.linear(x, weights.gate)) * F.linear(x, weights.up), weights.down)


def _sparse(x: Tensor, weights: SparseWeights, shape: SparseShape) -> Tensor:
    """Each token through its chosen experts, and through the shared one."""
    odds = F.linear(x, weights.router).to(wide(x.dtype)).softmax(dim=-1)
    shares, chosen = odds.topk(shape.chosen, dim=-1)
    if shape.normed:
        shares = shares / shares.sum(dim=-1, keepdim=True)
    shares = shares.to(x.dtype)
    mixed = torch.zeros_like(x)
    for expert, own in enumerate(weights.experts):
        tokens, rank = torch.where(chosen == expert)
        mixed.index_add_(0, tokens, _dense(x[tokens], own) * shares[tokens, rank, None])
    shared = _dense(x, weights.shared) * F.linear(x, weights.shared_gate).sigmoid()
    return mixed + shared

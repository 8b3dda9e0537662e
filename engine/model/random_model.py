"""Small random models whose states matter.

With the usual initial values a gated delta net forgets within a few tokens, and a state that was
restored wrong changes nothing anybody would see. Here decays are slow (exp(g) between 0.75 and
0.998 for most tokens) and projections are wide, so that a zeroed state moves the logits."""

from dataclasses import replace

import torch
from torch import Tensor

from truehit.engine.model.config import AttentionShape, DeltaNetShape, Mixer, ModelConfig
from truehit.engine.model.plane import Model
from truehit.engine.model.weights import (
    AttentionWeights,
    DeltaNetWeights,
    DenseWeights,
    LayerWeights,
    ModelWeights,
)
from truehit.spec.geometry import Geometry, Kind

SMALL = ModelConfig(
    vocabulary=251,
    hidden_size=32,
    epsilon=1e-6,
    mixers=(Mixer.DELTA_NET, Mixer.DELTA_NET, Mixer.DELTA_NET, Mixer.ATTENTION),
    sparse=(False,) * 4,
    delta_net=DeltaNetShape(key_heads=1, value_heads=2, key_size=16, value_size=16, width=4),
    attention=AttentionShape(heads=2, key_heads=1, size=16, rotary_size=4, rope_theta=10_000.0),
    experts=None,
)
INNER_SIZE = 64


def config_for(geometry: Geometry) -> ModelConfig:
    """A small model with a layer for every group, states first, at least two of them."""
    states = sum(g.kind is Kind.RECURRENT_STATE for g in geometry.groups)
    pages = len(geometry.attention_groups)
    nets = max(2, states) if states else 0
    mixers = (*(Mixer.DELTA_NET,) * nets, *(Mixer.ATTENTION,) * pages)
    return replace(SMALL, mixers=mixers, sparse=(False,) * len(mixers))


class _Draw:
    """Random matrices of one seed, always drawn in float64, so that every type has the same."""

    def __init__(self, seed: int, dtype: torch.dtype, device: torch.device) -> None:
        self._random = torch.Generator().manual_seed(seed)
        self._dtype = dtype
        self._device = device

    def normal(self, *shape: int, scale: float | None = None) -> Tensor:
        """Of the scale that keeps the size of a vector, unless another is given."""
        values = torch.randn(*shape, generator=self._random, dtype=torch.float64)
        return self._made(values * (shape[-1] ** -0.5 if scale is None else scale))

    def uniform(self, low: float, high: float, size: int) -> Tensor:
        values = torch.rand(size, generator=self._random, dtype=torch.float64)
        return self._made(low + (high - low) * values)

    def log_uniform(self, low: float, high: float, size: int) -> Tensor:
        """The logarithm of a uniform number."""
        return self.uniform(low, high, size).log()

    def _made(self, values: Tensor) -> Tensor:
        return values.to(self._device, self._dtype)


def random_model(config: ModelConfig, seed: int, dtype: torch.dtype, device: torch.device) -> Model:
    """The same weights for every type and device."""
    draw = _Draw(seed, dtype, device)
    weights = ModelWeights(
        embedding=draw.normal(config.vocabulary, config.hidden_size, scale=1.0),
        layers=tuple(_layer(draw, config, mixer) for mixer in config.mixers),
        norm=draw.normal(config.hidden_size, scale=0.1),
        head=draw.normal(config.vocabulary, config.hidden_size),
    )
    return Model(config, weights, dtype, torch.promote_types(dtype, torch.float32))


def _layer(draw: _Draw, config: ModelConfig, mixer: Mixer) -> LayerWeights:
    hidden = config.hidden_size
    own = _delta_net(draw, config) if mixer is Mixer.DELTA_NET else _attention(draw, config)
    return LayerWeights(
        mixer_norm=draw.normal(hidden, scale=0.1),
        mixer=own,
        block_norm=draw.normal(hidden, scale=0.1),
        block=DenseWeights(
            gate=draw.normal(INNER_SIZE, hidden),
            up=draw.normal(INNER_SIZE, hidden),
            down=draw.normal(hidden, INNER_SIZE),
        ),
    )


def _delta_net(draw: _Draw, config: ModelConfig) -> DeltaNetWeights:
    shape, hidden = config.delta_net, config.hidden_size
    values = shape.value_heads * shape.value_size
    return DeltaNetWeights(
        qkv=draw.normal(shape.channels, hidden),
        gate=draw.normal(values, hidden),
        beta=draw.normal(shape.value_heads, hidden),
        decay=draw.normal(shape.value_heads, hidden),
        convolution=draw.normal(shape.channels, shape.width),
        decay_bias=draw.uniform(-2.0, 0.0, shape.value_heads),
        decay_log=draw.log_uniform(0.02, 0.3, shape.value_heads),
        norm=1.0 + draw.normal(shape.value_size, scale=0.1),
        output=draw.normal(hidden, values),
    )


def _attention(draw: _Draw, config: ModelConfig) -> AttentionWeights:
    shape, hidden = config.attention, config.hidden_size
    return AttentionWeights(
        query=draw.normal(2 * shape.heads * shape.size, hidden),
        key=draw.normal(shape.key_heads * shape.size, hidden),
        value=draw.normal(shape.key_heads * shape.size, hidden),
        query_norm=draw.normal(shape.size, scale=0.1),
        key_norm=draw.normal(shape.size, scale=0.1),
        output=draw.normal(hidden, shape.heads * shape.size),
    )

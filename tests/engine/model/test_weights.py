"""Both layouts of a gated delta net become one: queries, keys, values of all heads, then gates."""

from dataclasses import fields

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from truehit.engine.model.config import CheckpointError, ModelConfig, parse_config
from truehit.engine.model.weights import (
    AttentionWeights,
    DeltaNetWeights,
    SparseWeights,
    Store,
    weights_of,
)

from .theirs import network

CPU = torch.device("cpu")


def _config(theirs: torch.nn.Module) -> ModelConfig:
    return parse_config(theirs.config.to_dict())  # type: ignore[operator, union-attr]


def test_interleaved_projections_are_sorted() -> None:
    """As transformers itself sorts what it has projected."""
    theirs = network("dense-next", 7)
    config = _config(theirs)
    made = weights_of(Store(theirs.state_dict(), torch.float32, CPU), config)
    x = torch.randn(1, 5, config.hidden_size, generator=torch.Generator().manual_seed(0))
    net, own = theirs.model.layers[0].linear_attn, made.layers[0].mixer
    assert isinstance(own, DeltaNetWeights)
    with torch.no_grad():
        parts = net.fix_query_key_value_ordering(net.in_proj_qkvz(x), net.in_proj_ba(x))
    q, k, v, gate, beta, decay = (part[0].flatten(1) for part in parts)
    for wanted, matrix in (
        (torch.cat((q, k, v), dim=1), own.qkv),
        (gate, own.gate),
        (beta, own.beta),
        (decay, own.decay),
    ):
        assert torch.allclose(F.linear(x[0], matrix), wanted, atol=1e-5)


def _split(tensors: dict[str, Tensor], config: ModelConfig) -> dict[str, Tensor]:
    """The same weights, stored apart."""
    made = weights_of(Store(tensors, torch.float32, CPU), config)
    kept = {name: own for name, own in tensors.items() if "in_proj" not in name}
    for layer, own in enumerate(made.layers):
        if isinstance(own.mixer, DeltaNetWeights):
            at = f"model.layers.{layer}.linear_attn.in_proj_"
            parts = zip(("qkv", "z", "b", "a"), ("qkv", "gate", "beta", "decay"), strict=True)
            kept |= {f"{at}{short}.weight": getattr(own.mixer, name) for short, name in parts}
    return kept


def test_the_split_layout_gives_the_same_records() -> None:
    theirs = network("dense-next", 7)
    config, tensors = _config(theirs), dict(theirs.state_dict())
    one = weights_of(Store(tensors, torch.float32, CPU), config)
    two = weights_of(Store(_split(tensors, config), torch.float32, CPU), config)
    for first, second in zip(one.layers, two.layers, strict=True):
        assert type(first.mixer) is type(second.mixer)
        for field in fields(first.mixer):
            assert torch.equal(getattr(first.mixer, field.name), getattr(second.mixer, field.name))


def test_every_tensor_is_used_once() -> None:
    """What transformers stores is what we read: nothing is left over."""

    class Noting(dict[str, Tensor]):
        def __getitem__(self, name: str) -> Tensor:
            read.append(name)
            return super().__getitem__(name)

    for kind in ("next", "dense-next", "text", "sparse-text"):
        theirs, read = network(kind, 7), list[str]()
        tensors = Noting(theirs.state_dict())
        made = weights_of(Store(tensors, torch.float64, CPU), _config(theirs))
        assert sorted(read) == sorted(tensors)
        assert made.embedding.dtype is torch.float64
        assert {type(own.mixer) for own in made.layers} == {DeltaNetWeights, AttentionWeights}
        sparse = [isinstance(own.block, SparseWeights) for own in made.layers]
        assert tuple(sparse) == _config(theirs).sparse


def test_the_missing_tensor_is_named() -> None:
    theirs = network("text", 7)
    tensors = dict(theirs.state_dict())
    del tensors["model.layers.2.self_attn.k_norm.weight"]
    with pytest.raises(CheckpointError) as caught:
        weights_of(Store(tensors, torch.float32, CPU), _config(theirs))
    assert str(caught.value) == (
        "model.layers.2.self_attn.k_norm.weight: the checkpoint has no such tensor"
    )

"""The weights of a model, one frozen record a layer, read from a checkpoint folder.

Qwen3-Next interleaves the projections of a gated delta net by key head; they are sorted once, here,
into the layout of Qwen3.5 (queries, keys, values of all heads; then gate, beta, decay), so that the
model knows one layout. Matrices are [outputs, inputs]."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import safe_open
from torch import Tensor

from truehit.engine.model.config import CheckpointError, DeltaNetShape, Mixer, ModelConfig

PREFIXES = ("model.", "model.language_model.")


@dataclass(frozen=True, slots=True)
class DeltaNetWeights:
    """`qkv` [channels, hidden]; `gate` [value heads x size, hidden]; `beta`, `decay` [value heads,
    hidden]; `convolution` [channels, width]; `decay_bias`, `decay_log` [value heads]; `norm`
    [value size]; `output` [hidden, value heads x size]."""

    qkv: Tensor
    gate: Tensor
    beta: Tensor
    decay: Tensor
    convolution: Tensor
    decay_bias: Tensor
    decay_log: Tensor
    norm: Tensor
    output: Tensor


@dataclass(frozen=True, slots=True)
class AttentionWeights:
    """`query` also projects the output gate: [heads x 2 x size, hidden], by head."""

    query: Tensor
    key: Tensor
    value: Tensor
    query_norm: Tensor
    key_norm: Tensor
    output: Tensor


@dataclass(frozen=True, slots=True)
class DenseWeights:
    """down(silu(gate(x)) * up(x))."""

    gate: Tensor
    up: Tensor
    down: Tensor


@dataclass(frozen=True, slots=True)
class SparseWeights:
    """`router` [experts, hidden]; `shared` runs for every token, weighed by `shared_gate`."""

    router: Tensor
    experts: tuple[DenseWeights, ...]
    shared: DenseWeights
    shared_gate: Tensor


@dataclass(frozen=True, slots=True)
class LayerWeights:
    """Norm, mixer, norm, feed-forward."""

    mixer_norm: Tensor
    mixer: DeltaNetWeights | AttentionWeights
    block_norm: Tensor
    block: DenseWeights | SparseWeights


@dataclass(frozen=True, slots=True)
class ModelWeights:
    """`embedding` and `head` are [vocabulary, hidden]."""

    embedding: Tensor
    layers: tuple[LayerWeights, ...]
    norm: Tensor
    head: Tensor


class Store:
    """Tensors by name, read one at a time, in one type on one device."""

    def __init__(self, tensors: Mapping[str, Tensor], dtype: torch.dtype, device: torch.device):
        self._tensors = tensors
        self._dtype = dtype
        self._device = device
        self._prefix = next(
            (p for p in PREFIXES if f"{p}embed_tokens.weight" in tensors), PREFIXES[0]
        )

    def __call__(self, name: str) -> Tensor:
        """A tensor of the model; CheckpointError when the folder has none of this name."""
        return self._get(self._prefix + name)

    def head(self) -> Tensor:
        """The output matrix; models that share it with the embedding store it once."""
        if "lm_head.weight" in self._tensors:
            return self._get("lm_head.weight")
        return self("embed_tokens.weight")

    def has(self, name: str) -> bool:
        return self._prefix + name in self._tensors

    def _get(self, name: str) -> Tensor:
        if name not in self._tensors:
            raise CheckpointError(f"{name}: the checkpoint has no such tensor")
        return self._tensors[name].to(self._device, self._dtype)


class _Files(Mapping[str, Tensor]):
    """The tensors of a folder, from one file or from shards with an index."""

    def __init__(self, folder: Path) -> None:
        index = folder / "model.safetensors.index.json"
        one = folder / "model.safetensors"
        if index.exists():
            self._files = json.loads(index.read_text())["weight_map"]
        elif one.exists():
            with safe_open(one, "pt") as file:
                self._files = dict.fromkeys(file.keys(), one.name)
        else:
            raise CheckpointError(f"{folder}: no model.safetensors; a transformers folder works")
        self._folder = folder

    def __getitem__(self, name: str) -> Tensor:
        with safe_open(self._folder / self._files[name], "pt") as file:
            tensor: Tensor = file.get_tensor(name)
        return tensor

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)


def read_weights(
    folder: Path, config: ModelConfig, dtype: torch.dtype, device: torch.device
) -> ModelWeights:
    """The weights of a checkpoint folder. CheckpointError: a tensor is missing."""
    return weights_of(Store(_Files(folder), dtype, device), config)


def weights_of(store: Store, config: ModelConfig) -> ModelWeights:
    """Sort named tensors into records."""
    return ModelWeights(
        embedding=store("embed_tokens.weight"),
        layers=tuple(_layer(store, config, layer) for layer in range(config.layers)),
        norm=store("norm.weight"),
        head=store.head(),
    )


def _layer(store: Store, config: ModelConfig, layer: int) -> LayerWeights:
    at = f"layers.{layer}."
    match config.mixers[layer]:
        case Mixer.DELTA_NET:
            mixer: DeltaNetWeights | AttentionWeights = _delta_net(
                store, f"{at}linear_attn.", config.delta_net
            )
        case Mixer.ATTENTION:
            mixer = _attention(store, f"{at}self_attn.")
    is_sparse = config.sparse[layer]
    return LayerWeights(
        mixer_norm=store(f"{at}input_layernorm.weight"),
        mixer=mixer,
        block_norm=store(f"{at}post_attention_layernorm.weight"),
        block=_sparse(store, f"{at}mlp.", config) if is_sparse else _dense(store, f"{at}mlp."),
    )


def _attention(store: Store, at: str) -> AttentionWeights:
    return AttentionWeights(
        query=store(f"{at}q_proj.weight"),
        key=store(f"{at}k_proj.weight"),
        value=store(f"{at}v_proj.weight"),
        query_norm=store(f"{at}q_norm.weight"),
        key_norm=store(f"{at}k_norm.weight"),
        output=store(f"{at}o_proj.weight"),
    )


def _delta_net(store: Store, at: str, shape: DeltaNetShape) -> DeltaNetWeights:
    if store.has(f"{at}in_proj_qkvz.weight"):
        qkv, gate = _sorted_qkvz(store(f"{at}in_proj_qkvz.weight"), shape)
        beta, decay = _sorted_ba(store(f"{at}in_proj_ba.weight"), shape)
    else:
        qkv, gate = store(f"{at}in_proj_qkv.weight"), store(f"{at}in_proj_z.weight")
        beta, decay = store(f"{at}in_proj_b.weight"), store(f"{at}in_proj_a.weight")
    return DeltaNetWeights(
        qkv=qkv,
        gate=gate,
        beta=beta,
        decay=decay,
        convolution=store(f"{at}conv1d.weight").squeeze(1),
        decay_bias=store(f"{at}dt_bias"),
        decay_log=store(f"{at}A_log"),
        norm=store(f"{at}norm.weight"),
        output=store(f"{at}out_proj.weight"),
    )


def _sorted_qkvz(matrix: Tensor, shape: DeltaNetShape) -> tuple[Tensor, Tensor]:
    """From (query, key, values, gates) of each key head to those of all heads."""
    values = shape.value_heads // shape.key_heads * shape.value_size
    sizes = [shape.key_size, shape.key_size, values, values]
    by_head = matrix.view(shape.key_heads, sum(sizes), -1)
    query, key, value, gate = (part.flatten(0, 1) for part in torch.split(by_head, sizes, dim=1))
    return torch.cat((query, key, value)), gate


def _sorted_ba(matrix: Tensor, shape: DeltaNetShape) -> tuple[Tensor, Tensor]:
    by_head = matrix.view(shape.key_heads, 2 * shape.value_heads // shape.key_heads, -1)
    beta, decay = (part.flatten(0, 1) for part in by_head.chunk(2, dim=1))
    return beta, decay


def _dense(store: Store, at: str) -> DenseWeights:
    return DenseWeights(
        gate=store(f"{at}gate_proj.weight"),
        up=store(f"{at}up_proj.weight"),
        down=store(f"{at}down_proj.weight"),
    )


def _sparse(store: Store, at: str, config: ModelConfig) -> SparseWeights:
    assert config.experts is not None
    return SparseWeights(
        router=store(f"{at}gate.weight"),
        experts=_experts(store, f"{at}experts.", config.experts.experts),
        shared=_dense(store, f"{at}shared_expert."),
        shared_gate=store(f"{at}shared_expert_gate.weight"),
    )


def _experts(store: Store, at: str, count: int) -> tuple[DenseWeights, ...]:
    """One expert a record, whether they are stored apart or in one tensor."""
    if not store.has(f"{at}gate_up_proj"):
        return tuple(_dense(store, f"{at}{expert}.") for expert in range(count))
    both, down = store(f"{at}gate_up_proj"), store(f"{at}down_proj")
    halves = [tuple(matrix.chunk(2)) for matrix in both]
    return tuple(DenseWeights(gate, up, own) for (gate, up), own in zip(halves, down, strict=True))

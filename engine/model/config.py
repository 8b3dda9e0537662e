"""The shape of a hybrid model, as its checkpoint folder says it (`config.json`).

Known layouts: Qwen3-Next (`qwen3_next`) and the text model of Qwen3.5 (`qwen3_5_text`,
`qwen3_5_moe_text`): gated-delta-net layers with a full-attention layer every few, dense or
sparsely gated feed-forward blocks. Source: the published configurations and transformers."""

import json
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, PositiveInt, ValidationError

KNOWN_TYPES = ("qwen3_next", "qwen3_5_text", "qwen3_5_moe_text")


class CheckpointError(ValueError):
    """A checkpoint that this runner cannot read; one line."""


class Mixer(StrEnum):
    """What a layer mixes tokens with."""

    DELTA_NET = "linear_attention"
    ATTENTION = "full_attention"


@dataclass(frozen=True, slots=True)
class DeltaNetShape:
    """`key_heads` <= `value_heads`; `width`: taps of the convolution."""

    key_heads: int
    value_heads: int
    key_size: int
    value_size: int
    width: int

    @property
    def channels(self) -> int:
        """Channels of the convolution: queries, keys, values."""
        return 2 * self.key_heads * self.key_size + self.value_heads * self.value_size


@dataclass(frozen=True, slots=True)
class AttentionShape:
    """`rotary_size`: leading dimensions of a head that are rotated; `window_tokens`: a token sees
    so many positions, itself included (None: all)."""

    heads: int
    key_heads: int
    size: int
    rotary_size: int
    rope_theta: float
    window_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class SparseShape:
    """Experts of a sparsely gated feed-forward block; `normed`: the chosen weights sum to one."""

    experts: int
    chosen: int
    normed: bool


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """`mixers` and `sparse` have one entry a layer (`sparse`: False is a dense block)."""

    vocabulary: int
    hidden_size: int
    epsilon: float
    mixers: tuple[Mixer, ...]
    sparse: tuple[bool, ...]
    delta_net: DeltaNetShape
    attention: AttentionShape
    experts: SparseShape | None

    @property
    def layers(self) -> int:
        return len(self.mixers)


class _Rope(BaseModel):
    model_config = ConfigDict(extra="ignore")
    rope_theta: float = 10_000.0
    rope_type: str = "default"
    partial_rotary_factor: float = 0.25


class _File(BaseModel):
    """The part of `config.json` that the runner needs."""

    model_config = ConfigDict(extra="ignore")
    model_type: str
    vocab_size: PositiveInt
    hidden_size: PositiveInt
    num_hidden_layers: PositiveInt
    num_attention_heads: PositiveInt
    num_key_value_heads: PositiveInt
    head_dim: PositiveInt
    hidden_act: str = "silu"
    rms_norm_eps: float = 1e-6
    attention_bias: bool = False
    linear_key_head_dim: PositiveInt
    linear_value_head_dim: PositiveInt
    linear_num_key_heads: PositiveInt
    linear_num_value_heads: PositiveInt
    linear_conv_kernel_dim: PositiveInt
    layer_types: list[Mixer] | None = None
    full_attention_interval: PositiveInt = 4
    rope_parameters: _Rope | None = None
    rope_scaling: _Rope | None = None
    rope_theta: float = 10_000.0
    partial_rotary_factor: float = 0.25
    num_experts: int = 0
    num_experts_per_tok: int = 0
    norm_topk_prob: bool = True
    decoder_sparse_step: PositiveInt = 1
    mlp_only_layers: list[int] = []


def read_config(folder: Path) -> ModelConfig:
    """The configuration of a checkpoint folder; CheckpointError names what is missing."""
    path = folder / "config.json"
    try:
        data = json.loads(path.read_text())
    except (OSError, json.JSONDecodeError) as error:
        raise CheckpointError(f"{path}: {error}; a transformers checkpoint folder works") from None
    return parse_config(data.get("text_config", data) if isinstance(data, dict) else data)


def parse_config(data: Any) -> ModelConfig:
    """The same from the parsed file."""
    kind = data.get("model_type") if isinstance(data, dict) else None
    if kind not in KNOWN_TYPES:
        raise CheckpointError(f"model_type: {kind!r} is not known; {KNOWN_TYPES[0]!r} works")
    try:
        file = _File.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise CheckpointError(f"config.json, {where}: {first['msg']}") from None
    return _config(file)


def _config(file: _File) -> ModelConfig:
    rope = file.rope_parameters or _Rope(
        rope_theta=file.rope_theta, partial_rotary_factor=file.partial_rotary_factor
    )
    mixers = file.layer_types or [
        Mixer.DELTA_NET if (layer + 1) % file.full_attention_interval else Mixer.ATTENTION
        for layer in range(file.num_hidden_layers)
    ]
    _refuse_unknown(file, rope, len(mixers))
    return ModelConfig(
        vocabulary=file.vocab_size,
        hidden_size=file.hidden_size,
        epsilon=file.rms_norm_eps,
        mixers=tuple(mixers),
        sparse=tuple(
            file.num_experts > 0
            and layer not in file.mlp_only_layers
            and (layer + 1) % file.decoder_sparse_step == 0
            for layer in range(len(mixers))
        ),
        delta_net=DeltaNetShape(
            file.linear_num_key_heads,
            file.linear_num_value_heads,
            file.linear_key_head_dim,
            file.linear_value_head_dim,
            file.linear_conv_kernel_dim,
        ),
        attention=AttentionShape(
            file.num_attention_heads,
            file.num_key_value_heads,
            file.head_dim,
            int(file.head_dim * rope.partial_rotary_factor),
            rope.rope_theta,
        ),
        experts=SparseShape(file.num_experts, file.num_experts_per_tok, file.norm_topk_prob)
        if file.num_experts
        else None,
    )


def _refuse_unknown(file: _File, rope: _Rope, layers: int) -> None:
    """What the runner does not compute is refused, not approximated."""
    if layers != file.num_hidden_layers:
        raise CheckpointError(
            f"layer_types: {layers} entries; {file.num_hidden_layers} (num_hidden_layers) work"
        )
    if rope.rope_type != "default" or file.rope_scaling is not None:
        kind = rope.rope_type if file.rope_scaling is None else file.rope_scaling.rope_type
        raise CheckpointError(f"rope_type: {kind!r} is not computed; 'default' works")
    if file.hidden_act != "silu":
        raise CheckpointError(f"hidden_act: {file.hidden_act!r} is not computed; 'silu' works")
    if file.attention_bias:
        raise CheckpointError("attention_bias: True is not computed; False works")
    for name in ("linear_num", "num_attention"):
        more, fewer = (
            (file.linear_num_value_heads, file.linear_num_key_heads)
            if name == "linear_num"
            else (file.num_attention_heads, file.num_key_value_heads)
        )
        if more % fewer:
            raise CheckpointError(f"{name}_heads: {more} is no multiple of {fewer}; {fewer} works")

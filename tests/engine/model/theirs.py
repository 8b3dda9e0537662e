"""The other implementation: tiny random models of transformers, and the checkpoints they save.

With the usual initial values a gated delta net forgets within a few tokens, and a broken restore
changes nothing: here decays are slow and projections wide. Where flash-linear-attention is
installed, transformers would take its kernels, which need a GPU: it is hidden while the models are
imported."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from truehit.engine.model.config import read_config
from truehit.engine.model.plane import Model
from truehit.engine.model.weights import read_weights

VOCABULARY = 256
MIXERS = ("linear_attention", "linear_attention", "full_attention") * 2
SHAPE = {
    "vocab_size": VOCABULARY,
    "hidden_size": 64,
    "num_hidden_layers": len(MIXERS),
    "layer_types": list(MIXERS),
    "intermediate_size": 96,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "linear_key_head_dim": 16,
    "linear_value_head_dim": 8,
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 4,
    "linear_conv_kernel_dim": 4,
    "max_position_embeddings": 4096,
}
EXPERTS = {
    "num_experts": 6,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 32,
    "shared_expert_intermediate_size": 48,
}


@contextmanager
def _hidden(package: str) -> Iterator[None]:
    """The package cannot be imported meanwhile; neither can what was imported of it before."""
    had = {name: own for name, own in sys.modules.items() if name.split(".")[0] == package}
    for name in {package, *had}:
        sys.modules[name] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules[package]
        sys.modules.update(had)


def network(kind: str, seed: int, **changes: Any) -> Any:
    """A model of `kind`: next (dense and sparse layers), dense-next, text, or sparse-text."""
    with _hidden("fla"):
        from transformers.models.qwen3_5 import configuration_qwen3_5 as text_shape
        from transformers.models.qwen3_5 import modeling_qwen3_5 as text
        from transformers.models.qwen3_5_moe import configuration_qwen3_5_moe as sparse_shape
        from transformers.models.qwen3_5_moe import modeling_qwen3_5_moe as sparse
        from transformers.models.qwen3_next import configuration_qwen3_next as next_shape
        from transformers.models.qwen3_next import modeling_qwen3_next as next_
    match kind:
        case "next":
            sizes = SHAPE | EXPERTS | {"mlp_only_layers": [1, 4]} | changes
            made = next_.Qwen3NextForCausalLM(next_shape.Qwen3NextConfig(**sizes))
        case "dense-next":
            sizes = SHAPE | {"num_experts": 0} | changes
            made = next_.Qwen3NextForCausalLM(next_shape.Qwen3NextConfig(**sizes))
        case "text":
            made = text.Qwen3_5ForCausalLM(text_shape.Qwen3_5TextConfig(**SHAPE | changes))
        case _:
            config = sparse_shape.Qwen3_5MoeTextConfig(**SHAPE | EXPERTS | changes)
            made = sparse.Qwen3_5MoeForCausalLM(config)
    _initialise(made, seed)
    return made.eval()


@torch.no_grad()
def _initialise(made: nn.Module, seed: int) -> None:
    """Values whose states matter, the same for every order of parameters."""
    for name, own in sorted(made.named_parameters()):
        random = torch.Generator().manual_seed(seed + sum(name.encode()))
        noise = torch.randn(own.shape, generator=random)
        even = torch.rand(own.shape, generator=random)
        if name.endswith("A_log"):
            own.copy_((0.02 + 0.28 * even).log())
        elif name.endswith("dt_bias"):
            own.copy_(-2.0 * even)
        elif name.endswith("linear_attn.norm.weight"):
            own.copy_(1.0 + 0.1 * noise)
        elif name.endswith(("q_norm.weight", "k_norm.weight")):
            # Sharp attention: the mean of many random values is nearly nothing.
            own.copy_(1.0 + 0.1 * noise)
        elif own.dim() == 1:
            own.copy_(0.1 * noise)
        elif "embed_tokens" in name:
            own.copy_(noise)
        else:
            own.copy_(noise * own.shape[-1] ** -0.5)


@dataclass(frozen=True, slots=True)
class Pair:
    """The same weights twice: theirs, and ours as read from what they saved."""

    theirs: Any
    ours: Model
    _made: dict[tuple[tuple[int, ...], int], list[int]] = field(default_factory=dict)

    @torch.no_grad()
    def logits(self, tokens: Sequence[int]) -> Tensor:
        """Theirs, [tokens, vocabulary]."""
        positions = torch.arange(len(tokens))[None]
        ids = torch.tensor([list(tokens)])
        logits: Tensor = self.theirs(ids, position_ids=positions, use_cache=False).logits
        return logits[0]

    def greedy(self, prompt: Sequence[int], count: int) -> list[int]:
        """What their own generation appends."""
        key = (tuple(prompt), count)
        if key not in self._made:
            self._made[key] = self._generated(torch.tensor([list(prompt)]), count)
        return self._made[key]

    def _generated(self, ids: Tensor, count: int) -> list[int]:
        # Without a mask, generation takes tokens that look like padding for padding.
        made = self.theirs.generate(
            ids,
            attention_mask=torch.ones_like(ids),
            max_new_tokens=count,
            min_new_tokens=count,
            do_sample=False,
            pad_token_id=0,
        )
        tokens: list[int] = made[0, ids.shape[1] :].tolist()
        return tokens


def read(folder: Path) -> Model:
    """Our model from a checkpoint folder, float32."""
    config = read_config(folder)
    weights = read_weights(folder, config, torch.float32, torch.device("cpu"))
    return Model(config, weights, torch.float32, torch.float32)


def save(made: Any, folder: Path, **options: Any) -> Pair:
    """Save theirs and read ours."""
    made.save_pretrained(folder, **options)
    return Pair(made, read(folder))

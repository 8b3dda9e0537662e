"""Checkpoint folders: every way they are saved is read alike; what is not computed is refused."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from truehit.engine.model.alone import compute_alone
from truehit.engine.model.backend import TorchBackend
from truehit.engine.model.config import CheckpointError, parse_config, read_config
from truehit.engine.model.weights import read_weights

from .drive import hybrid, tokens
from .theirs import EXPERTS, SHAPE, Pair, network, read, save

PROMPT = tokens(41, 90)


def _difference(pair: Pair) -> float:
    alone = compute_alone(pair.ours, hybrid(), TorchBackend(), PROMPT)
    return float((alone.logits - pair.logits(PROMPT)).abs().max())


@pytest.mark.parametrize("kind", ["next", "dense-next", "text", "sparse-text"])
def test_one_file(kind: str, tmp_path: Path) -> None:
    assert _difference(save(network(kind, 3), tmp_path)) < 1e-4


@pytest.mark.parametrize("kind", ["next", "text"])
def test_shards_with_an_index(kind: str, tmp_path: Path) -> None:
    pair = save(network(kind, 3), tmp_path, max_shard_size="100KB")
    assert (tmp_path / "model.safetensors.index.json").exists()
    assert len(list(tmp_path.glob("*.safetensors"))) > 2
    assert _difference(pair) < 1e-4


def test_tied_embeddings(tmp_path: Path) -> None:
    pair = save(network("text", 3, tie_word_embeddings=True), tmp_path)
    assert "lm_head.weight" not in load_file(tmp_path / "model.safetensors")
    assert pair.ours.weights.head is not None
    assert _difference(pair) < 1e-4


@pytest.mark.parametrize("kind", ["next", "sparse-text"])
def test_stacked_experts(kind: str, tmp_path: Path) -> None:
    apart, stacked = tmp_path / "apart", tmp_path / "stacked"
    made = network(kind, 3)
    save(made, apart)
    pair = save(made, stacked, save_original_format=False)
    names = [set(load_file(folder / "model.safetensors")) for folder in (apart, stacked)]
    assert "model.layers.0.mlp.experts.0.up_proj.weight" in names[0]
    assert "model.layers.0.mlp.experts.gate_up_proj" in names[1]
    assert _difference(pair) < 1e-4


def test_the_text_part_of_a_larger_model(tmp_path: Path) -> None:
    """Its configuration is nested, and its tensors carry a longer prefix."""
    pair = save(network("text", 3), tmp_path)
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"text_config": json.loads(config.read_text())}))
    path = tmp_path / "model.safetensors"
    longer = {
        name.replace("model.", "model.language_model.", 1): own
        for name, own in load_file(path).items()
    }
    save_file(longer, path)
    assert _difference(Pair(pair.theirs, read(tmp_path))) < 1e-4


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"rope_parameters": {"rope_theta": 500.0, "partial_rotary_factor": 0.5}}, (8, 500.0)),
        ({"rope_parameters": {"rope_theta": 70.0, "partial_rotary_factor": 1.0}}, (16, 70.0)),
    ],
)
def test_rotation_is_read(
    changes: dict[str, Any], expected: tuple[int, float], tmp_path: Path
) -> None:
    rope = changes["rope_parameters"] | {"rope_type": "default"}
    pair = save(network("text", 3, rope_parameters=rope), tmp_path)
    shape = pair.ours.config.attention
    assert (shape.rotary_size, shape.rope_theta) == expected
    assert _difference(pair) < 1e-4


def test_experts_are_weighed_as_configured(tmp_path: Path) -> None:
    pair = save(network("next", 3, norm_topk_prob=False), tmp_path)
    assert pair.ours.config.experts is not None and not pair.ours.config.experts.normed
    assert _difference(pair) < 1e-4


# --- refusals -------------------------------------------------------------------------------------

GOOD = SHAPE | EXPERTS | {"model_type": "qwen3_next"}


def _without(name: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda good: {key: value for key, value in good.items() if key != name}


def _with(**changes: Any) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda good: good | changes


REFUSALS: list[tuple[Callable[[dict[str, Any]], Any], str]] = [
    (_with(model_type="llama"), "model_type: 'llama' is not known; 'qwen3_next' works"),
    (lambda _: [], "model_type: None is not known; 'qwen3_next' works"),
    (_without("hidden_size"), "config.json, hidden_size: Field required"),
    (
        _with(vocab_size=0),
        "config.json, vocab_size: Input should be greater than 0",
    ),
    (
        _with(layer_types=["linear_attention", "mamba"]),
        "config.json, layer_types.1: Input should be 'linear_attention' or 'full_attention'",
    ),
    (
        _with(num_hidden_layers=5),
        "layer_types: 6 entries; 5 (num_hidden_layers) work",
    ),
    (
        _with(rope_parameters={"rope_type": "yarn"}),
        "rope_type: 'yarn' is not computed; 'default' works",
    ),
    (
        _with(rope_scaling={"rope_type": "linear"}),
        "rope_type: 'linear' is not computed; 'default' works",
    ),
    (_with(hidden_act="gelu"), "hidden_act: 'gelu' is not computed; 'silu' works"),
    (_with(attention_bias=True), "attention_bias: True is not computed; False works"),
    (
        _with(linear_num_value_heads=3),
        "linear_num_heads: 3 is no multiple of 2; 2 works",
    ),
    (
        _with(num_attention_heads=3),
        "num_attention_heads: 3 is no multiple of 2; 2 works",
    ),
]


@pytest.mark.parametrize(("change", "sentence"), REFUSALS, ids=[s for _, s in REFUSALS])
def test_refused_configurations(change: Callable[[dict[str, Any]], Any], sentence: str) -> None:
    assert parse_config(GOOD).layers == 6
    with pytest.raises(CheckpointError) as caught:
        parse_config(change(GOOD))
    assert str(caught.value) == sentence


def test_layer_types_follow_from_the_interval() -> None:
    plain = _without("layer_types")(GOOD) | {"full_attention_interval": 3}
    assert parse_config(plain) == parse_config(GOOD)


def test_folders_that_are_no_checkpoints(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"config\.json: .*a transformers checkpoint folder"):
        read_config(tmp_path)
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(CheckpointError, match=r"config\.json: .*a transformers checkpoint folder"):
        read_config(tmp_path)
    config = parse_config(GOOD)
    arguments = (tmp_path, config, torch.float32, torch.device("cpu"))
    with pytest.raises(CheckpointError, match=r"no model\.safetensors; a transformers folder work"):
        read_weights(*arguments)
    save_file({"model.embed_tokens.weight": torch.zeros(2, 2)}, tmp_path / "model.safetensors")
    with pytest.raises(CheckpointError) as caught:
        read_weights(*arguments)
    assert str(caught.value) == (
        "model.layers.0.linear_attn.in_proj_qkv.weight: the checkpoint has no such tensor"
    )

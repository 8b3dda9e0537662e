"""Serve prompts one after the other, wave by wave, and say what the last one was answered."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from truehit.engine.model.alone import compute_alone
from truehit.engine.model.backend import TorchBackend
from truehit.engine.model.plane import Model
from truehit.engine.model.random_model import config_for, random_model
from truehit.engine.model.server import Server
from truehit.proofs.harm.measure import DTYPE, SEED
from truehit.spec.geometry import Geometry

Prompt = tuple[str, Sequence[int]]


@dataclass(frozen=True, slots=True)
class Answer:
    """The generated tokens of the last prompt, what it hit, the largest difference of its logits
    from those of the same tokens computed alone, and the first false read."""

    tokens: tuple[int, ...]
    hit_tokens: int
    moved: float
    false_read: str | None


def small_model(geometry: Geometry) -> Model:
    """The random model that answers."""
    backend = TorchBackend()
    return random_model(config_for(geometry), SEED, DTYPE, backend.device)


def answer_alone(model: Model, geometry: Geometry, prompt: Sequence[int], count: int) -> list[int]:
    """Greedy tokens without any engine: the whole text anew for every token."""
    text = list(prompt)
    for _ in range(count):
        logits = compute_alone(model, geometry, TorchBackend(), text).logits
        text.append(int(logits[-1].argmax()))
    return text[len(prompt) :]


def answer(
    model: Model, geometry: Geometry, rules: str, waves: Sequence[Sequence[Prompt]], count: int
) -> Answer:
    """Greedy tokens of the last prompt of the last wave; a wave arrives together, when the one
    before has been answered."""
    seen: dict[tuple[int, int], Tensor] = {}

    def keep(request: int, position: int, logits: Tensor) -> None:
        seen[request, position] = logits

    server = Server(model, geometry, TorchBackend(), rules=rules, is_watched=True, on_logits=keep)
    names: dict[int, str] = {}
    for wave in waves:
        for name, tokens in wave:
            names[server.submit(tokens, output_tokens=count)] = name
        server.run()
    last = max(names)
    served = server.requests[last]
    alone = compute_alone(model, geometry, TorchBackend(), served.tokens).logits
    by = [
        (logits - alone[position]).abs().max()
        for (request, position), logits in seen.items()
        if request == last
    ]
    assert server.plane.watch is not None
    findings = server.plane.watch.ghosts.findings
    return Answer(
        tokens=tuple(server.output(last)),
        hit_tokens=served.hits[-1],
        moved=torch.stack(by).nan_to_num(nan=torch.inf).max().item(),
        false_read=findings[0].sentence(names[findings[0].request]) if findings else None,
    )

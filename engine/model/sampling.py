"""How the next token is chosen, so that nothing but the prefix decides it.

Noise is drawn from a generator of (seed, position): the same token comes out whatever the chunking,
the drafts or the batch. A draft is accepted when it is the token that would have been chosen there,
which keeps the distribution exact for a drafter that proposes one token a position."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor


@dataclass(frozen=True, slots=True)
class Greedy:
    """The largest logit."""


@dataclass(frozen=True, slots=True)
class Sampled:
    """From softmax(logits / temperature)."""

    temperature: float
    seed: int

    def __post_init__(self) -> None:
        if not self.temperature > 0:
            raise ValueError(f"temperature: {self.temperature} is not above 0; 1.0 works")


Sampling = Greedy | Sampled
WORD = 1 << 64


def choose(logits: Tensor, sampling: Sampling, position: int) -> int:
    """The token at `position`; logits [vocabulary]."""
    match sampling:
        case Greedy():
            return int(logits.argmax())
        case Sampled(temperature, seed):
            # Counter-based: torch's own generator on the CPU reads only 32 bits of a seed.
            key = np.array([seed % WORD, position], np.uint64)
            random = np.random.Generator(np.random.Philox(key=key))
            even = torch.from_numpy(random.random(logits.shape[0]))
            noise = -torch.log(-torch.log(even))
            return int((logits.double().cpu() / temperature + noise).argmax())


def verify(
    logits: Tensor, drafts: Sequence[int], sampling: Sampling, position: int, most: int
) -> list[int]:
    """The tokens from `position` on: drafts as long as they are what would have been chosen, and
    one more; at most `most`. logits [1 + drafts, vocabulary]."""
    tokens: list[int] = []
    for ahead in range(len(drafts) + 1):
        tokens.append(choose(logits[ahead], sampling, position + ahead))
        if len(tokens) == most or ahead == len(drafts) or tokens[-1] != drafts[ahead]:
            break
    return tokens

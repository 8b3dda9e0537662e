"""Sizes of a trial, by name."""

from collections.abc import Mapping
from dataclasses import dataclass

import torch


@dataclass(frozen=True, slots=True)
class Sizes:
    """K = V = `size`, of states and of attention. `longest_tokens`: of a prefill row. `attention`:
    heads of keys and of queries; `mamba`: groups, heads, P and N."""

    key_heads: int
    value_heads: int
    size: int
    rows: int
    longest_tokens: int
    channels: int
    attention: tuple[int, int]
    mamba: tuple[int, int, int, int]


SIZES: Mapping[str, Sizes] = {
    "k128": Sizes(16, 32, 128, 5, 200, 8192, (2, 16), (8, 64, 64, 128)),
    "k64": Sizes(2, 8, 64, 12, 150, 768, (2, 16), (8, 64, 64, 256)),
    "k16": Sizes(1, 2, 16, 4, 70, 40, (1, 2), (1, 2, 16, 16)),
}
"""The heads of the first two are what the kernels' tables are compiled for."""
EXACT_TOLERANCE = 0.0


def tolerance(*types: torch.dtype) -> float:
    """bf16 has eight bits."""
    return 1e-2 if torch.bfloat16 in types else 1e-5

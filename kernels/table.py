"""What a kernel is compiled as: one table, read by its launcher and by the compile gate alike.

A variant fixes the types of the run-time arguments and the values of the compile-time ones; a
configuration fixes tile sizes, warps and pipeline stages for one architecture. There is no
autotuning: what is checked without a GPU is what runs on one."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import torch


class Architecture(StrEnum):
    """The ones the gate compiles for; the last is reported only."""

    SM_80 = "sm_80"
    SM_90 = "sm_90a"
    SM_100 = "sm_100a"


@dataclass(frozen=True, slots=True)
class Config:
    """`tiles`: compile-time tile sizes by argument name."""

    tiles: Mapping[str, int]
    warps: int
    stages: int


@dataclass(frozen=True, slots=True)
class Variant:
    """`types`: run-time argument -> Triton type ("*fp32", "i32", ...); `constants`: compile-time
    argument -> value, tile sizes excluded; `aligned`: arguments that are multiples of 16 (pointers
    from the allocator, row strides); `tensor_cores`: matrix instructions are expected."""

    name: str
    types: Mapping[str, str]
    constants: Mapping[str, int | bool | None]
    aligned: frozenset[str] = frozenset()
    tensor_cores: bool = False


@dataclass(frozen=True, slots=True)
class KernelTable:
    """`function`: the Triton function. `configs`: by architecture, and for some variants their own
    (`own_configs`: (variant, architecture) -> configuration)."""

    name: str
    function: Any
    variants: tuple[Variant, ...]
    configs: Mapping[Architecture, Config]
    own_configs: Mapping[tuple[str, Architecture], Config] = field(default_factory=dict)

    def config(self, variant: str, architecture: Architecture) -> Config:
        """The configuration a variant is compiled and launched with."""
        own = self.own_configs.get((variant, architecture))
        return self.configs[architecture] if own is None else own


def architecture_of(device: torch.device) -> Architecture:
    """Of a CUDA device; the interpreter runs what the smallest one runs."""
    if device.type != "cuda":
        return Architecture.SM_80
    match torch.cuda.get_device_capability(device)[0]:
        case 8:
            return Architecture.SM_80
        case 9:
            return Architecture.SM_90
        case _:
            return Architecture.SM_100

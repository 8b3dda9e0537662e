"""Which layer lives in which group, and where its bytes are inside a page.

A page belongs to one group at a time and holds the bytes of all layers of that group, so that one
copy of a page copies every layer; pages are as large as the largest group needs, because all groups
share one pool. In test mode a page ends in its ghost: integers that say which tokens made it."""

from dataclasses import dataclass
from math import prod

import torch

from truehit.engine.model.config import Mixer, ModelConfig
from truehit.spec.geometry import Geometry, Group, Kind

ALIGNMENT_BYTES = 64
STATE_GHOST_NUMBERS = 12
ENTRY_GHOST_NUMBERS = 2


@dataclass(frozen=True, slots=True)
class Field:
    """An array inside a page: `offset_bytes` from its start, `shape` per page."""

    offset_bytes: int
    shape: tuple[int, ...]
    dtype: torch.dtype

    @property
    def end_bytes(self) -> int:
        size = prod(self.shape) * self.dtype.itemsize
        return -(-(self.offset_bytes + size) // ALIGNMENT_BYTES) * ALIGNMENT_BYTES


@dataclass(frozen=True, slots=True)
class DeltaNetPages:
    """`states` [value heads, value size, key size]; `windows` [width - 1, channels]."""

    group: int
    states: Field
    windows: Field


@dataclass(frozen=True, slots=True)
class AttentionPages:
    """`keys` and `values` [block tokens, key heads, size]; `window_tokens` None: all are seen."""

    group: int
    keys: Field
    values: Field
    window_tokens: int | None


@dataclass(frozen=True, slots=True)
class Layout:
    """`layers`: one entry a layer. `ghosts`: by group, where it has layers (test mode)."""

    page_bytes: int
    layers: tuple[DeltaNetPages | AttentionPages, ...]
    ghosts: dict[int, Field]


def lay_out(
    config: ModelConfig,
    geometry: Geometry,
    activations: torch.dtype,
    states: torch.dtype,
    has_ghosts: bool,
) -> Layout:
    """ValueError: layers and groups do not match."""
    owners = owners_of(config, geometry)
    ends = [0] * len(geometry.groups)
    layers: list[DeltaNetPages | AttentionPages] = []
    for owner in owners:
        group, at = geometry.groups[owner], ends[owner]
        if group.kind is Kind.RECURRENT_STATE:
            net = config.delta_net
            own = Field(at, (net.value_heads, net.value_size, net.key_size), states)
            window = Field(own.end_bytes, (net.width - 1, net.channels), activations)
            layers.append(DeltaNetPages(owner, own, window))
            ends[owner] = window.end_bytes
        else:
            shape = (group.block_tokens, config.attention.key_heads, config.attention.size)
            keys = Field(at, shape, activations)
            values = Field(keys.end_bytes, shape, activations)
            layers.append(AttentionPages(owner, keys, values, _window(config, group)))
            ends[owner] = values.end_bytes
    ghosts: dict[int, Field] = {}
    for owner in sorted(set(owners)) if has_ghosts else ():
        group = geometry.groups[owner]
        is_state = group.kind is Kind.RECURRENT_STATE
        entries = (group.block_tokens, ENTRY_GHOST_NUMBERS)
        numbers = (STATE_GHOST_NUMBERS,) if is_state else entries
        ghosts[owner] = Field(ends[owner], numbers, torch.int64)
        ends[owner] = ghosts[owner].end_bytes
    return Layout(max(ends), tuple(layers), ghosts)


def _window(config: ModelConfig, group: Group) -> int | None:
    return group.window_tokens or config.attention.window_tokens


def owners_of(config: ModelConfig, geometry: Geometry) -> tuple[int, ...]:
    """The group of every layer: the groups of a kind share its layers out in order."""
    pages = {Kind.FULL_ATTENTION, Kind.SLIDING_WINDOW}
    groups = {
        Mixer.DELTA_NET: [
            i for i, g in enumerate(geometry.groups) if g.kind is Kind.RECURRENT_STATE
        ],
        Mixer.ATTENTION: [i for i, g in enumerate(geometry.groups) if g.kind in pages],
    }
    counts = {mixer: config.mixers.count(mixer) for mixer in Mixer}
    for mixer, own in groups.items():
        if len(own) > counts[mixer] or (counts[mixer] and not own):
            raise ValueError(
                f"groups: {len(own)} of them for {counts[mixer]} layers of {mixer.value}; "
                f"{min(counts[mixer], 1)} works"
            )
    seen = dict.fromkeys(Mixer, 0)
    owners = []
    for mixer in config.mixers:
        own = groups[mixer]
        owners.append(own[seen[mixer] * len(own) // counts[mixer]])
        seen[mixer] += 1
    return tuple(owners)

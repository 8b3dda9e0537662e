"""A geometry from the command line; refusals name the option instead of the field."""

from dataclasses import dataclass, replace
from math import gcd
from typing import Any

from truehit.cli.errors import InputError
from truehit.spec.geometry import (
    BlockDrop,
    Dense,
    Drop,
    DropCap,
    Geometry,
    Group,
    Interval,
    Kind,
    Lookahead,
    NoDrop,
    ReachOnly,
    Retention,
)
from truehit.spec.geometry_checks import GeometryError, check

OPTION_OF_FIELD = {
    "hash_unit_tokens": "--hash-unit",
    "drafts": "--drafts",
    "drop.tokens": "--drop lookahead:L: L",
    "drop.groups": "--drafted-block",
    "retention": "--retention",
    "budget_tokens": "--budget",
    "long_prefill_threshold_tokens": "--threshold",
    "max_model_tokens": "--max-model",
    "pool_blocks": "--pool",
    "checkpoint_alignment_tokens": "--checkpoint-alignment",
    "kernel_chunk_tokens": "--kernel-chunk",
    "steps_in_flight": "--in-flight",
}


@dataclass(frozen=True, slots=True)
class Blocks:
    """The blocks of the groups as they were given; a window is BLOCK:WINDOW."""

    state: tuple[int, ...]
    attention: tuple[int, ...]
    drafted: tuple[int, ...]
    windows: tuple[str, ...]


def groups_of(blocks: Blocks, drop: Drop) -> tuple[Group, ...]:
    """One group a block, named by kind. Without --drafted-block a block drop is of every one."""
    all_drop = isinstance(drop, BlockDrop) and not blocks.drafted
    groups: list[Group] = []
    full, state = Kind.FULL_ATTENTION, Kind.RECURRENT_STATE
    for i, size in enumerate(blocks.attention):
        groups.append(Group(_name("attention", i, blocks.attention), full, size, all_drop))
    for i, size in enumerate(blocks.drafted):
        groups.append(Group(_name("drafted", i, blocks.drafted), full, size, True))
    for i, text in enumerate(blocks.windows):
        size, window = _window(text)
        name = _name("window", i, blocks.windows)
        groups.append(Group(name, Kind.SLIDING_WINDOW, size, all_drop, window))
    for i, size in enumerate(blocks.state):
        groups.append(Group(_name("state", i, blocks.state), state, size))
    if not groups:
        raise InputError("no group is given; --state-block 1600 --attention-block 16 works")
    return tuple(groups)


def geometry_of(
    blocks: Blocks, drop: str, retention: str, hash_unit_tokens: int | None, **fields: Any
) -> Geometry:
    """The checked geometry with the pool of a default one; `fields` as in Geometry.

    The hash unit is the given one, or the largest that divides every block.
    """
    dropping = drop_of(drop)
    groups = groups_of(blocks, dropping)
    unit = gcd(*(group.block_tokens for group in groups))
    geometry = Geometry(
        groups=groups,
        hash_unit_tokens=unit if hash_unit_tokens is None else hash_unit_tokens,
        drop=dropping,
        retention=retention_of(retention),
        **fields,
    )
    return checked(geometry)


def with_pool(geometry: Geometry, pool_blocks: int | None, needed_blocks: int) -> Geometry:
    """The given pool, or one that is large enough for everything at once."""
    blocks = needed_blocks if pool_blocks is None else pool_blocks
    return checked(replace(geometry, pool_blocks=blocks))


def drop_of(text: str) -> Drop:
    """`none`, `clamped`, `margin` or `lookahead:L`."""
    name, _, tokens = text.partition(":")
    match name:
        case "none" if not tokens:
            return NoDrop()
        case "clamped" | "margin" if not tokens:
            return BlockDrop(DropCap(name))
        case "lookahead" if tokens.isascii() and tokens.isdigit():
            return Lookahead(int(tokens))
        case _:
            raise InputError(
                f"--drop '{text}' is unknown; none, clamped, margin or lookahead:1 works"
            )


def retention_of(text: str) -> Retention:
    """`dense`, `0` or an interval."""
    if text == "dense":
        return Dense()
    if text.isascii() and text.isdigit():
        return Interval(int(text)) if int(text) else ReachOnly()
    raise InputError(f"--retention '{text}' is unknown; dense, 0 or a number of tokens works")


def checked(geometry: Geometry) -> Geometry:
    """The geometry, or the one line that says which option cannot be."""
    try:
        check(geometry)
    except GeometryError as error:
        option = _option(error.field, geometry)
        raise InputError(error.sentence.replace(error.field, option, 1)) from error
    return geometry


def _option(field: str, geometry: Geometry) -> str:
    if not field.startswith("groups["):
        return OPTION_OF_FIELD.get(field, field)
    group = geometry.groups[int(field[len("groups[") :].partition("]")[0])]
    match group.kind:
        case Kind.RECURRENT_STATE:
            return "--state-block"
        case Kind.SLIDING_WINDOW:
            return "--window"
        case _:
            return "--drafted-block" if group.name.startswith("drafted") else "--attention-block"


def _name(kind: str, index: int, same: tuple[int, ...] | tuple[str, ...]) -> str:
    return kind if len(same) == 1 else f"{kind}-{index + 1}"


def _window(text: str) -> tuple[int, int]:
    block, _, window = text.partition(":")
    if not (block.isascii() and block.isdigit() and window.isascii() and window.isdigit()):
        raise InputError(f"--window '{text}' is no BLOCK:WINDOW; 16:1024 works")
    return int(block), int(window)

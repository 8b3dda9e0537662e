"""Groups that cannot exist, or cannot exist together: names, blocks, windows, units.

Each function yields its refusals in order; a later one may rely on what an earlier one excluded.
"""

from collections.abc import Iterator
from math import gcd

from truehit.spec.geometry import Geometry, Group, Kind
from truehit.spec.geometry_error import GeometryError, refusal


def names(geometry: Geometry) -> Iterator[GeometryError]:
    """At least one group, each with a name of its own."""
    if not geometry.groups:
        yield refusal("groups", 0, "there is nothing to cache", "1 group works")
    seen: set[str] = set()
    for index, group in enumerate(geometry.groups):
        where = f"groups[{index}].name"
        if not group.name:
            yield refusal(where, 0, "the name has no letters", f"'group{index}' works")
        if group.name in seen:
            count = sum(1 for other in geometry.groups if other.name == group.name)
            why = f"so many groups are called '{group.name}', and a trace names groups"
            yield refusal(where, count, why, f"'{group.name}-{index}' works")
        seen.add(group.name)


def blocks(geometry: Geometry) -> Iterator[GeometryError]:
    """A block holds at least one token; state groups share one grid; something can hit."""
    for index, group in enumerate(geometry.groups):
        if group.block_tokens <= 0:
            works = f"{max(geometry.hash_unit_tokens, 1)} works"
            where = f"groups[{index}].block_tokens"
            yield refusal(where, group.block_tokens, "a block holds at least one token", works)
    if not geometry.lookup_groups:
        why = "all of them are circular buffers, which take no part in a hit"
        yield refusal("groups", len(geometry.groups), why, "1 more group of another kind works")
    for index, group in enumerate(geometry.groups):
        grid = geometry.grid_tokens
        if group.kind is Kind.RECURRENT_STATE and group.block_tokens != grid:
            first = geometry.state_groups[0].name
            why = f"all state groups share one grid, and '{first}' has {grid}"
            where = f"groups[{index}].block_tokens"
            yield refusal(where, group.block_tokens, why, f"{grid} works")


def windows(geometry: Geometry) -> Iterator[GeometryError]:
    """A sliding window has a positive window; no other kind has one."""
    for index, group in enumerate(geometry.groups):
        where = f"groups[{index}].window_tokens"
        window = group.window_tokens
        if group.kind is not Kind.SLIDING_WINDOW:
            if window is not None:
                why = f"a group of kind {group.kind} has no window"
                yield refusal(where, window, why, "leaving it out works")
        elif window is None:
            why = "a sliding window needs its length"
            yield refusal(where, None, why, f"{group.block_tokens} works")
        elif window <= 0:
            why = "a window sees at least one token"
            yield refusal(where, window, why, f"{group.block_tokens} works")


def hash_unit(geometry: Geometry) -> Iterator[GeometryError]:
    """The hash unit divides every block that is looked up, fine hits or coarse."""
    unit, works = geometry.hash_unit_tokens, f"{geometry.block_gcd_tokens} works"
    if unit <= 0:
        yield refusal("hash_unit_tokens", unit, "a hash covers at least one token", works)
    for group in geometry.lookup_groups:
        if group.block_tokens % unit:
            why = f"it does not divide the {group.block_tokens} tokens of a block of '{group.name}'"
            yield refusal("hash_unit_tokens", unit, why, works)
    if geometry.fine_hits:
        yield from _fine_windows(geometry)


def _fine_windows(geometry: Geometry) -> Iterator[GeometryError]:
    unit = geometry.hash_unit_tokens
    for index, group in enumerate(geometry.groups):
        if group.kind is Kind.SLIDING_WINDOW and group.block_tokens != unit:
            why = f"with fine hits a sliding window is matched by the hash unit, which is {unit}"
            where = f"groups[{index}].block_tokens"
            yield refusal(where, group.block_tokens, why, f"{unit} works")


def kernel_chunk(geometry: Geometry) -> Iterator[GeometryError]:
    """A state block is a whole number of kernel chunks."""
    chunk = geometry.kernel_chunk_tokens
    if chunk <= 0:
        why = "a kernel consumes at least one token"
        yield refusal("kernel_chunk_tokens", chunk, why, "1 works")
    for group in geometry.state_groups:
        if group.block_tokens % chunk:
            yield _split_kernel_chunk(chunk, group)


def _split_kernel_chunk(chunk: int, group: Group) -> GeometryError:
    why = f"it does not divide the {group.block_tokens} tokens of a state block of '{group.name}'"
    return refusal("kernel_chunk_tokens", chunk, why, f"{gcd(chunk, group.block_tokens)} works")

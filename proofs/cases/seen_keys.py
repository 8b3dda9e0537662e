"""Which prefixes became findable, by whom, in which blocks, and which stopped being so."""

from collections.abc import Sequence

from truehit.proofs.cases.seen_tables import state_group
from truehit.spec.trace import Event, Publish, Submit, Unpublish


def pages(events: Sequence[Event]) -> dict[str, dict[str, list[int]]]:
    """Request -> group -> the positions it published, in order; every group counts."""
    found: dict[str, dict[str, list[int]]] = {}
    for event in events:
        match event:
            case Submit():
                found[event.request] = {}
            case Publish():
                published = found[event.request].setdefault(event.group, [])
                published.extend(tokens for tokens, _ in event.keys)
            case _:
                pass
    return found


def stored(events: Sequence[Event]) -> dict[str, list[int]]:
    """Request -> the positions whose state it published, in the first state group."""
    group = state_group(events)
    return {name: groups.get(group, []) for name, groups in pages(events).items()}


def keys_of_blocks(events: Sequence[Event]) -> dict[str, dict[str, list[list[int]]]]:
    """Request -> group -> the positions it published, block by block."""
    blocks: dict[tuple[str, str], dict[int, list[int]]] = {}
    for event in events:
        if isinstance(event, Publish):
            mine = blocks.setdefault((event.request, event.group), {})
            for tokens, block in event.keys:
                mine.setdefault(block, []).append(tokens)
    found: dict[str, dict[str, list[list[int]]]] = {}
    for (request, group), mine in blocks.items():
        found.setdefault(request, {})[group] = list(mine.values())
    return found


def unpublished(events: Sequence[Event]) -> dict[str, int]:
    """Why -> how many blocks lost their keys for that."""
    found = {"evicted": 0, "taken_back": 0, "promoted": 0}
    for event in events:
        if isinstance(event, Unpublish):
            found[event.why] = found.get(event.why, 0) + len(event.blocks)
    return found

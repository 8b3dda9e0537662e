"""Which chunk wrote the attention entries a prompt ends up with: the digest of A-then-B tests.

Two prefills with equal digests read entries computed in equal chunk shapes; with unequal digests
numbers may differ although every token is right.
"""

from truehit.proofs.golden.tables import apply_change
from truehit.reference.run import Run
from truehit.spec.trace import End, Submit, Table, Write

Shape = tuple[int, int]
Digest = tuple[tuple[int, int, Shape], ...]


def digests(result: Run, group: str = "attention") -> dict[str, Digest]:
    """Request -> (low, high, chunk) of all its prompt tokens, when its prefill is done."""
    block_tokens = next(g.block_tokens for g in result.scenario.geometry.groups if g.name == group)
    prompts: dict[str, int] = {}
    tables: dict[str, list[int]] = {}
    pages: dict[int, list[tuple[int, int, Shape]]] = {}
    found: dict[str, Digest] = {}
    for event in result.events:
        match event:
            case Submit():
                prompts[event.request] = event.prompt_tokens
            case Table() if event.group == group:
                columns = tables.setdefault(event.request, [])
                for block in apply_change(columns, event):
                    pages[block] = []
            case Write() if event.group == group:
                for column, block in enumerate(event.blocks, event.column):
                    low = max(event.start, column * block_tokens)
                    high = min(event.end, (column + 1) * block_tokens)
                    pages[block].append((low, high, (event.start, event.end)))
                if event.end == prompts[event.request]:
                    found[event.request] = _merged(
                        [entry for block in tables[event.request] for entry in pages[block]]
                    )
            case End():
                tables.pop(event.request, None)
            case _:
                pass
    return found


def _merged(entries: list[tuple[int, int, Shape]]) -> Digest:
    """Neighbours of one chunk become one entry."""
    merged: list[tuple[int, int, Shape]] = []
    for low, high, shape in entries:
        if merged and merged[-1][2] == shape and merged[-1][1] == low:
            merged[-1] = (merged[-1][0], high, shape)
        else:
            merged.append((low, high, shape))
    return tuple(merged)

"""What a chunk splitter owes: plain predicates, lifted for the solver and called on every replay.

One text for both readings. Each goal is judged on chunks that satisfy `premise`: a prefill step of
a request as a scheduler can offer it. The goals speak of the splitter alone; what encoder limits or
a lookahead reservation cut off afterwards is outside.
"""

from truehit.proofs.releases.chunk import Chunk


def premise(q: Chunk) -> bool:
    """A prefill step with at least one token offered, within the budget and the request."""
    return (
        q.computed >= 0
        and q.local_hit >= 0
        and q.external_hit >= 0
        and q.offered >= 1
        and q.prompt >= 1
        and q.total >= q.prompt
        and q.start < q.prefill_end
        and q.start + q.offered <= q.total
        and q.offered <= q.budget
        and q.threshold >= 0
        and q.junction >= 0
        and q.lookahead >= 0
        and (q.alignment is None or q.alignment >= 1)
        and (not q.fine or q.unit < q.scheduler_block)
    )


def in_range(q: Chunk) -> bool:
    """The answer lies between nothing and what was offered."""
    return 0 <= q.scheduled <= q.offered


def end_aligned(q: Chunk) -> bool:
    """The chunk ends on the state grid, at the end of the prefill, or at a permitted stop.

    Permitted: a hash boundary at the prompt's tail (fine hits), an exact junction, and anywhere in
    the start's own block when no step can offer enough to reach the block's end.
    """
    return (
        q.scheduled <= 0
        or q.end >= q.prefill_end
        or q.end % q.grid == 0
        or (q.fine and at_tail(q))
        or (q.exact_junction and q.end == q.junction)
        or (q.grid > q.widest and q.end <= q.next_boundary)
    )


def at_tail(q: Chunk) -> bool:
    """The end is one of the prompt's last hash boundaries, by any release's formula."""
    last = q.prompt // q.unit * q.unit
    proven = (q.prompt - max(1, q.lookahead)) // q.unit * q.unit
    return q.end == last or (q.drop and q.end == last - q.unit) or q.end == proven


def in_block(q: Chunk) -> bool:
    """A chunk that starts inside a block does not pass the block's end."""
    return q.start % q.grid == 0 or q.end <= q.next_boundary


def in_block_or_exported(q: Chunk) -> bool:
    """As `in_block`, exempt where the cache manager exports a checkpoint for this very end."""
    return in_block(q) or q.exported


def one_boundary(q: Chunk) -> bool:
    """The chunk passes at most one boundary of the state grid, so no state is left out."""
    return q.end // q.grid - q.start // q.grid <= 1


def progresses(q: Chunk) -> bool:
    """Something is scheduled whenever the offer reaches a boundary, the end, or all a step has."""
    reaches = q.start + q.offered >= min(q.next_boundary, q.prefill_end)
    return q.scheduled > 0 or not (reaches or q.offered >= q.widest)


def cost(q: Chunk) -> int:
    """How hard an example is to read: tokens, and a block for every feature that is on.

    Hits count double, so that a start is all computed where it can be; a replayed output counts
    four times and a lookahead token eight times, because most requests have none.
    """
    features = int(q.drop) + int(q.fine) + int(q.exact_junction) + int(q.checkpoints)
    alignment = q.alignment if q.alignment is not None else 0
    tokens = q.computed + q.offered + q.total + q.junction + q.budget + q.threshold + alignment
    hits = 2 * (q.local_hit + q.external_hit)
    return tokens + hits + 4 * (q.total - q.prompt) + 8 * q.lookahead + features * q.grid

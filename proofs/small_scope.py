"""Small scopes, exhaustively: every combination of small inputs of a rule that a caller can make.

Bounds: blocks of up to 4 tokens and k + 1 <= block, because a rule sees a block only through
remainders and comparisons with it; prompts of up to 2 blocks and 1 token, because a chunk crosses
at most two kept positions; tables of up to 7 columns, because scratch (k <= 3) moves by at most its
own width."""

from collections.abc import Iterator
from itertools import product

from truehit.reference.rules.lookup import ResumeQuery
from truehit.reference.rules.plan import PlanQuery
from truehit.reference.rules.retain import KeepQuery
from truehit.reference.rules.split import SplitQuery, period_stop_after

GRIDS = (1, 2, 3, 4)


def split_queries(grids: tuple[int, ...] = GRIDS) -> Iterator[SplitQuery]:
    """Every start, offer, prompt, pair of kept positions, junction, period and checkpoint
    alignment."""
    for grid in grids:
        for prompt in range(1, 2 * grid + 2):
            kept = (0, *range(1, prompt + 1))
            for start, replay, extend in product(range(prompt), kept, kept):
                if replay > extend:
                    continue
                for offered, junction, period, alignment in product(
                    range(1, prompt - start + 1), sorted({0, grid, prompt // 2}), (0, grid), (0, 1)
                ):
                    yield SplitQuery(
                        start=start,
                        offered=offered,
                        prefill_end=prompt,
                        prompt=prompt,
                        grid=grid,
                        hash_unit=1,
                        replay=replay,
                        extend=extend,
                        junction=junction,
                        period=period,
                        period_stop=period_stop_after(start, period) if period else 0,
                        checkpoint_alignment=alignment,
                        largest_chunk=prompt,
                        fine=junction != grid,
                        dropping=replay < extend,
                        backing_off=replay < extend,
                        boundary=(prompt - 1) // grid * grid,
                        margin=max((prompt - 1) // grid * grid - grid, 0),
                    )


def plan_queries(columns: int = 7) -> Iterator[PlanQuery]:
    """Every table, first allocation or later, and every running column with and without
    checkpoint."""
    for drafts, length, running, checkpoint in product(
        range(4), range(columns + 1), range(columns), (0, 1)
    ):
        for scratch in {0, drafts}:
            later = scratch > 0 or drafts == 0
            if scratch >= length and length > 0 and later:
                continue
            if running < length - scratch - 1 or running - checkpoint < length - scratch - 1:
                continue
            if length > 0 and checkpoint and running <= length - scratch:
                continue
            yield PlanQuery(length, scratch if length else 0, drafts, running, checkpoint)


def plan_columns(columns: int = 7) -> Iterator[tuple[PlanQuery, int]]:
    """Every plan with every column of its new table."""
    for query in plan_queries(columns):
        for column in range(max(query.length, query.running + 1 + query.drafts)):
            yield query, column


def keep_queries(longest: int = 12) -> Iterator[KeepQuery]:
    """Every prompt, alignment, state block, offer and drop."""
    for prompt, alignment, block in product(range(1, longest + 1), GRIDS, GRIDS):
        for drop, own in product((0, 1, alignment), (False, True)):
            legal = max((prompt - 1 - drop) // alignment * alignment, 0)
            extension = max((prompt - drop) // alignment * alignment, 0)
            yield KeepQuery(prompt, alignment, block, legal, extension, drop, own)


def resume_queries(longest: int = 12) -> Iterator[ResumeQuery]:
    """Every match, cap, drop and alignment."""
    for match, limit, alignment in product(range(longest + 1), range(longest + 1), GRIDS):
        for drop in range(alignment + 1):
            yield ResumeQuery(match, limit, drop, alignment)

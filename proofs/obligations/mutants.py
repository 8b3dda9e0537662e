"""Wrong rules of our own making: what the historic ones do not show. Each is refuted somewhere."""

from truehit.reference.rules import plan, split
from truehit.reference.rules.admit import AdmitQuery
from truehit.reference.rules.lookup import ResumeQuery, resume_limit
from truehit.reference.rules.plan import NULL, PlanQuery
from truehit.reference.rules.retain import KeepQuery
from truehit.reference.rules.split import SplitQuery
from truehit.spec.units import floor_to, running_column

# --- where a chunk ends ---------------------------------------------------------------------


def one_too_far(q: SplitQuery) -> tuple[int, int]:
    """One token more than the rule says."""
    return split.chunk_end(q) + 1, 0


def floor_and_defer(q: SplitQuery) -> tuple[int, int]:
    """Down to the grid, even when nothing is left of the chunk."""
    end = min(q.start + q.offered, q.prefill_end)
    return (end if end == q.prefill_end else max(q.start, floor_to(end, q.grid))), 0


def passes_stops(q: SplitQuery) -> tuple[int, int]:
    """Takes all it is offered, kept positions or not, and stays on the grid."""
    end = min(q.start + q.offered, q.prefill_end)
    on_grid = floor_to(end, q.grid)
    return (on_grid if q.start < on_grid and end < q.prefill_end else end), 0


def exports_anywhere(q: SplitQuery) -> tuple[int, int]:
    """Exports its first kept position from any start, at any distance from its end."""
    stop = split.next_stop(q, q.start)
    end = min(q.start + q.offered, split.next_stop(q, stop))
    return (end, stop) if stop < end else (split.plain_end(q), 0)


def exports_last_token(q: SplitQuery) -> tuple[int, int]:
    """Exports the position before its end, which need not be kept."""
    end = split.chunk_end(q)
    return end, max(end - 1, 0)


def one_block_short(q: SplitQuery) -> tuple[int, int]:
    """Gives a block of the offer away."""
    end = split.plain_end(q)
    return (end - q.grid if end - q.grid > q.start else end), 0


def floors_to_hash_unit(q: SplitQuery) -> tuple[int, int]:
    """Takes the hash unit for the grid."""
    end = min(q.start + q.offered, split.next_stop(q, q.start))
    on_unit = floor_to(end, q.hash_unit)
    return (on_unit if on_unit > q.start else end), 0


def this_period_stop(start: int, period: int) -> int:
    """The multiple at or below the start."""
    return floor_to(start, period)


# --- which blocks a table has ---------------------------------------------------------------


def doubled(q: PlanQuery, column: int) -> int:
    """Moved scratch also stays where it was."""
    return column if column < q.length else plan.column_source(q, column)


def bare(q: PlanQuery, column: int) -> int:
    """No scratch behind the running column."""
    return NULL if column > q.running else plan.column_source(q, column)


def unaware(q: PlanQuery, column: int) -> int:
    """Forgets that the step exports a checkpoint."""
    plain = PlanQuery(q.length, q.scratch, q.drafts, q.running, 0)
    return plan.column_source(plain, column)


def too_eager(q: PlanQuery, column: int) -> int:
    """Moves scratch one column too many."""
    further = PlanQuery(q.length, q.scratch, q.drafts, q.running + 1, q.checkpoint)
    return plan.column_source(further, column)


def recycled(q: PlanQuery, column: int) -> int:
    """A new column takes the block of the old running column."""
    return q.length - 1 - q.scratch if column >= q.length else plan.column_source(q, column)


def one_fewer(q: PlanQuery) -> int:
    """Counts one fresh block less."""
    return plan.fresh_blocks(q) - 1


def one_more(q: PlanQuery) -> int:
    """Counts one fresh block more."""
    return plan.fresh_blocks(q) + 1


def two_more(q: PlanQuery) -> int:
    """Takes two blocks more."""
    return plan.fresh_blocks(q) + 2


def without_drafts(q: PlanQuery) -> int:
    """A table that ends with its running column."""
    return max(q.length, q.running + 1)


def always_longer(q: PlanQuery) -> int:
    """A table that grows in every step."""
    return q.length + q.drafts + 1


def column_below(end_tokens: int, grid_tokens: int) -> int:
    """The column of a position, one too low at every boundary."""
    return (end_tokens - 1) // grid_tokens - 1


def column_above(end_tokens: int, grid_tokens: int) -> int:
    """The column of the next token."""
    return running_column(end_tokens + grid_tokens, grid_tokens)


def retired_early(column: int, processed: int, grid: int) -> bool:
    """Gives back a column that the next step reads."""
    return column <= (processed - 1) // grid


def retired_late(column: int, processed: int, grid: int) -> bool:
    """Keeps one column too many."""
    return column < (processed - 1) // grid - 1


# --- lookups and retention ------------------------------------------------------------------


def undropped(q: ResumeQuery) -> int:
    """Forgets to give the drop back."""
    return resume_limit(ResumeQuery(q.match, q.limit, 0, q.alignment))


def uncapped(total: int) -> int:
    """Lets the last token be reused."""
    return total


def keeps_last_token(q: KeepQuery) -> int:
    """Keeps the position before the last token, aligned or not."""
    return max(q.prompt - 1, 0)


def published_below(position: int, replay: int, extend: int, junction: int, period: int) -> bool:
    """Publishes everything below a kept position."""
    return position > 0 and (position <= replay or position <= extend)


def named_only(position: int, replay: int, extend: int, junction: int) -> bool:
    """Forgets the period."""
    return position > 0 and position in (replay, extend, junction)


def one_block_spare(q: AdmitQuery) -> bool:
    """Never gives the last block away."""
    return max(q.whole, q.needed) + q.owed < q.free


def too_much_known(step: int, in_flight: int) -> int:
    """Takes a step that may still fail for complete."""
    return step - in_flight + 2


def pages_floored(end: int, held: int, block: int) -> int:
    """Takes whole pages only."""
    return max(0, end // block - held)


def pages_padded(end: int, held: int, block: int) -> int:
    """Takes one page too many."""
    return max(0, end // block + 1 - held) + 1

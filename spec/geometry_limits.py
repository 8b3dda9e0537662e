"""Numbers that cannot work with the groups: drafts, drop, retention, limits, checkpoints, pool.

Each function yields its refusals in order; all of them rely on what `geometry_groups` excluded.
"""

from collections.abc import Iterator
from math import lcm

from truehit.spec.geometry import BlockDrop, Geometry, Interval, Lookahead, NoDrop
from truehit.spec.geometry_error import GeometryError, refusal
from truehit.spec.units import ceil_div

SMALLEST_REQUEST_TOKENS = 2
"""One token of prompt and one of output."""


def lengths(geometry: Geometry) -> Iterator[GeometryError]:
    """The longest request has room for a prompt and an output."""
    if geometry.max_model_tokens < SMALLEST_REQUEST_TOKENS:
        why = "a request has at least one token of prompt and one of output"
        works = f"{SMALLEST_REQUEST_TOKENS} works"
        yield refusal("max_model_tokens", geometry.max_model_tokens, why, works)


def drafts(geometry: Geometry) -> Iterator[GeometryError]:
    """k >= 0, and k + 1 <= B: one step never advances by more than a state block of drafts."""
    if geometry.drafts < 0:
        yield refusal("drafts", geometry.drafts, "a step drafts no fewer than 0 tokens", "0 works")
    grid = geometry.grid_tokens
    if grid is not None and geometry.drafts + 1 > grid:
        why = f"a decode step of drafts + 1 tokens would cross a whole state block of {grid}"
        yield refusal("drafts", geometry.drafts, why, f"{grid - 1} works")


def drop(geometry: Geometry) -> Iterator[GeometryError]:
    """A block drop has somebody who drops; a lookahead is positive and below the maximum length.

    A block drop with drafts = 0 is allowed: a loaded draft model lags behind even if it is idle.
    """
    match geometry.drop:
        case BlockDrop():
            if not any(g.drafted for g in geometry.attention_groups):
                why = "that many attention groups are drafted, so no group would drop"
                works = "1 drafted group works" if geometry.attention_groups else "drop: none works"
                yield refusal("drop.groups", 0, why, works)
        case Lookahead(tokens):
            limit = geometry.max_model_tokens
            if tokens <= 0:
                yield refusal("drop.tokens", tokens, "a lookahead is at least one token", "1 works")
            if tokens >= limit:
                why = f"no key could be computed within max_model_tokens {limit}"
                yield refusal("drop.tokens", tokens, why, f"{limit - 1} works")
        case NoDrop():
            pass


def retention(geometry: Geometry) -> Iterator[GeometryError]:
    """An interval is a multiple of the positions a lookup can land on."""
    if not isinstance(geometry.retention, Interval):
        return
    tokens = geometry.retention.tokens
    base = geometry.alignment_tokens
    if geometry.grid_tokens is not None:
        base = lcm(base, geometry.grid_tokens)
    if tokens <= 0:
        why = "an interval is at least one hit alignment"
        yield refusal("retention", tokens, why, f"{base} works")
    if tokens % base:
        why = f"lookups land only on multiples of {base}, the lcm of hit alignment and state grid"
        yield refusal("retention", tokens, why, f"{ceil_div(tokens, base) * base} works")


def step_limits(geometry: Geometry) -> Iterator[GeometryError]:
    """Every step can schedule something, and a decode step fits with all its drafts."""
    budget, decode = geometry.budget_tokens, geometry.drafts + 1
    if budget <= 0:
        works = f"{max(geometry.lcm_tokens, decode)} works"
        yield refusal("budget_tokens", budget, "a step schedules at least one token", works)
    if budget < decode:
        why = f"a decode step with {geometry.drafts} drafts does not fit"
        yield refusal("budget_tokens", budget, why, f"{decode} works")
    threshold = geometry.long_prefill_threshold_tokens
    if threshold is not None and threshold <= 0:
        why = "a prefill would never be given a token"
        yield refusal("long_prefill_threshold_tokens", threshold, why, f"{budget} works")
    if geometry.steps_in_flight < 1:
        why = "the running step is itself in flight"
        yield refusal("steps_in_flight", geometry.steps_in_flight, why, "1 works")
    if geometry.max_running < 1:
        yield refusal("max_running", geometry.max_running, "nothing would ever run", "1 works")


def checkpoints(geometry: Geometry) -> Iterator[GeometryError]:
    """A checkpoint is a state, exported between two kernel chunks, at least once a state block."""
    alignment, chunk = geometry.checkpoint_alignment_tokens, geometry.kernel_chunk_tokens
    if alignment is None:
        return
    field = "checkpoint_alignment_tokens"
    grid = geometry.grid_tokens
    if grid is None:
        why = "without a recurrent_state group there is no state to export"
        yield refusal(field, alignment, why, "leaving it out works")
    elif alignment <= 0:
        yield refusal(field, alignment, "an alignment is at least one token", f"{chunk} works")
    elif alignment > grid:
        why = f"a state block of {grid} tokens would hold no aligned position"
        yield refusal(field, alignment, why, f"{grid} works")
    elif alignment % chunk:
        why = f"a kernel exports a state only between chunks of {chunk} tokens"
        yield refusal(field, alignment, why, f"{ceil_div(alignment, chunk) * chunk} works")


def pool(geometry: Geometry) -> Iterator[GeometryError]:
    """The null block and the smallest request fit."""
    needed = 1 + geometry.request_blocks(SMALLEST_REQUEST_TOKENS)
    if geometry.pool_blocks < needed:
        why = f"the null block and a request of {SMALLEST_REQUEST_TOKENS} tokens need {needed}"
        yield refusal("pool_blocks", geometry.pool_blocks, why, f"{needed} works")

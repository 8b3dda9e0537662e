"""When a key may be looked up: from which step on, counted from the step that writes the block.

Ours: once the step is known complete. The others are released practice and the defect behind it.
"""


def complete_step(step: int, in_flight: int) -> int:
    """The step that is known complete at the end of `step`, with `in_flight` >= 1 steps at a
    time."""
    return step - in_flight + 1


def first_lookup(write_step: int, in_flight: int) -> int:
    """The first step whose lookups may return a key of a block that `write_step` writes."""
    return write_step + in_flight


def first_lookup_deferred(write_step: int, in_flight: int) -> int:
    """Released practice: filed when scheduled, and lookups of the same step wait for the next."""
    return write_step + 1


def first_lookup_at_schedule(write_step: int, in_flight: int) -> int:
    """The defect: findable in the very step that is going to write it."""
    return write_step

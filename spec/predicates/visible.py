"""commit: who may read a key, and what must be known of the step that wrote its block."""


def is_write(write_step: int, in_flight: int) -> bool:
    """Some step writes; at least one step is in flight at a time."""
    return write_step >= 0 and in_flight >= 1


def is_lookup(read_step: int, visible_from: int) -> bool:
    """A step that may look the key up."""
    return read_step >= visible_from


def knows_just(read_step: int, in_flight: int, known_step: int) -> bool:
    """When a step begins, exactly the last `in_flight` - 1 steps before it may still be open."""
    return known_step + in_flight == read_step


def written_before(write_step: int, read_step: int) -> bool:
    """The write ran strictly before the reader's step."""
    return write_step < read_step


def outcome_known(write_step: int, known_step: int) -> bool:
    """Before the reader's step it is known that the writing step really ran."""
    return write_step <= known_step

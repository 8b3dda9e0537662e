"""Arithmetic of blocks: floors and ceilings in tokens, in the fragment of Python that is lifted to
a solver."""


def floor_to(position_tokens: int, unit_tokens: int) -> int:
    """The largest multiple of the unit that is not above the position (unit > 0)."""
    return position_tokens // unit_tokens * unit_tokens


def ceil_div(count_tokens: int, unit_tokens: int) -> int:
    """How many units cover the count (unit > 0)."""
    return (count_tokens + unit_tokens - 1) // unit_tokens


def running_column(end_tokens: int, grid_tokens: int) -> int:
    """The column that holds the state after a step that ends at `end_tokens` > 0."""
    return (end_tokens + grid_tokens - 1) // grid_tokens - 1

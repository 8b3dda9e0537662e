"""Which column a resume reads: the column of the state group that holds the resumed position."""


def seed_column(position: int, block: int) -> int:
    """The column that holds the state after `position` > 0 tokens in blocks of `block` tokens."""
    return (position - 1) // block

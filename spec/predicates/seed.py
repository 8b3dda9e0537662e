"""seed: the column a resume reads is the one that holds the state of the resumed position."""


def is_resume(position: int, block: int) -> bool:
    """Something is resumed."""
    return position > 0 and block > 0


def seeds_column(position: int, block: int, column: int) -> bool:
    """The column's block ends at the position or is the one the position lies in."""
    return column * block < position and position <= (column + 1) * block

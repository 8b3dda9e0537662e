"""admission: what is estimated is what is taken, and what was promised can be given.

In blocks. `owed`: what admitted requests may still take; `whole`: the most one request ever holds;
`needed`: what its first step takes; `later`: what any later step of an admitted request takes.
"""


def is_admission(free: int, owed: int, needed: int, whole: int) -> bool:
    """Counts are not negative, and the first step is part of the whole."""
    return free >= 0 and owed >= 0 and needed >= 0 and needed <= whole


def promises_kept(free: int, owed: int) -> bool:
    """Everything still owed is there."""
    return owed <= free


def first_step_fits(needed: int, free: int) -> bool:
    """The admitted step's blocks are there."""
    return needed <= free


def room_for_all(free: int, owed: int, whole: int) -> bool:
    """The whole request fits beside everything owed."""
    return whole + owed <= free


def lets_in(admitted: bool) -> bool:
    """What fits is admitted."""
    return admitted


def admits_exactly(admitted: bool, needed: int, free: int) -> bool:
    """Without reservation: admitted if and only if the step's blocks are there."""
    return admitted == first_step_fits(needed, free)


def is_later_step_after(later: int, owed_after: int) -> bool:
    """A later step takes a part of what is owed after the admission."""
    return later >= 0 and later <= owed_after


def later_step_fits(later: int, free_after: int, owed_after: int) -> bool:
    """It fits, and afterwards everything still owed is there."""
    return later <= free_after and promises_kept(free_after - later, owed_after - later)


def is_growth(end: int, held: int, block: int) -> bool:
    """A table of `held` pages has to reach `end` tokens."""
    return end >= 0 and held >= 0 and block > 0


def pages_cover(end: int, held: int, block: int, taken: int) -> bool:
    """The pages cover the tokens."""
    return taken >= 0 and (held + taken) * block >= end


def pages_tight(end: int, held: int, block: int, taken: int) -> bool:
    """No page is taken that no token needs."""
    return taken == 0 or (held + taken - 1) * block < end

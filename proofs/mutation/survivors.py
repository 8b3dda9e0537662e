"""Scenarios that surviving faults asked for: each is the smallest run we know that tells its fault.

Draws hardly ever come here: one request is scheduled first although another is more urgent, and has
to go in the very step in which it spent something. They are judged by all laws, and are part of the
differential."""

from truehit.spec.geometry import (
    BlockDrop,
    DropCap,
    Geometry,
    Group,
    Interval,
    Kind,
    Lookahead,
    ReachOnly,
)
from truehit.spec.scenario import (
    After,
    AtStep,
    EncoderItem,
    Moment,
    Policy,
    Pressure,
    Request,
    ResetCache,
    Scenario,
)
from truehit.spec.tokens import Segment

FULL = Group("full", Kind.FULL_ATTENTION, 4)
STATE = Group("state", Kind.RECURRENT_STATE, 4)


def _geometry(groups: tuple[Group, ...], pool_blocks: int, unit: int, fine: bool) -> Geometry:
    return Geometry(
        groups,
        unit,
        fine_hits=fine,
        pool_blocks=pool_blocks,
        budget_tokens=64,
        max_model_tokens=64,
        reserve_full_sequence=False,
    )


ENCODER_OF_A_VICTIM = Scenario(
    "the encoder tokens of a victim",
    _geometry((FULL,), 6, 4, False),
    (
        Request(
            "late",
            (Segment("a", 12),),
            1,
            priority=2,
            shares=(4, 4),
            encoder_items=(EncoderItem(8, 4),),
        ),
        Request("first", (Segment("b", 12),), 1, shares=(4, 4), arrival=AtStep(1)),
        Request(
            "second",
            (Segment("c", 12),),
            1,
            priority=1,
            shares=(4, 8),
            arrival=AtStep(1),
            encoder_items=(EncoderItem(4, 6),),
        ),
    ),
    policy=Policy.PRIORITY,
    encoder_budget_tokens=6,
    max_steps=40,
)
"""In step 2 `late` spends 4 of 6 encoder tokens and has to go; `second` then needs all 6."""

COPY_OF_A_VICTIM = Scenario(
    "the copy of a victim",
    _geometry((FULL, STATE), 8, 1, True),
    (
        Request("late", (Segment("a", 7),), 1, priority=2, shares=(1,)),
        Request("first", (Segment("b", 8),), 1, shares=(1, 3, 4), arrival=AtStep(1)),
    ),
    policy=Policy.PRIORITY,
    max_steps=40,
)
"""In step 3 `late` takes a block to copy its state to, and has to go before the copy runs."""

LENGTH_LIMIT = Scenario(
    "drafts at the maximum length",
    Geometry((FULL,), 4, drafts=2, max_model_tokens=9, budget_tokens=64, pool_blocks=20),
    (
        Request("long", (Segment("a", 5),), 4, accepted=(0,)),
        Request("too long", (Segment("b", 6),), 4),
    ),
    max_steps=40,
)
"""The last decode steps have room for fewer tokens than one and two drafts; one token more than
there is room for is refused."""

STATES_ALONE = Scenario(
    "a lookahead and no attention",
    Geometry((STATE,), 1, fine_hits=True, drop=Lookahead(2), budget_tokens=64, pool_blocks=40),
    (
        Request("one", (Segment("a", 11),), 2),
        Request("again", (Segment("a", 11),), 2, arrival=After("one")),
        Request("longer", (Segment("a", 11), Segment("b", 5)), 2, arrival=After("again")),
    ),
    max_steps=60,
)
"""Nothing but the lookahead keeps a resend from its last tokens."""

STATES_DECODE = Scenario(
    "states alone, filed while decoding",
    Geometry((STATE,), 4, budget_tokens=64, pool_blocks=40),
    (Request("one", (Segment("a", 5),), 9),),
    max_steps=60,
)
"""No page ends where a state is filed, so nothing else wakes a request that decodes."""

DRAFTED_WINDOW = Scenario(
    "a window that drops",
    Geometry(
        (
            FULL,
            Group("window", Kind.SLIDING_WINDOW, 4, drafted=True, window_tokens=6),
            STATE,
        ),
        4,
        drop=BlockDrop(DropCap.CLAMPED),
        retention=ReachOnly(),
        budget_tokens=64,
        pool_blocks=60,
    ),
    (
        Request("one", (Segment("a", 22),), 2),
        Request("again", (Segment("a", 22),), 2, arrival=After("one")),
        Request("longer", (Segment("a", 22), Segment("b", 9)), 2, arrival=After("again")),
        Request("sibling", (Segment("a", 15), Segment("c", 6)), 2, arrival=After("longer")),
    ),
    max_steps=60,
)
"""Only the window gives a page back: kept positions and hits are a page lower than attention's."""

SPANNING_ITEM = Scenario(
    "an encoded input over two chunks",
    Geometry((FULL,), 4, budget_tokens=64, pool_blocks=40),
    (
        Request("first", (Segment("a", 16),), 1, shares=(4, 8), encoder_items=(EncoderItem(6, 6),)),
        Request("spans", (Segment("b", 8),), 1, shares=(4,), encoder_items=(EncoderItem(2, 6),)),
        Request("too large", (Segment("c", 9),), 1, encoder_items=(EncoderItem(1, 7),)),
    ),
    encoder_budget_tokens=6,
    max_steps=40,
)
"""In step 1 `first` spends the budget; `spans` needs none, its input was encoded in step 0. An
input of more than the budget is refused."""

RESET_IN_FLIGHT = Scenario(
    "a reset between a hit and its completion",
    Geometry((FULL, STATE), 4, steps_in_flight=2, budget_tokens=64, pool_blocks=40),
    (
        Request("one", (Segment("a", 9),), 1),
        Request("again", (Segment("a", 9),), 1, arrival=AtStep(6)),
    ),
    actions=(ResetCache(7),),
    max_steps=60,
)
"""What a hit brought is not published again by the request that adopted it."""

SHARED_WINDOW = Scenario(
    "window pages with two readers",
    Geometry(
        (FULL, Group("window", Kind.SLIDING_WINDOW, 4, window_tokens=9)),
        4,
        budget_tokens=64,
        pool_blocks=28,
        max_model_tokens=64,
    ),
    (
        Request("one", (Segment("a", 13),), 1),
        Request("again", (Segment("a", 13),), 6, arrival=After("one")),
        Request("third", (Segment("a", 13),), 6, arrival=After("one")),
        Request("other", (Segment("b", 13),), 4, arrival=After("again", Moment.SCHEDULED)),
    ),
    max_steps=80,
)
"""Pages that two requests read count towards neither reservation, so `other` has to wait."""

HOLED_WINDOW = Scenario(
    "a window with a hole",
    Geometry(
        (
            FULL,
            Group("window", Kind.SLIDING_WINDOW, 4, drafted=True, window_tokens=6),
            Group("state", Kind.RECURRENT_STATE, 8),
        ),
        4,
        drop=BlockDrop(DropCap.CLAMPED),
        retention=Interval(8),
        budget_tokens=64,
        pool_blocks=60,
    ),
    (
        Request("one", (Segment("a", 18),), 1),
        Request("loads", (Segment("a", 34),), 1, arrival=After("one"), external_tokens=24),
        Request("again", (Segment("a", 34),), 1, arrival=After("loads")),
    ),
    max_steps=60,
)
"""`loads` brings its pages from 24 tokens on, so `again` finds pages 0 to 3, 6 and 7: a resume at
16 lacks only the page that is dropped."""

FULL_POOL = Scenario(
    "a keyed page before two empty ones",
    Geometry((FULL,), 4, budget_tokens=64, pool_blocks=5, max_model_tokens=64),
    (
        Request("one", (Segment("a", 8),), 5),
        Request("two", (Segment("b", 8),), 1, arrival=After("one")),
    ),
    actions=(ResetCache(2), Pressure(3, 1, 20)),
    max_steps=40,
)
"""`one` holds the whole pool and gives back a page with a key, then two that lost theirs: those are
taken first."""

SCENARIOS = (
    ENCODER_OF_A_VICTIM,
    COPY_OF_A_VICTIM,
    LENGTH_LIMIT,
    STATES_ALONE,
    STATES_DECODE,
    DRAFTED_WINDOW,
    SPANNING_ITEM,
    RESET_IN_FLIGHT,
    SHARED_WINDOW,
    HOLED_WINDOW,
    FULL_POOL,
)

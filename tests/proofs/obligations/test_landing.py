"""The landing that is proved about is what a lookup of the oracle really offers.

One prompt has been computed; a second request shares a part of it, or all. The steps of the reach
and joint obligations, run by CPython, give the match and the reach of every attention group, and
the offer, that the oracle writes into its trace.
"""

from math import gcd

from hypothesis import example, given, settings
from hypothesis import strategies as st

from truehit.proofs.obligations.landing import LANDING
from truehit.proofs.obligations.replay import Values, run_step
from truehit.reference.ruleset import DEFAULT
from truehit.reference.run import run
from truehit.spec.geometry import (
    BlockDrop,
    Drop,
    DropCap,
    Geometry,
    Group,
    Kind,
    Lookahead,
    NoDrop,
)
from truehit.spec.scenario import After, Moment, Request, Scenario
from truehit.spec.tokens import Segment
from truehit.spec.trace import Lookup

BLOCKS = st.sampled_from([1, 2, 3, 4, 6])
MARGIN = BlockDrop(DropCap.MARGIN)
CLAMPED = BlockDrop(DropCap.CLAMPED)
DROPS: st.SearchStrategy[Drop] = st.one_of(
    st.sampled_from([NoDrop(), CLAMPED, MARGIN]), st.integers(1, 4).map(Lookahead)
)


@st.composite
def geometries(draw: st.DrawFn) -> Geometry:
    """Coarse hits, one or two attention groups, one state group; somebody drops if anybody may."""
    drop = draw(DROPS)
    dropping = isinstance(drop, BlockDrop)
    blocks = draw(st.lists(BLOCKS, min_size=1, max_size=2))
    drafted = draw(st.sampled_from([{0, 1}, {0}, {len(blocks) - 1}])) if dropping else set()
    groups = tuple(
        Group(f"attention-{index}", Kind.FULL_ATTENTION, block, drafted=index in drafted)
        for index, block in enumerate(blocks)
    )
    state = Group("state", Kind.RECURRENT_STATE, draw(BLOCKS))
    return Geometry((*groups, state), gcd(*blocks, state.block_tokens), drop=drop)


def second_lookup(geometry: Geometry, prompt: int, shared: int, tail: int) -> Lookup:
    """What the oracle finds for `shared` tokens of a finished prompt and `tail` tokens more."""
    parts = (Segment("doc", shared), *((Segment("tail", tail),) if tail else ()))
    requests = (
        Request("first", (Segment("doc", prompt),), output_tokens=1),
        Request("second", parts, output_tokens=1, arrival=After("first", Moment.FINISHED)),
    )
    events = run(Scenario("landing", geometry, requests), DEFAULT).events
    (found,) = (e for e in events if isinstance(e, Lookup) and e.request == "second")
    return found


def landing(geometry: Geometry, shared: int, total: int) -> Values:
    """What the steps of the obligations compute; a single group stands for both."""
    attention = geometry.attention_groups
    one, other = attention[0], attention[-1]
    values: Values = {
        "shared": shared,
        "total": total,
        "lookahead": geometry.lookahead_tokens,
        "alignment": geometry.alignment_tokens,
        "margin": geometry.drop == MARGIN,
        "unit": geometry.lookup_unit_tokens(one),
        "other_unit": geometry.lookup_unit_tokens(other),
        "drop": geometry.drop_tokens(one),
        "other_drop": geometry.drop_tokens(other),
    }
    for step in LANDING:
        run_step(step, DEFAULT, values)
    return values


EQUAL = tuple(Group(name, Kind.FULL_ATTENTION, 4, drafted=True) for name in ("one", "two"))
STATE = Group("state", Kind.RECURRENT_STATE, 4)
NARROW = Group("narrow", Kind.FULL_ATTENTION, 2, drafted=True)
WIDE = Group("wide", Kind.FULL_ATTENTION, 6, drafted=True)
NARROW_STATE = Group("state", Kind.RECURRENT_STATE, 2)


@settings(max_examples=300, derandomize=True, deadline=None)
@given(
    geometry=geometries(),
    prompt=st.integers(1, 120),
    part=st.integers(0, 30),
    tail=st.integers(0, 20),
)
@example(Geometry((*EQUAL, STATE), 4, drop=MARGIN), 16, 0, 0)
@example(Geometry((*EQUAL, STATE), 4, drop=CLAMPED), 16, 0, 0)
@example(Geometry((*EQUAL, STATE), 4, drop=CLAMPED), 16, 0, 5)
@example(Geometry((*EQUAL, STATE), 4, drop=Lookahead(3)), 16, 1, 5)
@example(Geometry((NARROW, WIDE, NARROW_STATE), 2, drop=CLAMPED), 14, 0, 5)
@example(Geometry((WIDE, NARROW, NARROW_STATE), 2, drop=CLAMPED), 14, 0, 5)
def test_landing_is_the_offer_of_the_oracle(
    geometry: Geometry, prompt: int, part: int, tail: int
) -> None:
    """`part`: tokens of the prompt that the second request leaves out; one is always shared."""
    shared = max(prompt - part, 1)
    found = second_lookup(geometry, prompt, shared, tail)
    expected = landing(geometry, shared, shared + tail)
    reaches = {r.group: (r.match_tokens, r.reach_tokens) for r in found.reaches}
    one, other = geometry.attention_groups[0], geometry.attention_groups[-1]
    assert reaches[one.name] == (expected["match"], expected["resume"])
    assert reaches[other.name] == (expected["match_other"], expected["resume_other"])
    assert found.cap_tokens == expected["cap"]
    # A junction is an offer that no state reaches; without one the hit is the whole offer.
    assert (found.junction_tokens or found.hit_tokens) == expected["landing"]

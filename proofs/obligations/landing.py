"""One lookup as steps: the rules of the lookup, and the finder's arithmetic between them.

Two attention groups stand for any number: offers are minima over groups, and each is treated alike.
"""

from math import lcm

from truehit.proofs.obligations.obligation import Encoding, Step
from truehit.reference.rules import lookup
from truehit.spec.predicates import lookup as goals
from truehit.spec.units import floor_to

NO_DROP = {"drop": 0, "other_drop": 0}
ONE_UNIT = dict.fromkeys(("alignment", "unit", "other_unit", "state_block"), "unit")
NAMED_PAIRS = ((816, 1648), (4, 1568), (6, 16))
WIDEST_OF_THE_SWEEP = 12
"""Every shape of two blocks of which neither divides the other (lcm twice, three, four times one of
them) is among those up to 12; the named pairs are larger."""
SWEEP = tuple(
    (one, other)
    for one in range(4, WIDEST_OF_THE_SWEEP + 1, 2)
    for other in range(4, WIDEST_OF_THE_SWEEP + 1, 2)
    if one % other and other % one
)
UNEQUAL = (*NAMED_PAIRS, *SWEEP)


def drops(words: str, chain: tuple[str, ...], sizes: dict[str, str], other: str) -> list[Encoding]:
    """One encoding for each way to drop: nobody (with any lookahead), one group, both."""
    one, both = sizes | {"drop": "unit"}, sizes | {"drop": "unit", "other_drop": other}
    return [
        Encoding(f"{words}, no drop, any lookahead", chain, sizes, fixed=NO_DROP),
        Encoding(f"{words}, one group drops", chain, one, fixed={"other_drop": 0, "lookahead": 0}),
        Encoding(f"{words}, both drop", chain, both, fixed={"lookahead": 0}),
    ]


def unequal(attention: int, other: int) -> list[Encoding]:
    """Two blocks of which neither need divide the other, coarse hits."""
    sizes = {"unit": attention, "other_unit": other, "alignment": lcm(attention, other)}
    sizes |= {"state_block": other}
    words = f"blocks {attention} and {other}"
    return [
        Encoding(f"{words}, no drop", fixed=sizes | NO_DROP),
        Encoding(
            f"{words}, one drops",
            fixed=sizes | {"drop": attention, "other_drop": 0, "lookahead": 0},
        ),
        Encoding(
            f"{words}, both drop",
            fixed=sizes | {"drop": attention, "other_drop": other, "lookahead": 0},
        ),
    ]


ENCODINGS = (
    *drops("one unit for all (equal blocks, or fine hits)", ("unit",), ONE_UNIT, "unit"),
    *drops(
        "block | other block | alignment",
        ("unit", "other_unit", "alignment"),
        {"state_block": "other_unit"},
        "other_unit",
    ),
    *(encoding for pair in UNEQUAL for encoding in unequal(*pair)),
)
DOMAIN = (
    "all lengths; all equal blocks and all fine units, all blocks of which one divides the "
    "other, 816/1648, 4/1568, 6/16, and all even pairs up to 12 that do not divide; coarse, or "
    "fine with every key present; no drop with any lookahead, drop of one group or of both, "
    "clamped or with margin"
)
DROPPING = ENCODINGS[1]
PAIR = unequal(6, 16)[1]


# --- the finder's arithmetic between the rules ------------------------------------------------


def hashed_tokens(total: int, lookahead: int) -> int:
    """Tokens whose keys the request can compute."""
    return max(total - lookahead, 0)


def shared_bound(shared: int, lookahead: int, match_most: int) -> int:
    """How far a match may go: within the rule's limit and what an earlier request has filed."""
    return max(min(shared - lookahead, match_most), 0)


def landing_of(
    cap: int,
    hashed: int,
    shared: int,
    lookahead: int,
    alignment: int,
    resume: int,
    resume_other: int,
) -> int:
    """Where the groups land together, as the finder lowers its candidate group by group."""
    states = max(shared - lookahead, 0)
    position = floor_to(min(cap, hashed, states), alignment)
    return max(min(position, resume, resume_other), 0)


def group_steps(suffix: str, rename: dict[str, str]) -> tuple[Step, ...]:
    """The lookup of one attention group: limit, bound, match, and where it can resume."""
    most, bound, match = f"match_most{suffix}", f"bound{suffix}", f"match{suffix}"
    return (
        Step((most,), lookup.match_limit, rename),
        Step((bound,), shared_bound, {"match_most": most}),
        Step(
            (match,),
            floor_to,
            {"position_tokens": bound, "unit_tokens": rename.get("unit", "unit")},
        ),
        Step((f"resume{suffix}",), lookup.resume_limit, {"match": match, "limit": "cap", **rename}),
    )


CAP = (Step(("cap",), lookup.lookup_cap), Step(("hashed",), hashed_tokens))
OTHER_GROUP = {"unit": "other_unit", "drop": "other_drop"}
LANDING = (
    *CAP,
    *group_steps("", {}),
    *group_steps("_other", OTHER_GROUP),
    Step(("landing",), landing_of),
)
# The same steps for a second lookup, whose names all begin with `later_`.
LATER = {name: f"later_{name}" for step in LANDING for name in (*step.results, "total", "shared")}
LATER_LANDING = tuple(
    Step(
        tuple(LATER[name] for name in step.results),
        step.function,
        LATER | {own: LATER.get(read, read) for own, read in step.rename.items()},
    )
    for step in LANDING
)
OFFER = (
    Step(("reused_most",), goals.most_reused),
    Step(("expected",), goals.offer_of, {"limit": "reused_most"}),
)
RESUME = Step(("resume",), lookup.resume_limit, {"limit": "cap"})
LEGAL = (
    Step(("prompt_cap",), goals.most_reused, {"total": "shared"}),
    Step(("legal",), goals.offer_of, {"limit": "prompt_cap"}),
    Step(("extension",), goals.offer_of, {"limit": "shared"}),
)

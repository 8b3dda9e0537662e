"""S1, first half: a splitter on the wrong grid, and boundaries that a chunk runs over.

`OLD` takes the minimum block of all groups for the grid; `GRID` only repairs that; `HARD` also
stops at every boundary.
"""

from dataclasses import replace
from math import gcd

from truehit.proofs.golden.carving import carve
from truehit.proofs.golden.geometries import MTP, hybrid, rules, with_ring
from truehit.proofs.golden.registry import Note, Values, case
from truehit.proofs.golden.replay import unbroken_tokens
from truehit.proofs.golden.runs import books, doc, in_turn, sends
from truehit.reference.run import Run
from truehit.spec.formulas import legal
from truehit.spec.geometry import Geometry, Group, Kind
from truehit.spec.units import floor_to

OLD = "v-post-minimum-grid"
GRID = "v-post"
HARD = "v-hard"


def uneven() -> Geometry:
    """Attention 816 and state 1648 with hash unit 16 and fine hits."""
    return replace(hybrid(1648, 816), hash_unit_tokens=16, fine_hits=True)


def ringed() -> Geometry:
    """Block 1568 beside a circular buffer of 4, budget 2048."""
    return replace(with_ring(hybrid(1568), 4), budget_tokens=2048)


@case("G001-01", stated={"factors": {816: [16, 51], 1648: [16, 103]}})
def block_arithmetic() -> Values:
    geometry = replace(
        hybrid(1648),
        groups=(*hybrid(1648).groups, Group("drafter", Kind.FULL_ATTENTION, 816)),
        hash_unit_tokens=16,
    )
    unit = gcd(*(group.block_tokens for group in geometry.groups))
    common = geometry.lcm_tokens
    return {
        "min_block": geometry.minimum_block_tokens,
        "factors": {block: [unit, block // unit] for block in (816, 1648)},
        "lcm": common,
        "coincidences_below_lcm": sum(1 for end in range(816, common, 816) if end % 1648 == 0),
    }


@case("G001-02", stated={"lengths_8241_to_9887": "every carve is the stops and the prompt's end"})
def five_block_prompt() -> Values:
    geometry = replace(hybrid(1648, drop=MTP), budget_tokens=16384)
    stops = {
        rule_set: {
            tuple(carve(rules(rule_set), geometry, prompt)[:-1]) for prompt in range(8241, 9888)
        }
        for rule_set in (GRID, HARD)
    }
    served = {rule_set: sends(rule_set, geometry, 9000, 1)[0] for rule_set in (GRID, HARD)}
    whole = all(stops[each] == {served[each].stored} for each in (GRID, HARD))
    return {
        "V_post": served[GRID].stored,
        "V_hard": served[HARD].stored,
        "lengths_8241_to_9887": "every carve is the stops and the prompt's end" if whole else "no",
    }


@case("G001-03")
def uneven_grid_repeat_gets_nothing() -> Values:
    return {
        "old_grid_816_V_post": _carve_and_resend(OLD),
        "new_grid_1648_V_post": _carve_and_resend(GRID),
        "new_grid_V_hard": _carve_and_resend(HARD),
    }


def _carve_and_resend(rule_set: str) -> Values:
    first, second = sends(rule_set, uneven(), 8240, 2)
    return {"carve": first.carve, "resend_hit": second.hit}


@case("G001-04", stated={"old_16764": {8240: 8160, 16480: 16320}})
def uneven_grid_publishes_what_never_was() -> Values:
    old, hard = (in_turn(rule_set, uneven(), [doc(5000)]) for rule_set in (OLD, HARD))
    (slot,) = (claim for claim in books(old).claims if claim.column == 2)
    return {
        "old": {
            "carve": old.served[0].carve,
            "slot2_hashed": slot.tokens,
            "slot2_holds": slot.holds_tokens,
        },
        "fixed_V_hard": {
            "carve": hard.served[0].carve,
            "every_slot_correct": bool(books(hard).claims) and not books(hard).poison,
        },
        "old_16764": _poison(in_turn(OLD, uneven(), [doc(16764)])),
    }


def _poison(result: Run) -> dict[int, int | None]:
    """Published position -> what the block holds, where they differ."""
    return {claim.tokens: claim.holds_tokens for claim in books(result).poison}


@case(
    "G001-05",
    stated={"legal": 16480, "before_resumes_from": 16320},
    noted={
        "before_hit": Note(
            16480,
            "with the alignment that makes 16480 legal the old grid publishes 16480 over"
            " state@16320; it is 0 only where hits are multiples of 84048, and then the hit after"
            " the fix is 0 too",
        )
    },
)
def production_repeat() -> Values:
    geometry = with_ring(hybrid(1648), 816)
    before = in_turn(OLD, geometry, [doc(16764)] * 2)
    (resume,) = books(before).resumes
    return {
        "before_hit": before.served[1].hit,
        "before_resumes_from": unbroken_tokens(resume.holds),
        "after_hit": sends(HARD, geometry, 16764, 2)[1].hit,
        "legal": legal(geometry, 16764),
    }


@case("G001-06", stated={"formula": 7})
def cadence_of_15680() -> Values:
    result = in_turn(OLD, ringed(), [doc(15680)])
    slots = [claim.column for claim in books(result).claims]
    return {
        "old_nonnull_slots": len(slots),
        "of": 15680 // 1568,
        "formula": -(-15680 // 2048) - 1,
        "null_slots": [slot for slot in range(10) if slot not in slots],
        "chunks": len(result.served[0].carve),
    }


@case("G001-07", stated={"formula": 127})
def cadence_of_262144() -> Values:
    claims = books(in_turn(OLD, ringed(), [doc(262144)])).claims
    return {
        "old_nonnull_slots": len(claims),
        "of": 262144 // 1568,
        "formula": -(-262144 // 2048) - 1,
        "poisoned_slots_derived": sum(1 for claim in claims if not claim.true),
        "correct_slots_hold": [claim.holds_tokens for claim in claims if claim.true],
    }


@case("G001-08")
def positional_poison() -> Values:
    result = in_turn(OLD, ringed(), [doc(15680)] * 2)
    book = books(result)
    claims = book.of("r0")
    (resume,) = book.resumes
    first = claims[0]
    return {
        "slot": first.column,
        "holds": first.holds_tokens,
        "hashed_as": first.tokens,
        "mapping_15680": [[claim.tokens, claim.holds_tokens] for claim in claims],
        "resend_hit_buggy": result.served[1].hit,
        "resumed_state": unbroken_tokens(resume.holds),
    }


BUDGETS = (2048, 8192, 16384)
LENGTHS = (1, 1567, 1568, 1569, 3136, 3137, 7840, 8192, 14112, 15680, 15681)
LONG_LENGTHS = (40000, 262144, 898464, 900000)


@case(
    "G001-09",
    stated={"hit": {"sends": 45, "differ": 0}, "range": {"lengths": 1719, "differ": 0}},
)
def hit_law() -> Values:
    geometry = hybrid(1568)
    sent = {
        (prompt, budget): _resend(HARD, geometry, prompt, budget)
        for prompt in LENGTHS + LONG_LENGTHS
        for budget in BUDGETS
    }
    against = sum(1 for (prompt, _), hit in sent.items() if hit != floor_to(prompt - 1, 1568))
    around = [p for m in range(1568, 900_000, 1568) for p in (m - 1, m, m + 1)]
    illegal = sum(1 for prompt in around if legal(geometry, prompt) != floor_to(prompt - 1, 1568))
    return {
        "hit": {"sends": len(sent), "differ": against},
        "range": {"lengths": len(around), "differ": illegal},
        "sample": {
            prompt: sends(HARD, geometry, prompt, 2)[1].hit
            for prompt in (1568, 1569, 3136, 15680, 262144)
        },
    }


@case("G001-10")
def grid_alone_is_not_enough() -> Values:
    geometry = hybrid(1568)
    cases = [(1568 * i, budget) for i in range(1, 11) for budget in BUDGETS]
    failures = {
        rule_set: [
            (prompt, budget)
            for prompt, budget in cases
            if _resend(rule_set, geometry, prompt, budget) != legal(geometry, prompt)
        ]
        for rule_set in (GRID, HARD)
    }
    return {
        "V_post_grid_only_failures": len(failures[GRID]),
        "of": len(cases),
        "example": {
            "P": 3136,
            "budget": 8192,
            "hit": _resend(GRID, geometry, 3136, 8192),
            "legal": legal(geometry, 3136),
        },
        "V_hard_failures": len(failures[HARD]),
    }


def _resend(rule_set: str, geometry: Geometry, prompt: int, budget: int) -> int | None:
    return sends(rule_set, replace(geometry, budget_tokens=budget), prompt, 2)[1].hit


@case("G001-11")
def null_slots_at_every_budget() -> Values:
    hard, post = {}, {}
    chunks = {}
    for budget in (512, 1024, 2048, 4096, 8192, 16384):
        geometry = replace(hybrid(1568), budget_tokens=budget)
        (served,) = sends(HARD, geometry, 15680, 1)
        hard[budget] = 10 - len(served.stored)
        chunks[budget] = len(served.carve)
        post[budget] = 10 - len(sends(GRID, geometry, 15680, 1)[0].stored)
    return {
        "V_hard_null_slots": hard,
        "V_post_null_slots": {budget: post[budget] for budget in (4096, 8192, 16384)},
        "V_hard_chunks": {budget: chunks[budget] for budget in (512, 1024, 2048, 16384)},
    }

"""S2, second half: siblings, intervals, costs, and the sends that miss their legal hit."""

from dataclasses import replace

from truehit.proofs.golden.carving import carve
from truehit.proofs.golden.cases_s2_sends import BASE, HARD, PORT, drafted
from truehit.proofs.golden.geometries import MTP, hybrid, rules, sparse
from truehit.proofs.golden.registry import Values, case
from truehit.proofs.golden.runs import Prompt, doc, hits, in_turn, last_hit, sends, sibling
from truehit.spec.formulas import legal
from truehit.spec.geometry import Drop, Geometry, Interval, NoDrop
from truehit.spec.units import ceil_div

PARENT = doc(6400)
A = sibling(3400, 6400, "a")
B = sibling(5000, 6400, "b")
REACH = "v-hard-reach"


def _pairs(rule_set: str, geometry: Geometry, parents: int) -> dict[str, int | None]:
    """Each sibling on a cache of its own, after so many sends of the parent."""
    sent: list[Prompt] = [PARENT] * parents
    return {
        "A": last_hit(rule_set, geometry, [*sent, A]),
        "B": last_hit(rule_set, geometry, [*sent, B]),
    }


@case("G002-08")
def siblings_after_three_sends() -> Values:
    at_0 = sparse(drafted())
    return {
        "base_V_post": _pairs(BASE, drafted(), 3),
        "V_hard_dense": _pairs(HARD, drafted(), 3),
        "V_hard_retention0": _pairs(HARD, at_0, 3),
        "measured_live": {"base": _pairs(BASE, at_0, 3), "PR": _pairs(HARD, at_0, 3)},
    }


@case("G002-09")
def siblings_after_one_send() -> Values:
    at_0 = sparse(drafted())
    return {
        "base": _pairs(BASE, drafted(), 1),
        "V_hard_dense": _pairs(HARD, drafted(), 1),
        "V_hard_retention0": _pairs(HARD, at_0, 1),
        "measured_parent_once_then_B": {
            "base": _pairs(BASE, at_0, 1)["B"],
            "PR": _pairs(HARD, at_0, 1)["B"],
        },
    }


@case(
    "G002-15",
    stated={
        "before": {(block, drop): 0 for block in (544, 1600, 2128) for drop in ("off", "on")},
        "after": {
            (544, "off"): 1632,
            (544, "on"): 1088,
            (1600, "off"): 1600,
            (1600, "on"): 0,
            (2128, "off"): 0,
            (2128, "on"): 0,
        },
    },
)
def sparse_states() -> Values:
    prompts = [doc(4278), sibling(2000, 4278)]
    drops: dict[str, Drop] = {"off": NoDrop(), "on": MTP}
    cells = {
        (block, on): hybrid(block, drop=drops[on]) for block in (544, 1600, 2128) for on in drops
    }
    return {
        "before": {cell: last_hit(BASE, geometry, prompts) for cell, geometry in cells.items()},
        "after": {cell: last_hit(HARD, geometry, prompts) for cell, geometry in cells.items()},
    }


@case("G002-16", stated={"after_with_drop": 0})
def narrow_blocks() -> Values:
    prompts = [doc(4278), sibling(700, 4278)]
    return {
        "before": last_hit(BASE, hybrid(544), prompts),
        "after": last_hit(HARD, hybrid(544), prompts),
        "after_with_drop": last_hit(HARD, hybrid(544, drop=MTP), prompts),
    }


@case(
    "G002-18",
    stated={
        "dense_V_hard_chunks": {"not ceil(P/1600)": 0},
        "scan": 1082,
    },
)
def scheduling_cost() -> Values:
    at_0, dense = sparse(drafted()), drafted()
    prompts = range(1, 40001, 37)
    extra = {
        len(carve(rules(PORT), at_0, prompt)) - len(carve(rules(BASE), at_0, prompt))
        for prompt in prompts
    }
    unequal = sum(
        len(carve(rules(HARD), dense, prompt)) != ceil_div(prompt, 1600) for prompt in prompts
    )
    return {
        "retention0_extra_chunks": sorted(extra),
        "dense_V_hard_chunks": {"not ceil(P/1600)": unequal},
        "scan": len(prompts),
    }


@case("G002-19")
def negative_control_of_the_margin() -> Values:
    margin, zero = (sends(name, sparse(drafted()), 7292, 2) for name in (REACH, HARD))
    return {
        "margin_one_block": {
            "kept": margin[0].stored,
            "second_request_hit_blocks": (margin[1].hit or 0) // 1600,
        },
        "margin_zero": {"kept": zero[0].stored, "hit": zero[1].hit},
    }


@case("G002-22")
def contamination_by_a_shared_parent() -> Values:
    base, hard = (in_turn(name, drafted(), [PARENT, A, B]).served for name in (BASE, HARD))
    return {
        "base": dict(zip("AB", hits(base[1:]), strict=True)),
        "isolated_base_B": last_hit(BASE, drafted(), [PARENT, B]),
        "V_hard_dense": dict(zip("AB", hits(hard[1:]), strict=True)),
    }


@case("G002-23")
def positive_interval() -> Values:
    found = {}
    for interval in (3200, 4800):
        geometry = replace(drafted(), retention=Interval(interval))
        first, second = sends(PORT, geometry, 9000, 2)
        found[f"interval_{interval}"] = {"carve": first.carve, "resend_hit": second.hit}
    return found


LENGTHS = sorted(
    {m + d for m in range(1600, 12801, 1600) for d in (-1, 0, 1)}
    | {97 + 251 * i for i in range(51)}
)
"""75 lengths: every multiple of 1600 up to 12800, its neighbours, and 51 between."""

BUDGETS = (1600, 2048, 4096, 8192, 16384)


@case("G002-24")
def reachability() -> Values:
    dense = _misses(HARD, [hybrid(1600), hybrid(1600, drop=MTP)])
    reach = _misses(REACH, [sparse(hybrid(1600)), sparse(hybrid(1600, drop=MTP))])
    post = _misses(BASE, [hybrid(1600), hybrid(1600, drop=MTP)])
    cases = 2 * len(LENGTHS) * len(BUDGETS)
    example = replace(hybrid(1600), budget_tokens=4096)
    return {
        "V_hard_dense_or_R0_reach": {"cases": 2 * cases, "violations": len(dense) + len(reach)},
        "V_post_dense": {
            "cases": cases,
            "violations": len(post),
            "all_on": "P % 1600 == 0" if all(p % 1600 == 0 for p in post) else "any P",
            "example": {
                "drop": example.any_drop,
                "budget": 4096,
                "P": 3200,
                "hit": sends(BASE, example, 3200, 2)[1].hit,
                "legal": legal(example, 3200),
            },
        },
    }


def _misses(rule_set: str, geometries: list[Geometry]) -> list[int]:
    """The prompts whose second send misses the legal hit, once for every geometry and budget."""
    return [
        prompt
        for geometry in (replace(each, pool_blocks=64) for each in geometries)
        for budget in BUDGETS
        for prompt in LENGTHS
        if sends(rule_set, replace(geometry, budget_tokens=budget), prompt, 2)[1].hit
        != legal(geometry, prompt)
    ]

"""S4 by the splitters alone: what the repair costs, the window it changes, an older attempt."""

from dataclasses import replace
from itertools import product

from truehit.proofs.golden.carving import carve, query
from truehit.proofs.golden.cases_s4 import OFFSETS, POST, PRE, drafted
from truehit.proofs.golden.geometries import MTP, hybrid, rules
from truehit.proofs.golden.registry import Note, Values, case
from truehit.reference.rules.split import SplitQuery
from truehit.reference.rules.split_releases import (
    aligned_before_end,
    common_stops,
    first_inside,
    last_position,
    next_boundary,
)

BLOCKS = (16, 528, 544, 560, 1568, 1600, 1648, 2176)
SHARES = (16, 512, 1000, 1648, 2048, 3000, 4096, 8192)
PROMPTS = range(100, 8000, 157)
NAMES = ("V_pre", "V_post")


@case(
    "G004-04",
    stated={"finished_only_under": ["V_pre"]},
    noted={
        "gain": Note(
            [232, 2312],
            "the 85 configurations are not given; of our 8 blocks, 51 lengths and 8 shares both"
            " rules finish 2312, and 232 of these gain a snapshot",
        )
    },
)
def scheduling_cost() -> Values:
    both = extra = fewer = gain = 0
    alone: set[str] = set()
    for block, prompt, share in product(BLOCKS, PROMPTS, SHARES):
        geometry = hybrid(block, drop=MTP)
        pre, post = (carve(rules(name), geometry, prompt, share) for name in (PRE, POST))
        finished = [ends[-1:] == [prompt] for ends in (pre, post)]
        if not all(finished):
            alone |= {name for name, done in zip(NAMES, finished, strict=True) if done}
            continue
        kept, now = ({end for end in ends if end % block == 0} for ends in (pre, post))
        both += 1
        extra += len(post) > len(pre)
        fewer += not kept <= now
        gain += len(now) > len(kept)
    return {
        "extra_steps": extra,
        "fewer_snapshots": fewer,
        "gain": [gain, both],
        "finished_only_under": sorted(alone),
    }


@case("G004-05", stated={"size": 0, "below": 0})
def affected_window() -> Values:
    """`size` and `below`: lengths against the formula and the bound."""
    sizes = {
        (block, prompt): prompt - _last(block, prompt)
        for block in (16, 560, 1600)
        for prompt in range(block, 5 * block)
    }
    return {
        "size": sum(size != prompt % block + block for (block, prompt), size in sizes.items()),
        "below": sum(size >= 2 * block for (block, _), size in sizes.items()),
        "samples_B1600": {prompt: sizes[(1600, prompt)] for prompt in (3200, 4700, 6399)},
    }


def _last(block: int, prompt: int) -> int:
    return last_position(query(rules(PRE), hybrid(block, drop=MTP), prompt, 0, 1))


@case(
    "G004-06",
    stated={
        "V_pre_equals_V_post": {"chunks": 906, "differences": 0},
        "with_smaller_budgets": "they differ",
    },
)
def lone_request_is_unchanged() -> Values:
    chunks = differences = 0
    for block in (16, 560, 1600):
        geometry = replace(hybrid(block, drop=MTP), budget_tokens=16384)
        for prompt in range(40, 16384, 104):
            pre, post = (carve(rules(name), geometry, prompt) for name in (PRE, POST))
            chunks += len(pre)
            differences += pre != post
    partly = [carve(rules(name), hybrid(1600, drop=MTP), 2500, 2000) for name in (PRE, POST)]
    return {
        "V_pre_equals_V_post": {"chunks": chunks, "differences": differences},
        "with_smaller_budgets": "they differ" if partly[0] != partly[1] else "equal",
    }


@case("G004-07", stated={"P_lt_2B": [0]})
def last_below_two_blocks() -> Values:
    return {
        "P_lt_2B": sorted(
            {_last(block, prompt) for block in (16, 560, 1600) for prompt in range(1, 2 * block)}
        )
    }


def nested_stop(q: SplitQuery) -> int:
    """The older attempt: the stop of a misaligned start only below the last cache position."""
    end, last = aligned_before_end(q, q.start + q.offered), last_position(q)
    result = common_stops(q, end, last, False)
    if q.start % q.grid != 0 and q.start < last:
        result = first_inside(q.start, result, next_boundary(q))
    return max(result, q.start)


@case("G004-12", stated={"rule": {"crosses": [1601, 2531, 3011]}})
def nested_variant() -> Values:
    geometry = drafted(1600, 16)
    carves: dict[int, list[int]] = {}
    for offset in OFFSETS:
        carves[offset], start = [], offset
        while start < 4000:
            start = nested_stop(query(rules(POST), geometry, 4000, start, 4000 - start))
            carves[offset].append(start)
    crosses = [offset for offset, ends in carves.items() if ends[0] > (offset // 1600 + 1) * 1600]
    return {"stop_only_if_start_lt_last": carves, "rule": {"crosses": crosses}}

"""S0 by prompt length: which lone prompts poison their checkpoint, by the rules and by runs."""

from dataclasses import replace

from truehit.proofs.golden.carving import pieces
from truehit.proofs.golden.cases_s0 import BLOCK, BUGGY, FIXED
from truehit.proofs.golden.geometries import checkpointing, rules
from truehit.proofs.golden.registry import Values, case
from truehit.proofs.golden.runs import doc, in_turn, purity
from truehit.reference.rules.plan import NULL, PlanQuery, column_source_left, first_scratch
from truehit.spec.geometry import Geometry
from truehit.spec.units import running_column


def is_triggered(geometry: Geometry, prompt: int) -> bool:
    """By the rules: the final chunk leaves unwritten scratch at its checkpoint's own slot."""
    last = pieces(rules(BUGGY), geometry, prompt)[-1]
    if not last.checkpoint or last.start == 0:
        return False
    k, natural = geometry.drafts, last.checkpoint // BLOCK - 1
    length = running_column(last.start, BLOCK) + 1 + k
    plan = PlanQuery(length, k, k, running_column(last.end, BLOCK), 1)
    source = column_source_left(plan, natural)
    return source != NULL and first_scratch(plan) <= source < length


def windows(geometry: Geometry, lengths: range) -> list[list[int]]:
    """Runs of consecutive triggered lengths, exact to one token at their edges."""
    found: list[list[int]] = []
    for prompt in lengths:
        if not is_triggered(geometry, prompt):
            continue
        if found and prompt - found[-1][1] <= lengths.step:
            found[-1][1] = prompt
        else:
            found.append([prompt, prompt])
    return [[_edge(geometry, low, -1), _edge(geometry, high, 1)] for low, high in found]


def _edge(geometry: Geometry, inside: int, direction: int) -> int:
    while is_triggered(geometry, inside + direction):
        inside += direction
    return inside


LONE_WINDOWS = [[10881, 13056], [17409, 19584], [23937, 26112], [30465, 32640], [36993, 39168]]


@case(
    "G000-04",
    stated={
        "buggy": LONE_WINDOWS,
        "buggy_runs_at_the_edges": {"inside": "poison", "outside": "clean"},
    },
)
def lone_prompt_sent_twice() -> Values:
    geometry = checkpointing()
    found = windows(geometry, range(1, 40000, 32))
    inside = {edge for window in found for edge in window} | {24999}
    outside = {low - 1 for low, _ in found} | {high + 1 for _, high in found} | {4353, 6528}
    fixed = {_sent_twice(FIXED, prompt) for prompt in inside | outside}
    return {
        "buggy": found,
        "buggy_runs_at_the_edges": {
            "inside": " or ".join({_sent_twice(BUGGY, prompt) for prompt in inside}),
            "outside": " or ".join({_sent_twice(BUGGY, prompt) for prompt in outside}),
        },
        "fixed": "never" if fixed == {"clean"} else "poison",
    }


def _sent_twice(rule_set: str, prompt: int) -> str:
    return purity(in_turn(rule_set, checkpointing(), [doc(prompt)] * 2))


@case(
    "G000-05",
    stated={
        "k1": {"lengths": 413, "against_the_rule": 0},
        "kN": {2: 0, 3: 0, 4: 0},
        "windows_k2_and_k3_25k": {2: [23937, 27776], 3: [23937, 27776]},
    },
)
def general_trigger() -> Values:
    """k = 1: start == C - B; else start in {C - j*B, 1 <= j <= k}, never in the first chunk."""
    wide = range(22000, 30000, 16)
    return {
        "k1": {"lengths": len(SCANNED), "against_the_rule": _against_the_rule(1)},
        "kN": {k: _against_the_rule(k) for k in (2, 3, 4)},
        "windows_k2_and_k3_25k": {
            k: windows(replace(checkpointing(), drafts=k), wide)[0] for k in (2, 3)
        },
    }


SCANNED = range(1, 40000, 97)


def _against_the_rule(k: int) -> int:
    """Lengths where the plan leaves unwritten scratch and the rule says no, or the reverse."""
    geometry = replace(checkpointing(), drafts=k)
    count = 0
    for prompt in SCANNED:
        last = pieces(rules(BUGGY), geometry, prompt)[-1]
        below = {last.checkpoint - j * BLOCK for j in range(1, k + 1)}
        stated = last.checkpoint > 0 and last.start > 0 and last.start in below
        count += stated != is_triggered(geometry, prompt)
    return count


@case(
    "G000-07",
    stated={
        "buggy": {
            "6528 from 16000": 5,
            "8192 from 16000": 4,
            "8192 from 10000": 5,
            "8192 from 24000": 7,
        },
        "at_least_one": True,
        "fixed": 0,
    },
)
def length_sweep() -> Values:
    sweeps = [(6528, 16000), (8192, 16000), (8192, 10000), (8192, 24000)]
    buggy = {f"{period} from {base}": _poisoned(BUGGY, period, base) for period, base in sweeps}
    return {
        "buggy": buggy,
        "at_least_one": min(buggy.values()) >= 1,
        "fixed": sum(_poisoned(FIXED, period, base) for period, base in sweeps),
    }


def _poisoned(rule_set: str, period: int, base: int) -> int:
    """How many of 15 lengths spread over one period resume from poison on send 2."""
    lengths = [base + i * period // 15 for i in range(15)]
    return [_sent_twice(rule_set, length) for length in lengths].count("poison")

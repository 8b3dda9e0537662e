"""S1, second half: a stop at every boundary, what that does to chunk shapes; the worker's column.

`POST` stops from misaligned starts only, `HARD` at every boundary.
"""

from dataclasses import replace

from truehit.proofs.golden.carving import carve, query
from truehit.proofs.golden.geometries import MTP, checkpointing, hybrid, rules, with_ring
from truehit.proofs.golden.registry import Note, Values, case
from truehit.proofs.golden.runs import Prompt, books, doc, hits, in_turn, sibling
from truehit.proofs.golden.writers import digests
from truehit.reference.rules import split_releases
from truehit.reference.rules.seed import seed_column
from truehit.reference.ruleset import RuleSet
from truehit.reference.run import Run
from truehit.spec.geometry import Geometry, Group, Kind
from truehit.spec.geometry_checks import GeometryError, check
from truehit.spec.trace import EngineError, Publish

POST = "v-post"
HARD = "v-hard"
MINIMUM = "v-post-minimum-grid"
BLOCK = 1600


def drafted(block: int = BLOCK) -> Geometry:
    """Two drafts, dense retention, budget 8192."""
    return replace(hybrid(block, drop=MTP), drafts=2)


@case("G001-12", stated={"V_hard": "same chunk end", "scan": [7872, 0]})
def split_without_regard_to_the_drop() -> Values:
    geometry = drafted()
    prompts = [1 + 41 * i for i in range(328)]
    starts = [0, 331, 1600, 2531, 4800, 9601]
    amounts = [1600, 2048, 4096, 16384]
    count = differing = 0
    for prompt in prompts:
        for start in starts:
            for offered in amounts:
                asked = query(rules(HARD), geometry, prompt, start, offered)
                on = split_releases.stop_every_boundary(replace(asked, backing_off=True))
                off = split_releases.stop_every_boundary(replace(asked, backing_off=False))
                count += 1
                differing += on != off
    return {
        "V_hard": "same chunk end" if differing == 0 else "depends",
        "scan": [count, differing],
    }


@case("G001-13", stated={"rule": "holds for all P < 3B"})
def chunk_shape_threshold() -> Values:
    geometry = drafted()
    carves = {prompt: carve(rules(POST), geometry, prompt) for prompt in range(1, 3 * BLOCK)}
    split = [prompt for prompt, ends in carves.items() if len(ends) > 1]
    holds = all(
        ends == ([prompt] if prompt < 2 * BLOCK else [BLOCK, prompt])
        for prompt, ends in carves.items()
    )
    return {"threshold": split[0], "rule": "holds for all P < 3B" if holds else "fails"}


def contaminated(rule_set: str, first: Prompt, second: Prompt, times: int) -> Run:
    """A once, then B so many times."""
    return in_turn(rule_set, drafted(), [first, *[second] * times])


def verdict(result: Run) -> str:
    """PASS iff all of B's prefills used entries of equal chunk shapes."""
    found = digests(result)
    return "PASS" if len({found[each.name] for each in result.served[1:]}) == 1 else "FAIL"


@case("G001-14")
def a_then_b() -> Values:
    cells = ((3196, 3259), (3205, 3259), (3097, 3160), (3205, 3160))
    return {"rows": [_cell(a, b) for a, b in cells]}


def _cell(a: int, b: int) -> Values:
    prompts = sibling(3002, a, "a"), sibling(3002, b, "b")
    post, hard = (contaminated(rule_set, *prompts, 4) for rule_set in (POST, HARD))
    found = [hits(result.served[1:]) for result in (post, hard)]
    return {
        "A": a,
        "B": b,
        "V_post": verdict(post),
        "V_hard": verdict(hard),
        "B_hits": found[0] if found[0] == found[1] else found,
        "A_carve_V_post": post.served[0].carve,
    }


@case("G001-15", stated={"V_post": "FAIL", "V_hard": ["PASS", 10]})
def original_reproducer() -> Values:
    prompts = sibling(3002, 3169, "a"), sibling(3002, 3227, "b")
    post, hard = (contaminated(rule_set, *prompts, 10) for rule_set in (POST, HARD))
    return {
        "V_post": verdict(post),
        "V_hard": [verdict(hard), len(hard.served) - 1],
        "full_blocks": {tokens: _full_blocks(tokens) for tokens in (3169, 3227)},
    }


def _full_blocks(tokens: int) -> int:
    """Attention pages a prompt publishes."""
    events = in_turn(POST, drafted(), [doc(tokens)]).events
    return sum(len(e.keys) for e in events if isinstance(e, Publish) and e.group == "attention")


PAIRS = {
    (3091, 3308): 1680,
    (3086, 3267): 3002,
    (3307, 3371): 3002,
    (4689, 4870): 3696,
    (3264, 3346): 3002,
}
"""A and B -> tokens they share, chosen from the document prefixes of the thread."""

STRICT = {
    "3091/3308": "diverges",
    "3086/3267": "diverges",
    "3307/3371": "stable",
    "4689/4870": "diverges",
    "3264/3346": "stable",
}


@case(
    "G001-16",
    stated={"coarse_rule": {**STRICT, "4689/4870": "stable"}},
    noted={
        "measured": Note(
            STRICT,
            "the two that were measured as stable read entries of another chunk shape, which"
            " low-entropy text need not show; the digest compares shapes, not numbers",
        )
    },
)
def earlier_pairs() -> Values:
    coarse, strict = {}, {}
    for (a, b), shared in PAIRS.items():
        result = contaminated(POST, sibling(shared, a, "a"), sibling(shared, b, "b"), 4)
        hit = any(hits(result.served[1:]))
        diverges = a < 2 * BLOCK and shared >= BLOCK and hit
        coarse[f"{a}/{b}"] = "diverges" if diverges else "stable"
        strict[f"{a}/{b}"] = "diverges" if verdict(result) == "FAIL" else "stable"
    lengths = {tokens for pair in PAIRS for tokens in pair}
    return {
        "full_blocks": {tokens: _full_blocks(tokens) for tokens in lengths},
        "measured": strict,
        "coarse_rule": coarse,
    }


@case(
    "G001-17",
    stated={
        "grid_min_vs_grid_mamba": "equal events",
        "V_hard_vs_V_post": {"differ_below_2B": 0, "differ_from_2B": True},
    },
)
def equal_geometry_control() -> Values:
    geometry = hybrid(1648)
    below, from_2b = (_differing_carves(geometry, budget) for budget in (2 * 1648 - 1, 2 * 1648))
    return {
        "grid_min_vs_grid_mamba": _compare(MINIMUM, POST, geometry),
        "V_hard_vs_V_post": {"differ_below_2B": below, "differ_from_2B": from_2b > 0},
    }


def _differing_carves(geometry: Geometry, budget: int) -> int:
    """Lengths that the two splitters cut differently."""
    return sum(
        carve(rules(HARD), geometry, prompt, budget) != carve(rules(POST), geometry, prompt, budget)
        for prompt in range(1, 20000, 103)
    )


def _compare(first: str, second: str, geometry: Geometry) -> str:
    """Two sends of several lengths under two rule sets: every event but the header."""
    for prompt in (1000, 1648, 5000, 8240, 16764):
        one, two = (in_turn(rule_set, geometry, [doc(prompt)] * 2) for rule_set in (first, second))
        if one.events[1:] != two.events[1:]:
            return "different events"
    return "equal events"


@case("G001-18", stated={"result": "refused: field, both numbers"})
def unequal_state_blocks() -> Values:
    refused = all(
        _refusal(first, second) for first, second in ((1600, 544), (1568, 1600), (2176, 2304))
    )
    return {"result": "refused: field, both numbers" if refused else "accepted"}


def _refusal(first: int, second: int) -> bool:
    groups = (*hybrid(first).groups, Group("other", Kind.RECURRENT_STATE, second))
    try:
        check(replace(hybrid(first), groups=groups))
    except GeometryError as error:
        return all(word in str(error) for word in ("block_tokens", str(first), str(second)))
    return False


@case("G001-19", stated={"V_hard_checkpoint": [22350, 19584], "non_checkpoint": [19584, 19584]})
def checkpoint_chunks_run_on() -> Values:
    exporting = checkpointing()
    plain = replace(exporting, checkpoint_alignment_tokens=None)
    return {
        "V_hard_checkpoint": [_end(rules("v-hard-back-off"), exporting), _checkpoint(exporting)],
        "non_checkpoint": [_end(rules(name), plain) for name in ("v-hard", "v-hard-back-off")],
    }


def _end(rule_set: RuleSet, geometry: Geometry) -> int:
    """The end of the target's final chunk of G000-01."""
    return carve(rule_set, geometry, 22350, start=17408)[0]


def _checkpoint(geometry: Geometry) -> int:
    return split_releases.release_checkpoint(query(rules(HARD), geometry, 22350, 17408, 4942))


@case(
    "G001-20",
    stated={
        "symptom": "column 99 of a table of 2 columns",
        "block_1648": {"correct_column": 9, "wrong_column_816": 20},
    },
)
def column_seeded_in_the_wrong_block() -> Values:
    geometry = with_ring(hybrid(BLOCK), 16)
    result = in_turn("seed-minimum-block", geometry, [doc(3000)] * 2)
    (error,) = (event for event in result.events if isinstance(event, EngineError))
    right = in_turn("default", geometry, [doc(3000)] * 2)
    (resume,) = books(right).resumes
    return {
        "correct_column": resume.column,
        "wrong_column_16": seed_column(BLOCK, 16),
        "wrong_column_8": seed_column(BLOCK, 8),
        "table_columns": resume.width,
        "symptom": error.message,
        "block_1648": {
            "correct_column": seed_column(16480, 1648),
            "wrong_column_816": seed_column(16480, 816),
        },
    }


@case("G001-21", stated={"rule": {"raised": "equal events", "not_raised": "different events"}})
def raised_attention_block() -> Values:
    finer = replace(hybrid(1648, 816), hash_unit_tokens=16, fine_hits=True)
    page = max(group.block_tokens for group in finer.groups)
    raised = replace(
        finer, groups=tuple(replace(group, block_tokens=page) for group in finer.groups)
    )
    return {
        "rule": {
            "raised": _compare(MINIMUM, POST, raised),
            "not_raised": _compare(MINIMUM, POST, finer),
        }
    }


@case("G001-22", stated={"bound": {"below": BLOCK, "all_within": True, "some_stale": True}})
def stale_by_less_than_a_block() -> Values:
    lags = []
    for ring in (8, 16):
        for budget in (1024, 2048, 4096):
            geometry = replace(with_ring(hybrid(BLOCK), ring), budget_tokens=budget)
            for prompt in (5000, 16764, 40000):
                for claim in books(in_turn(MINIMUM, geometry, [doc(prompt)])).claims:
                    lags.append(claim.tokens - (claim.holds_tokens or 0))
    return {
        "bound": {
            "below": BLOCK,
            "all_within": all(0 <= lag < BLOCK for lag in lags),
            "some_stale": any(lags),
        }
    }

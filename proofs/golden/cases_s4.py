"""S4: past the last cache position any chunk end was accepted and published as a boundary.

`PRE` aligns below that position only, `POST` everything but the end of the prefill.
"""

from dataclasses import replace

from truehit.proofs.golden.geometries import MTP, hybrid
from truehit.proofs.golden.registry import Values, case
from truehit.proofs.golden.replay import unbroken_tokens
from truehit.proofs.golden.runs import books, doc, in_turn, run_under
from truehit.reference.run import Run
from truehit.spec.geometry import Geometry
from truehit.spec.scenario import Request, Scenario
from truehit.spec.tokens import Segment
from truehit.spec.trace import Schedule

PRE = "v-pre"
POST = "v-post"


def drafted(block: int, attention: int) -> Geometry:
    """Three drafts, dense retention, budget 8192."""
    return replace(hybrid(block, attention, MTP), drafts=3)


def poisoned(result: Run) -> list[dict[str, int | None]]:
    """What is published and what the block holds, where they differ."""
    return [{"hashed": claim.tokens, "holds": claim.holds_tokens} for claim in books(result).poison]


@case("G004-01")
def four_prompts_in_one_step() -> Values:
    pre, post = (_crowded_step(rule_set) for rule_set in (PRE, POST))
    (claim,) = books(pre).poison
    return {
        "V_pre": {
            "target_carve": pre.served[-1].carve,
            f"slot{claim.column}": {"hashed": claim.tokens, "holds": claim.holds_tokens},
        },
        "V_post": {
            "target_carve": post.served[-1].carve,
            "poison": "none" if not books(post).poison else "some",
        },
    }


def _crowded_step(rule_set: str) -> Run:
    requests = tuple(
        Request(name, (Segment(name, tokens),))
        for name, tokens in (("one", 3199), ("two", 3199), ("three", 1430), ("target", 2500))
    )
    return run_under(rule_set, Scenario("crowded step", drafted(1600, 16), requests))


@case("G004-02", stated={"lengths_3921_to_4479": True})
def audited_poison() -> Values:
    pre, post = (_shared_steps(rule_set, 4200) for rule_set in (PRE, POST))
    (claim,) = books(pre).poison
    found = {"hashed": 3920, "holds": 3662}
    return {
        "slot": claim.column,
        "hashed": claim.tokens,
        "holds": claim.holds_tokens,
        "V_pre_carve": pre.served[0].carve,
        "V_post_carve": post.served[0].carve,
        "lengths_3921_to_4479": all(
            poisoned(_shared_steps(PRE, prompt)) == [found]
            for prompt in (3921, 4000, 4300, 4400, 4479)
        ),
    }


def _shared_steps(rule_set: str, prompt: int) -> Run:
    """The steps leave 3360, 302 and then all tokens."""
    return in_turn(rule_set, drafted(560, 16), [doc(prompt)], budgets=(3360, 302))


OFFSETS = (331, 1599, 1601, 2531, 3011)


@case(
    "G004-03",
    stated={"verdicts_of_3300_4000_4700_partial_hits_off_and_on": "equal"},
)
def unaligned_resumes() -> Values:
    fine = replace(drafted(1600, 16), fine_hits=True)
    verdicts = {
        (rule_set, prompt, geometry.fine_hits): _verdicts(rule_set, geometry, prompt)
        for rule_set in (PRE, POST)
        for prompt in (3300, 4000, 4700)
        for geometry in (drafted(1600, 16), fine)
    }
    equal = all(found == verdicts[(name, 4000, False)] for (name, _, _), found in verdicts.items())
    return {
        "V_pre": verdicts[(PRE, 4000, False)],
        "V_post": verdicts[(POST, 4000, False)],
        "carves_P4000": {
            "V_pre": {offset: _carve_from(PRE, offset) for offset in OFFSETS},
            "V_post": {offset: _carve_from(POST, offset) for offset in OFFSETS[2:]},
        },
        "verdicts_of_3300_4000_4700_partial_hits_off_and_on": "equal" if equal else "unequal",
    }


def _verdicts(rule_set: str, geometry: Geometry, prompt: int) -> dict[int, str]:
    return {
        offset: "fail" if books(_resumed(rule_set, geometry, prompt, offset)).poison else "ok"
        for offset in OFFSETS
    }


def _carve_from(rule_set: str, offset: int) -> tuple[int, ...]:
    return _resumed(rule_set, drafted(1600, 16), 4000, offset).served[0].carve


def _resumed(rule_set: str, geometry: Geometry, prompt: int, offset: int) -> Run:
    """The first `offset` tokens come from outside."""
    request = Request("resumed", doc(prompt), external_tokens=offset)
    return run_under(rule_set, Scenario("resumed", geometry, (request,)))


@case(
    "G004-08",
    stated={
        "running": {"long": 0, "short": 500},
        "waiting": {"long": 0, "short": None},
    },
)
def a_deferral_is_zero() -> Values:
    long = Request("long", (Segment("long", 6400),))
    short = Request("short", (Segment("short", 500),))
    running = _steps((3200, 900), (long, short))
    waiting = _steps((900,), (long, short))
    return {
        "result": waiting[0]["long"],
        "running": {name: running[1].get(name) for name in ("long", "short")},
        "waiting": {name: waiting[0].get(name) for name in ("long", "short")},
    }


def _steps(budgets: tuple[int, ...], requests: tuple[Request, ...]) -> list[dict[str, int]]:
    """Tokens scheduled to each request that was considered, step by step."""
    scenario = Scenario("deferral", hybrid(1600), requests, budgets=budgets)
    found: list[dict[str, int]] = [{} for _ in budgets]
    for event in run_under(POST, scenario).events:
        if isinstance(event, Schedule) and event.step < len(budgets):
            found[event.step][event.request] = event.end - event.start
    return found


@case("G004-09")
def starvation() -> Values:
    pre = {budget: _small_shares(PRE, budget) for budget in (8192, 1000)}
    post = {budget: _small_shares(POST, budget) for budget in (8192, 1000)}
    (poison,) = poisoned(pre[1000])
    stuck = post[8192].served[0]
    return {
        "max_chunk_8192": {
            "V_pre": pre[8192].served[0].carve,
            "V_post": "never" if stuck.ended is None and not stuck.carve else stuck.carve,
        },
        "max_chunk_1000": {
            "V_pre": pre[1000].served[0].carve,
            "V_pre_poison": poison,
            "V_post_with_subblock_rule": post[1000].served[0].carve,
        },
    }


def _small_shares(rule_set: str, budget: int) -> Run:
    """3000 tokens at 1000 a step."""
    geometry = replace(drafted(1600, 16), budget_tokens=budget)
    request = Request("long", doc(3000), shares=(1000,) * 100)
    return run_under(rule_set, Scenario("small shares", geometry, (request,)))


@case("G004-10")
def pruning_only_hides() -> Values:
    prompts = [doc(4200), doc(4200), doc(6000), doc(4500)]
    result = in_turn(PRE, drafted(560, 560), prompts, budgets=(3360, 302))
    (poison,) = poisoned(result)
    _, resend, longer, last = result.served
    resume = next(each for each in books(result).resumes if each.request == last.name)
    return {
        "S_poison": poison,
        "resend_hit": resend.hit,
        "long6000_hit": longer.hit,
        "len4500_hit": last.hit,
        "len4500_resumes_from": unbroken_tokens(resume.holds),
    }

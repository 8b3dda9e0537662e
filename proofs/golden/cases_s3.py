"""S3: keep what a dropped lookup can land on, one alignment unit below the boundary.

`EDGE` keeps the boundary only, `REACH` that unit below it too; both stop at every boundary.
"""

from dataclasses import replace

from truehit.proofs.golden.geometries import MTP, hybrid, rules, sparse, with_state_groups
from truehit.proofs.golden.registry import Values, case
from truehit.proofs.golden.runs import doc, in_turn, run_under, sends
from truehit.reference import decide
from truehit.reference.rules import retain
from truehit.reference.rules.lookup import ResumeQuery, resume_limit
from truehit.reference.run import Run
from truehit.spec.formulas import match_query, match_tokens
from truehit.spec.geometry import Geometry, NoDrop
from truehit.spec.scenario import After, AtStep, Request, Scenario
from truehit.spec.trace import Lookup
from truehit.spec.units import floor_to

EDGE = "v-hard"
REACH = "v-hard-reach"


def _kept(rule_set: str, geometry: Geometry, prompt: int) -> set[int]:
    """The named kept positions of a prompt; 0 is none."""
    kept = decide.kept_positions(rules(rule_set), geometry, prompt, 0)
    return {kept.replay, kept.extend} - {0}


@case("G003-01", stated={"state_groups_alone": [6912, 6912, 6912]})
def identical_resend() -> Values:
    geometry = with_state_groups(sparse(replace(hybrid(2304, drop=MTP), drafts=3)), 3)
    before, after = (in_turn(name, geometry, [doc(8901)] * 2) for name in (EDGE, REACH))
    lookup = [event for event in before.events if isinstance(event, Lookup)][1]
    alone = [r.reach_tokens for r in lookup.reaches if r.group.startswith("state")]
    (attention,) = (r.reach_tokens for r in lookup.reaches if r.group == "attention")
    return {
        "mamba_per_group": alone[0],
        "state_groups_alone": alone,
        "attention_after_drop": attention,
        "reconciled_before": before.served[1].hit,
        "reconciled_after": after.served[1].hit,
    }


@case("G003-02")
def replay_of_127_tokens() -> Values:
    geometry = sparse(replace(hybrid(32, drop=MTP), drafts=3))
    first, second = sends(REACH, geometry, 127, 2)
    hit = second.hit or 0
    query = _keep_query(geometry, 127)
    return {
        "before": sends(EDGE, geometry, 127, 2)[1].hit,
        "after_blocks": hit // 32,
        "after_tokens": hit,
        "replay_boundary": retain.replay_boundary(query),
        "must_be_cached_block_index": min(first.stored) // 32 - 1,
    }


def _keep_query(geometry: Geometry, prompt: int) -> retain.KeepQuery:
    drop = max(geometry.drop_tokens(group) for group in geometry.attention_groups)
    grid = geometry.state_groups[0].block_tokens
    return retain.KeepQuery(prompt, geometry.alignment_tokens, grid, 0, 0, drop, False)


@case(
    "G003-03",
    stated={
        "hits": {"margin_block": 0, "margin_block_with_a_stop_at_80": 0, "margin_alignment": 64}
    },
)
def block_differs_from_alignment() -> Values:
    wrong, right = "v-post-margin-state-block", "v-post-reach"
    plain, extra = (64, 32, 31), (64, 16, 16, 31)
    first, stopped, fixed = (
        _two_sends(rule_set, shares)
        for rule_set, shares in ((wrong, plain), (wrong, extra), (right, plain))
    )
    added = set(_slots(stopped)) - set(_slots(first))
    return {
        "first_cut_keeps": _slots(first),
        "required": _slots(fixed),
        "wrong_step_would_add": added.pop() if len(added) == 1 else added,
        "hits": {
            "margin_block": first.served[1].hit,
            "margin_block_with_a_stop_at_80": stopped.served[1].hit,
            "margin_alignment": fixed.served[1].hit,
        },
    }


def _two_sends(rule_set: str, shares: tuple[int, ...]) -> Run:
    """127 tokens in the given chunks, and again."""
    geometry = sparse(replace(hybrid(16, 32, MTP), drafts=3))
    first = Request("first", doc(127), arrival=AtStep(0), shares=shares)
    again = Request("again", doc(127), arrival=After("first"))
    return run_under(rule_set, Scenario("two sends", geometry, (first, again)))


def _slots(result: Run) -> list[int]:
    """State columns the first send published."""
    return [tokens // 16 - 1 for tokens in sorted(result.served[0].stored)]


@case(
    "G003-04",
    stated={
        "drop": {"min(alignment, attention_block)": True, "then floored to the alignment": True},
        "identical_unit": {
            "alignment > block": True,
            "alignment == block": True,
            "alignment < block": True,
        },
    },
)
def drop_rule() -> Values:
    fine = replace(hybrid(64, drop=MTP), hash_unit_tokens=16, fine_hits=True)
    relations = {
        "alignment > block": hybrid(64, 16, MTP),
        "alignment == block": hybrid(64, drop=MTP),
        "alignment < block": fine,
    }
    every = tuple(relations.values())
    return {
        "drop": {
            "min(alignment, attention_block)": all(_drop_is_minimum(each) for each in every),
            "then floored to the alignment": all(_lands_floored(each) for each in every),
        },
        "identical_unit": {name: _one_unit(each) for name, each in relations.items()},
        "counterexample_to_always_one_unit": _match_beyond_the_boundary(),
    }


def _drop_is_minimum(geometry: Geometry) -> bool:
    group = geometry.attention_groups[0]
    return geometry.drop_tokens(group) == min(geometry.alignment_tokens, group.block_tokens)


def _landing(geometry: Geometry, match: int, limit: int) -> int:
    drop = geometry.drop_tokens(geometry.attention_groups[0])
    return resume_limit(ResumeQuery(match, limit, drop, geometry.alignment_tokens))


def _lands_floored(geometry: Geometry) -> bool:
    """Of every match, below any limit."""
    drop, unit = geometry.drop_tokens(geometry.attention_groups[0]), geometry.alignment_tokens
    return all(
        _landing(geometry, match, 1000) == floor_to(max(match - drop, 0), unit)
        for match in range(0, 1000)
    )


def _one_unit(geometry: Geometry) -> bool:
    """The kept margin is one alignment unit; a match that ends on the boundary lands there."""
    unit = geometry.alignment_tokens
    for prompt in range(2 * unit + 1, 1000):
        query = _keep_query(geometry, prompt)
        boundary, margin = retain.replay_boundary(query), retain.margin_alignment(query)
        if boundary - margin != unit or _landing(geometry, boundary, prompt - 1) != margin:
            return False
    return True


def _match_beyond_the_boundary() -> Values:
    geometry = hybrid(1600, 16, MTP)
    group = geometry.attention_groups[0]
    match = match_tokens(match_query(geometry, group, 4700, 4699))
    return {
        "attention_block": group.block_tokens,
        "alignment": geometry.alignment_tokens,
        "P": 4700,
        "match": match,
        "after_drop": _landing(geometry, match, 4699),
        "boundary": retain.replay_boundary(_keep_query(geometry, 4700)),
    }


@case("G003-05", stated={"first_cut_on_attention_only": {"first_cut": 0, "fixed": 64}})
def whose_bit_decides() -> Values:
    bits = {
        "fallback_all": (True, True, True),
        "attention_only": (True, False, False),
        "both": (True, True, False),
        "none": (False, False, False),
    }
    return {
        "group_bits": {
            name: "keep" if len(_kept(REACH, _annotated(drafted), 127)) > 1 else "dont"
            for name, drafted in bits.items()
        },
        "first_cut_on_attention_only": {
            "first_cut": sends("margin-own-bit", _annotated(bits["attention_only"]), 127, 2)[1].hit,
            "fixed": sends(REACH, _annotated(bits["attention_only"]), 127, 2)[1].hit,
        },
    }


def _annotated(drafted: tuple[bool, ...]) -> Geometry:
    """Attention and two state groups, each with its own draft bit."""
    base = with_state_groups(sparse(replace(hybrid(32, drop=MTP), drafts=3)), 2)
    groups = tuple(
        replace(group, drafted=bit) for group, bit in zip(base.groups, drafted, strict=True)
    )
    return replace(base, groups=groups, drop=MTP if any(drafted) else NoDrop())


@case("G003-06", stated={"runs": {"most_extra": 1, "without_spec": 0}})
def memory_cost() -> Values:
    drafted, plain = sparse(hybrid(32, drop=MTP)), sparse(hybrid(32))
    return {
        "extra_state_pages_per_request_max": max(_extra_kept(drafted, p) for p in range(1, 2000)),
        "without_spec": max(_extra_kept(plain, prompt) for prompt in range(1, 2000)),
        "runs": {
            "most_extra": max(_extra_stored(drafted, prompt) for prompt in range(1, 200, 7)),
            "without_spec": max(_extra_stored(plain, prompt) for prompt in range(1, 200, 7)),
        },
    }


def _extra_kept(geometry: Geometry, prompt: int) -> int:
    return len(_kept(REACH, geometry, prompt)) - len(_kept(EDGE, geometry, prompt))


def _extra_stored(geometry: Geometry, prompt: int) -> int:
    edge, reach = (sends(name, geometry, prompt, 1)[0].stored for name in (EDGE, REACH))
    return len(reach) - len(edge)

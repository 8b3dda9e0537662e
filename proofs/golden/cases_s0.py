"""S0: an unwritten scratch block is registered under the checkpoint's key (block 2176, one draft).

`BUGGY` leaves old scratch in place in checkpoint steps, `FIXED` moves it. The kept positions are
the boundary and one alignment below it, so that the checkpoint's own position is among them, as in
the releases concerned.
"""

from dataclasses import dataclass, replace

from truehit.proofs.golden.geometries import checkpointing
from truehit.proofs.golden.registry import Values, case
from truehit.proofs.golden.runs import books, purity, run_under
from truehit.reference.rules.plan import (
    PlanQuery,
    estimate_counting_scratch,
    fresh_blocks,
    fresh_blocks_left,
)
from truehit.reference.run import Run
from truehit.spec.geometry import Geometry
from truehit.spec.scenario import After, Request, Scenario
from truehit.spec.tokens import Segment
from truehit.spec.trace import Schedule, Table, TableOp, Write

BLOCK = 2176
BUGGY = "v-post-reach-scratch-left"
FIXED = "v-post-reach"
COUNTED = "v-post-reach-scratch-counted"
TARGET = 22350
FINAL_STEP = PlanQuery(length=9, scratch=1, drafts=1, running=10, checkpoint=1)


def collision(rule_set: str, first: int, geometry: Geometry) -> Run:
    """A target waits for what the first request leaves of the budget; then it is sent again."""
    requests = (
        Request("first", (Segment("first", first),), output_tokens=64),
        Request("target", (Segment("target", TARGET),)),
        Request("again", (Segment("target", TARGET),), arrival=After("target")),
    )
    return run_under(rule_set, Scenario("collision", geometry, requests))


@case(
    "G000-01",
    stated={
        "buggy": {"L_le_23424": "poison", "L_23425": "clean", "L_23440": "clean"},
        "poisoned_on_a_scan_of_16": [21264, 23424],
        "lower_edge": {21248: "clean", 21249: "poison"},
    },
)
def trigger_threshold() -> Values:
    geometry = checkpointing()
    runs = {first: collision(BUGGY, first, geometry) for first in (23424, 23425, 23440)}
    fixed = {purity(collision(FIXED, first, geometry)) for first in runs}
    scan = range(19600, 23600, 16)
    poisoned = [first for first in scan if books(collision(BUGGY, first, geometry)).poison]
    return {
        "buggy": {
            "L_le_23424": purity(runs[23424]),
            "L_23425": purity(runs[23425]),
            "L_23440": purity(runs[23440]),
        },
        "fixed": " or ".join(sorted(fixed)),
        "carves": {
            f"L_{first}": {
                "first": runs[first].served[0].carve,
                "target": runs[first].served[1].carve,
            }
            for first in (23424, 23440)
        },
        "poisoned_on_a_scan_of_16": [poisoned[0], poisoned[-1]],
        "lower_edge": {
            first: purity(collision(BUGGY, first, geometry)) for first in (21248, 21249)
        },
    }


@case(
    "G000-02",
    stated={
        "buggy": {
            "blocks_from_slot_7": ["running", "unwritten", "checkpoint", "running", "unwritten"],
            "hash_19584": ["slot 8", "slot 9"],
            "lookup_returns": "slot 8",
        },
        "fixed": {"slot8": None, "hash_19584": ["slot 9"], "lookup_returns": "slot 9"},
    },
)
def two_blocks_under_one_key() -> Values:
    buggy, fixed = _final_step(BUGGY), _final_step(FIXED)
    return {
        "buggy": {
            "blocks_from_slot_7": buggy.roles,
            "hash_19584": buggy.owners,
            "lookup_returns": buggy.returned,
        },
        "fixed": {
            "slot8": fixed.table[8] or None,
            "hash_19584": fixed.owners,
            "lookup_returns": fixed.returned,
        },
    }


@dataclass(frozen=True, slots=True)
class FinalStep:
    """The target's table in its last chunk, what its columns got, who owns the key of 19584."""

    table: tuple[int, ...]
    roles: list[str]
    owners: list[str]
    returned: str


def _final_step(rule_set: str) -> FinalStep:
    result = collision(rule_set, 23424, checkpointing())
    book = books(result)
    claims = book.of("target")
    table = book.tables[("target", claims[0].step)]
    again = next(resume for resume in book.resumes if resume.request == "again")
    return FinalStep(
        table=table,
        roles=[_role(result, column, block) for column, block in enumerate(table) if column >= 7],
        owners=[f"slot {claim.column}" for claim in claims],
        returned=f"slot {table.index(again.block)}",
    )


def _role(result: Run, column: int, block: int) -> str:
    """What the last write to the block by the target left in it."""
    writes = [
        event
        for event in result.events
        if isinstance(event, Write)
        and (event.request, event.group, event.column) == ("target", "state", column)
        and event.blocks[0] == block
    ]
    if not writes:
        return "unwritten"
    return "checkpoint" if writes[-1].end == 19584 else "running"


@case(
    "G000-03",
    stated={
        "buggy_cap": 3,
        "fixed_cap": 2,
        "taken_in_a_run": {"buggy": 3, "fixed": 2},
    },
)
def blocks_of_a_checkpoint_step() -> Values:
    steps = [replace(FINAL_STEP, running=running) for running in range(9, 40)]
    plain = {rule_set: _estimate_and_taken(rule_set) for rule_set in (BUGGY, FIXED, COUNTED)}
    return {
        "buggy_cap": max(estimate_counting_scratch(step) for step in steps),
        "buggy_taken": fresh_blocks_left(FINAL_STEP),
        "fixed_cap": max(fresh_blocks(step) for step in steps),
        "fixed_taken": fresh_blocks(FINAL_STEP),
        "estimate_equals_taken": {
            "buggy": _equal(plain[BUGGY]),
            "fixed": _equal(plain[FIXED]),
            "relocation_only_without_cap_change": _equal(plain[COUNTED]),
        },
        "taken_in_a_run": {"buggy": plain[BUGGY][2], "fixed": plain[FIXED][2]},
    }


def _equal(counts: tuple[int, int, int]) -> bool:
    return counts[0] == counts[1]


def _estimate_and_taken(rule_set: str) -> tuple[int, int, int]:
    """Estimate and taken blocks of the target's checkpoint step, and those of the state group."""
    events = collision(rule_set, 23424, checkpointing()).events
    step = next(
        e.step
        for e in events
        if isinstance(e, Schedule) and e.checkpoint_tokens and e.end == TARGET
    )
    tables = [e for e in events if isinstance(e, Table) and (e.step, e.request) == (step, "target")]
    estimate = sum(e.count for e in tables if e.op == TableOp.ESTIMATE)
    placed = [e for e in tables if e.op == TableOp.PLACE]
    state = sum(len(e.blocks) for e in placed if e.group == "state")
    return estimate, sum(len(e.blocks) for e in placed), state


@case("G000-06")
def controls_without_change() -> Values:
    geometry = checkpointing()
    attention_only = replace(
        geometry, groups=geometry.attention_groups, checkpoint_alignment_tokens=None
    )
    unexported = replace(geometry, checkpoint_alignment_tokens=None)
    return {
        "k0": purity(collision(BUGGY, 23424, replace(geometry, drafts=0))),
        "cache_mode_not_align": _difference(attention_only),
        "step_without_checkpoint": _difference(unexported),
        "k1_checkpoint_but_start_not_C_minus_B": purity(collision(BUGGY, 23440, geometry)),
    }


def _difference(geometry: Geometry) -> str:
    """Whether the fix changes any event."""
    buggy, fixed = (collision(rule_set, 23424, geometry).events[1:] for rule_set in (BUGGY, FIXED))
    return "unchanged" if buggy == fixed else "changed"

"""The worker: which state a step starts from, where it leaves it, and what drafts take back.

Names like R30 are public reports of what happened where it was not so."""

from dataclasses import replace
from itertools import product

import pytest

from truehit.spec.geometry import Geometry, Group, Kind, ReachOnly
from truehit.spec.scenario import Pressure, Request
from truehit.spec.trace import Complete, Copy, CopyWhy, Read, Schedule, Submit, TableOp, Write

from .room import (
    chunks,
    events,
    fine,
    hits,
    hybrid,
    in_turn,
    judged,
    keys,
    lawful,
    request,
    run,
    scenario,
    sends,
    tables,
)


def copies(asked_events: list[Copy], why: CopyWhy) -> list[tuple[int, int, int]]:
    """(step, source, target) of the state copies of one kind."""
    return [(e.step, e.source, e.target) for e in asked_events if e.why is why]


def state_writes(writes: list[Write], step: int) -> list[tuple[int, int, int, int]]:
    """(column, start, end, rejected) of the state writes of a step, in device order."""
    found = [e for e in writes if e.step == step and e.group == "state"]
    return [(e.column, e.start, e.end, e.rejected_tokens) for e in found]


def drafting(drafts: int, accepted: tuple[int, ...], prompt: int, output: int) -> Request:
    assert all(count <= drafts for count in accepted)
    return replace(request("r", f"doc:{prompt}", output=output), accepted=accepted)


def test_the_first_chunk_starts_from_the_zero_state_and_reads_nothing() -> None:
    """R15: a block of a previous tenant is the zero state to its next one."""
    geometry = replace(hybrid(4), pool_blocks=6)
    result = lawful(scenario(geometry, in_turn(request("a", "a:8"), request("b", "b:8"))))
    first = next(e for e in events(result, Write, "b") if e.group == "state")
    assert (first.source, first.start) == (None, 0)
    assert not [e for e in events(result, Read, "b") if e.step == first.step]
    assert first.blocks[0] in {block for e in events(result, Write, "a") for block in e.blocks}


def test_the_state_moves_to_the_new_running_column_before_the_chunk() -> None:
    result = lawful(scenario(hybrid(16), [request("r", "doc:40")]))
    (first, second, third) = [e for e in events(result, Write) if e.group == "state"]
    assert copies(events(result, Copy), CopyWhy.PRE) == [
        (1, first.blocks[0], second.blocks[0]),
        (2, second.blocks[0], third.blocks[0]),
    ]
    assert [e.source for e in (first, second, third)] == [
        None,
        second.blocks[0],
        third.blocks[0],
    ]


def test_a_chunk_inside_its_block_copies_nothing() -> None:
    result = lawful(scenario(hybrid(16), [request("r", "doc:12")], budgets=(5, 5, 5)))
    assert chunks(result, "r") == [(0, 0, 5), (1, 5, 10), (2, 10, 12)]
    assert events(result, Copy) == []


@pytest.mark.parametrize("hit", [16, 48])
def test_a_resume_reads_the_column_of_the_state_block_that_holds_the_position(hit: int) -> None:
    """R27: the column is counted in state blocks, not in the smallest block."""
    geometry = hybrid(16, 4)
    family = in_turn(request("p", f"doc:{hit}"), request("s", f"doc:{hit}", "x:9"))
    asked = scenario(geometry, family)
    result = lawful(asked)
    assert hits(result) == [0, hit]
    read = next(e for e in events(result, Read, "s") if e.group == "state")
    assert (read.column, read.tokens) == (hit // 16 - 1, hit)
    broken = next(
        e for e in events(run(asked, "seed-minimum-block"), Read, "s") if e.group == "state"
    )
    assert broken.column == hit // 4 - 1


def test_every_drafted_token_leaves_its_state_in_its_own_column() -> None:
    """k = 2: running column 1 after 17 tokens, the states after 18 and 19 behind it."""
    result = lawful(scenario(replace(hybrid(16), drafts=2), [drafting(2, (), 17, 4)]))
    assert state_writes(events(result, Write), 2) == [
        (3, 17, 20, 0),
        (2, 17, 19, 0),
        (1, 17, 18, 0),
    ]


def test_rejected_drafts_are_rolled_back_to_the_last_accepted_token() -> None:
    result = lawful(scenario(replace(hybrid(16), drafts=2), [drafting(2, (0, 1), 17, 4)]))
    assert state_writes(events(result, Write), 2) == [
        (3, 17, 18, 2),
        (2, 17, 18, 1),
        (1, 17, 18, 0),
    ]
    assert [(e.step, e.accepted) for e in events(result, Complete) if e.accepted] == [
        (2, (("r", 0),)),
        (3, (("r", 1),)),
    ]
    reads = [(e.step, e.column, e.tokens) for e in events(result, Read) if e.group == "state"]
    assert reads[1:] == [(2, 1, 17), (3, 1, 18)]


def test_a_state_accepted_on_a_block_edge_is_saved_in_the_blocks_own_column() -> None:
    """R30: 47 tokens, 3 scheduled, 1 draft accepted: state@48 goes to column 2, the run goes on."""
    result = lawful(scenario(replace(hybrid(16), drafts=2), [drafting(2, (0, 1), 46, 9)]))
    (saved,) = copies(events(result, Copy), CopyWhy.BOUNDARY)
    step, source, target = saved
    (running,) = [e for e in events(result, Write) if e.step == step and e.end == 48]
    assert (running.blocks[0], running.column) == (source, 3)
    assert (step, 48) in keys(result, "r")
    after = next(e for e in events(result, Read) if e.group == "state" and e.step == step + 1)
    assert after.tokens == 49
    assert target not in {e.blocks[0] for e in events(result, Write) if e.step > step}


def test_scratch_columns_exist_before_the_step_that_may_reach_them() -> None:
    """R33: 16 tokens and 3 drafts may reach 20 tokens; token 17 belongs to column 1."""
    result = lawful(scenario(replace(hybrid(16), drafts=3), [drafting(3, (0,), 16, 3)]))
    columns = [column for column, *_ in state_writes(events(result, Write), 1)]
    assert columns == [4, 3, 2, 1]


def test_a_narrower_step_takes_nothing_and_gives_nothing_back() -> None:
    """R34: 33 + 16 tokens were covered, then 34 + 1 are needed."""
    geometry = replace(hybrid(16), drafts=15, budget_tokens=64)
    asked = scenario(geometry, [drafting(15, (0,), 33, 9)], budgets=(64, 64, 64, 16, 1, 16))
    result = lawful(asked)
    narrow = next(e for e in events(result, Schedule) if e.step == 4)
    assert (narrow.start, narrow.end) == (34, 35)
    changed = [e.step for op in (TableOp.PLACE, TableOp.MOVE) for e in tables(result, "r", op)]
    assert 4 not in changed


def test_accepted_drafts_end_with_the_output() -> None:
    """Three drafts are accepted, two tokens are left: one token and one draft."""
    result = lawful(scenario(replace(hybrid(16), drafts=3), [drafting(3, (), 5, 3)]))
    assert [e.accepted for e in events(result, Complete) if e.accepted] == [(("r", 1),)]
    assert max(e.end for e in events(result, Write)) == 5 + 2


def test_a_checkpoint_is_written_beside_the_state_at_the_end_of_the_chunk() -> None:
    """Kept 32 lies inside [0, 40): one chunk leaves both states, nothing stops at 32."""
    geometry = replace(hybrid(16), checkpoint_alignment_tokens=16, retention=ReachOnly())
    result = lawful(scenario(geometry, [request("r", "doc:40")]))
    assert [(e.start, e.end, e.checkpoint_tokens) for e in events(result, Schedule)] == [
        (0, 40, 32)
    ]
    assert state_writes(events(result, Write), 0) == [(1, 0, 32, 0), (2, 0, 40, 0)]
    assert keys(result, "r") == [(0, 32)]


def test_scratch_left_below_a_checkpoint_is_published_unwritten() -> None:
    """The control of the plan's move: [6, 19) exports 12, and column 1 was scratch."""
    geometry = replace(hybrid(6, 4), checkpoint_alignment_tokens=6, retention=ReachOnly(), drafts=1)
    asked = scenario(geometry, [request("r", "doc:19")], budgets=(6,))
    assert chunks(lawful(asked), "r")[1] == (1, 6, 19)
    (moved,) = tables(lawful(asked), "r", TableOp.MOVE)
    assert moved.sources == (1,)
    broken = {v.law: v.sentence for v in judged(asked, "scratch-left").violations}
    assert broken["provenance"] == (
        "request r: column 1 is published as state@12 but holds nothing (step 1)"
    )


def test_copies_on_write_run_before_everything_else_of_the_step() -> None:
    geometry = fine(hybrid(16), 4)
    family = in_turn(request("p", "doc:20"), request("s", "doc:20", "x:9"))
    result = lawful(scenario(geometry, family))
    first = [e for e in events(result, Copy, "s") if e.why is CopyWhy.COPY_ON_WRITE]
    others = [e.order for e in events(result, Read, "s") if e.step == first[0].step]
    assert len([e for e in first if e.step == first[0].step]) == 2
    assert max(e.order for e in first if e.step == first[0].step) < min(others)


@pytest.mark.parametrize("steps_in_flight", [1, 2, 3])
@pytest.mark.parametrize(("block", "drafts"), [(2, 1), (4, 3), (6, 2)])
def test_every_acceptance_pattern_across_boundaries_generates_the_whole_output(
    block: int, drafts: int, steps_in_flight: int
) -> None:
    """Blocks of 2 to 6 tokens and 13 generated ones cross several edges with steps in flight."""
    geometry = replace(hybrid(block), drafts=drafts, steps_in_flight=steps_in_flight)
    for accepted in product(range(drafts + 1), repeat=3):
        prompt = block + sum(accepted) % 2
        result = lawful(scenario(geometry, [drafting(drafts, accepted, prompt, 13)]))
        assert result.served[0].ended == "finish"
        due = range(block, prompt + 13, block)
        assert [tokens for _, tokens in keys(result, "r")] == list(due), accepted


def test_circular_buffers_hold_one_block_and_have_no_keys() -> None:
    one = hybrid(4)
    geometry = replace(one, groups=(*one.groups, Group("ring", Kind.CIRCULAR_BUFFER, 2)))
    result = lawful(scenario(geometry, sends(13, 2)))
    assert hits(result) == [0, 12]
    for name in ("send-1", "send-2"):
        assert len(tables(result, name, TableOp.PLACE, "ring")) == 1
        assert keys(result, name, "ring") == []


def test_a_group_without_states_runs_alone() -> None:
    geometry = Geometry((Group("attention", Kind.FULL_ATTENTION, 16),), 16)
    assert hits(lawful(scenario(geometry, sends(40, 2)))) == [0, 32]


def test_states_without_attention_run_alone() -> None:
    geometry = Geometry((Group("state", Kind.RECURRENT_STATE, 16),), 16)
    result = lawful(scenario(geometry, sends(40, 2), Pressure(40, 1)))
    assert hits(result) == [0, 32]
    assert len(events(result, Submit)) == 2

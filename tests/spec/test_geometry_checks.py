"""Every impossible geometry is refused by one sentence, and the number it offers really works."""

import pickle
from dataclasses import dataclass, replace
from typing import Any

import pytest

from truehit.spec.geometry import (
    BlockDrop,
    DropCap,
    Geometry,
    Group,
    Interval,
    Kind,
    Lookahead,
    NoDrop,
)
from truehit.spec.geometry_checks import GeometryError, check

FULL = Group("full", Kind.FULL_ATTENTION, 1600, drafted=True)
STATE = Group("state", Kind.RECURRENT_STATE, 1600)
RING = Group("ring", Kind.CIRCULAR_BUFFER, 8)
WINDOW = Group("window", Kind.SLIDING_WINDOW, 400, window_tokens=1000)
HYBRID = Geometry(groups=(FULL, STATE), hash_unit_tokens=1600)
ATTENTION = Geometry(groups=(FULL,), hash_unit_tokens=1600)


@dataclass(frozen=True)
class Case:
    """`base` changed by `broken` is refused; changed by `repaired`, as proposed, it works."""

    name: str
    broken: dict[str, Any]
    field: str
    number: int | None
    works: str
    repaired: dict[str, Any]
    base: Geometry = HYBRID


def groups(*members: Group, **numbers: Any) -> dict[str, Any]:
    return {"groups": members, **numbers}


CASES = [
    Case("no groups", groups(), "groups", 0, "1 group works", groups(FULL)),
    Case(
        "duplicate names",
        groups(FULL, replace(STATE, name="full")),
        "groups[1].name",
        2,
        "'full-1' works",
        groups(FULL, replace(STATE, name="full-1")),
    ),
    Case(
        "empty name",
        groups(FULL, replace(STATE, name="")),
        "groups[1].name",
        0,
        "'group1' works",
        groups(FULL, replace(STATE, name="group1")),
    ),
    Case(
        "block not positive",
        groups(FULL, replace(STATE, block_tokens=0)),
        "groups[1].block_tokens",
        0,
        "1600 works",
        groups(FULL, replace(STATE, block_tokens=1600)),
    ),
    Case(
        "only circular buffers",
        groups(RING, replace(RING, name="ring-2")),
        "groups",
        2,
        "1 more group of another kind works",
        groups(RING, FULL),
    ),
    Case(
        "state groups on two grids",
        groups(FULL, STATE, Group("kda", Kind.RECURRENT_STATE, 3200)),
        "groups[2].block_tokens",
        3200,
        "1600 works",
        groups(FULL, STATE, Group("kda", Kind.RECURRENT_STATE, 1600)),
    ),
    Case(
        "window missing",
        groups(replace(WINDOW, window_tokens=None), hash_unit_tokens=400),
        "groups[0].window_tokens",
        None,
        "400 works",
        groups(replace(WINDOW, window_tokens=400), hash_unit_tokens=400),
    ),
    Case(
        "window not positive",
        groups(replace(WINDOW, window_tokens=-1), hash_unit_tokens=400),
        "groups[0].window_tokens",
        -1,
        "400 works",
        groups(replace(WINDOW, window_tokens=400), hash_unit_tokens=400),
    ),
    Case(
        "empty window",
        groups(replace(WINDOW, window_tokens=0), hash_unit_tokens=400),
        "groups[0].window_tokens",
        0,
        "400 works",
        groups(replace(WINDOW, window_tokens=400), hash_unit_tokens=400),
    ),
    Case(
        "no number at all",
        groups(replace(FULL, block_tokens=0), hash_unit_tokens=0),
        "groups[0].block_tokens",
        0,
        "1 works",
        groups(replace(FULL, block_tokens=1), hash_unit_tokens=1),
    ),
    Case(
        "window of another kind",
        groups(FULL, replace(STATE, window_tokens=64)),
        "groups[1].window_tokens",
        64,
        "leaving it out works",
        groups(FULL, STATE),
    ),
    Case(
        "window of a circular buffer",
        groups(FULL, replace(RING, window_tokens=64)),
        "groups[1].window_tokens",
        64,
        "leaving it out works",
        groups(FULL, RING),
    ),
    Case(
        "hash unit not positive",
        {"hash_unit_tokens": 0},
        "hash_unit_tokens",
        0,
        "1600 works",
        {"hash_unit_tokens": 1600},
    ),
    Case(
        "hash unit divides no block",
        {"hash_unit_tokens": 48},
        "hash_unit_tokens",
        48,
        "1600 works",
        {"hash_unit_tokens": 1600},
    ),
    Case(
        "hash unit divides one of two blocks",
        groups(replace(FULL, block_tokens=816), STATE, hash_unit_tokens=48, fine_hits=True),
        "hash_unit_tokens",
        48,
        "16 works",
        groups(replace(FULL, block_tokens=816), STATE, hash_unit_tokens=16, fine_hits=True),
    ),
    Case(
        "fine hits with a wide window block",
        groups(FULL, STATE, WINDOW, hash_unit_tokens=16, fine_hits=True),
        "groups[2].block_tokens",
        400,
        "16 works",
        groups(FULL, STATE, replace(WINDOW, block_tokens=16), hash_unit_tokens=16, fine_hits=True),
    ),
    Case(
        "kernel chunk not positive",
        {"kernel_chunk_tokens": 0},
        "kernel_chunk_tokens",
        0,
        "1 works",
        {"kernel_chunk_tokens": 1},
    ),
    Case(
        "kernel chunk does not divide the state block",
        {"kernel_chunk_tokens": 256},
        "kernel_chunk_tokens",
        256,
        "64 works",
        {"kernel_chunk_tokens": 64},
    ),
    Case(
        "maximum length without room",
        {"max_model_tokens": 1},
        "max_model_tokens",
        1,
        "2 works",
        {"max_model_tokens": 2},
    ),
    Case("negative drafts", {"drafts": -1}, "drafts", -1, "0 works", {"drafts": 0}),
    Case(
        "drafts cross a state block",
        {"drafts": 1600},
        "drafts",
        1600,
        "1599 works",
        {"drafts": 1599},
    ),
    Case(
        "nobody drops",
        groups(replace(FULL, drafted=False), STATE, drop=BlockDrop(DropCap.MARGIN)),
        "drop.groups",
        0,
        "1 drafted group works",
        groups(FULL, STATE, drop=BlockDrop(DropCap.MARGIN)),
    ),
    Case(
        "nobody could drop",
        groups(replace(STATE, drafted=True), drop=BlockDrop(DropCap.CLAMPED)),
        "drop.groups",
        0,
        "drop: none works",
        groups(replace(STATE, drafted=True), drop=NoDrop()),
    ),
    Case(
        "lookahead not positive",
        {"drop": Lookahead(0)},
        "drop.tokens",
        0,
        "1 works",
        {"drop": Lookahead(1)},
    ),
    Case(
        "lookahead of the maximum length",
        {"drop": Lookahead(4096), "max_model_tokens": 4096},
        "drop.tokens",
        4096,
        "4095 works",
        {"drop": Lookahead(4095), "max_model_tokens": 4096},
    ),
    Case(
        "interval not positive",
        {"retention": Interval(0)},
        "retention",
        0,
        "1600 works",
        {"retention": Interval(1600)},
    ),
    Case(
        "interval between the positions a lookup lands on",
        groups(replace(FULL, block_tokens=1200), STATE, hash_unit_tokens=400)
        | {"retention": Interval(4810)},
        "retention",
        4810,
        "9600 works",
        groups(replace(FULL, block_tokens=1200), STATE, hash_unit_tokens=400)
        | {"retention": Interval(9600)},
    ),
    Case(
        "interval off the state grid",
        groups(FULL, STATE, hash_unit_tokens=16, fine_hits=True, retention=Interval(1616)),
        "retention",
        1616,
        "3200 works",
        groups(FULL, STATE, hash_unit_tokens=16, fine_hits=True, retention=Interval(3200)),
    ),
    Case(
        "budget not positive",
        {"budget_tokens": 0},
        "budget_tokens",
        0,
        "1600 works",
        {"budget_tokens": 1600},
    ),
    Case(
        "budget below a decode step",
        {"budget_tokens": 3, "drafts": 3},
        "budget_tokens",
        3,
        "4 works",
        {"budget_tokens": 4, "drafts": 3},
    ),
    Case(
        "threshold not positive",
        {"long_prefill_threshold_tokens": 0},
        "long_prefill_threshold_tokens",
        0,
        "8192 works",
        {"long_prefill_threshold_tokens": 8192},
    ),
    Case(
        "no step in flight",
        {"steps_in_flight": 0},
        "steps_in_flight",
        0,
        "1 works",
        {"steps_in_flight": 1},
    ),
    Case("nothing may run", {"max_running": 0}, "max_running", 0, "1 works", {"max_running": 1}),
    Case(
        "checkpoints without a state",
        {"checkpoint_alignment_tokens": 64},
        "checkpoint_alignment_tokens",
        64,
        "leaving it out works",
        {},
        base=ATTENTION,
    ),
    Case(
        "checkpoint alignment not positive",
        {"checkpoint_alignment_tokens": 0, "kernel_chunk_tokens": 64},
        "checkpoint_alignment_tokens",
        0,
        "64 works",
        {"checkpoint_alignment_tokens": 64, "kernel_chunk_tokens": 64},
    ),
    Case(
        "checkpoint alignment above the grid",
        {"checkpoint_alignment_tokens": 1601},
        "checkpoint_alignment_tokens",
        1601,
        "1600 works",
        {"checkpoint_alignment_tokens": 1600},
    ),
    Case(
        "checkpoint inside a kernel chunk",
        {"checkpoint_alignment_tokens": 100, "kernel_chunk_tokens": 64},
        "checkpoint_alignment_tokens",
        100,
        "128 works",
        {"checkpoint_alignment_tokens": 128, "kernel_chunk_tokens": 64},
    ),
    Case("pool too small", {"pool_blocks": 3}, "pool_blocks", 3, "4 works", {"pool_blocks": 4}),
    Case(
        "pool too small for drafts, copies and checkpoints",
        {
            "pool_blocks": 8,
            "drafts": 3,
            "fine_hits": True,
            "checkpoint_alignment_tokens": 64,
        },
        "pool_blocks",
        8,
        "10 works",
        {
            "pool_blocks": 10,
            "drafts": 3,
            "fine_hits": True,
            "checkpoint_alignment_tokens": 64,
        },
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_refused_in_one_sentence(case: Case) -> None:
    with pytest.raises(GeometryError) as caught:
        check(replace(case.base, **case.broken))
    error = caught.value
    assert (error.field, error.number) == (case.field, case.number)
    value = "missing" if case.number is None else str(case.number)
    assert str(error).startswith(f"{case.field} is {value}: ")
    assert str(error).endswith(f"; {case.works}")
    assert "\n" not in str(error)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_the_sentence_offers_works(case: Case) -> None:
    check(replace(case.base, **case.repaired))


def test_the_smallest_numbers_work() -> None:
    """One token everywhere: nothing is refused that is merely small."""
    check(
        Geometry(
            groups=(
                Group("full", Kind.FULL_ATTENTION, 1),
                Group("state", Kind.RECURRENT_STATE, 1),
                Group("window", Kind.SLIDING_WINDOW, 1, window_tokens=1),
            ),
            hash_unit_tokens=1,
            drop=Lookahead(1),
            retention=Interval(1),
            budget_tokens=1,
            long_prefill_threshold_tokens=1,
            max_model_tokens=2,
            pool_blocks=1 + 2 + 2 + 3,
            checkpoint_alignment_tokens=1,
        )
    )


def test_at_least_twenty_kinds_are_refused() -> None:
    assert len({case.name for case in CASES}) == len(CASES) >= 20


def test_a_second_grid_is_compared_with_the_first() -> None:
    kda = Group("kda", Kind.RECURRENT_STATE, 3200)
    with pytest.raises(GeometryError, match="share one grid, and 'state' has 1600"):
        check(Geometry(groups=(FULL, STATE, kda), hash_unit_tokens=1600))


def test_a_drop_without_drafts_is_allowed() -> None:
    check(replace(HYBRID, drop=BlockDrop(DropCap.CLAMPED), drafts=0))


def test_an_error_survives_the_way_between_processes() -> None:
    error = GeometryError("drafts", -1, "drafts is -1: no; 0 works")
    copy = pickle.loads(pickle.dumps(error))
    assert (copy.field, copy.number, str(copy)) == (error.field, error.number, str(error))

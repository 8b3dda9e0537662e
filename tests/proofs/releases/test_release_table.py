"""The table of seven releases: what their splitters prove, and what breaks them, how small."""

import random

import pytest

from truehit.proofs.lift.agreement import agreement, concrete
from truehit.proofs.lift.concrete import extract
from truehit.proofs.releases import RELEASES, judge
from truehit.proofs.releases.chunk import SPLITTER
from truehit.proofs.releases.polish import cost, polish
from truehit.proofs.releases.questions import OBLIGATIONS, cover_text, questions
from truehit.proofs.releases.replay import inputs_of, replay
from truehit.proofs.releases.scope import EVERYWHERE, SCOPES, Scope, Sizes
from truehit.proofs.releases.subject import Reading, Subject
from truehit.proofs.solve import solve
from truehit.proofs.sources import open_release

pytestmark = pytest.mark.network

RLIMIT = 60_000_000
EQUAL = Sizes(grid=1600, read_grid=1600, unit=16)
UNEQUAL = Sizes(grid=1648, read_grid=816, unit=16)

# One letter an obligation, in the order of OBLIGATIONS: proved or refuted; one word a scope, in the
# order of SCOPES.
TABLE = {
    "vllm==0.26.0": "prrrrrp prrrrrp prrrrrp prrrrrp",
    "vllm==0.27.1": "pppprpp pppprpp prrrrrp prrrrpp",
    "vllm==0.29.0": "prpprpp prpprpp prrrrrp prrrrpp",
    "vllm==0.30.0": "prrrrpp prrrrpp prrrrrp prrrrpp",
    "vllm==0.31.0": "prrrrpp prrrrpp prrrrrp prrrrpp",
    "vllm==0.32.0": "prrrrpp prrrrpp prrrrrp prrrrpp",
    "vllm==0.33.0": "prrrrpp prrrrpp prrrrrp prrrrpp",
}
LETTERS = {"unsat": "p", "sat": "r", "unknown": "?"}


def test_the_table_covers_every_release() -> None:
    assert tuple(TABLE) == RELEASES


@pytest.mark.parametrize("released", RELEASES, indirect=True)
def test_verdicts_and_their_replay(released: Subject) -> None:
    """Every sat answer breaks the goal in CPython too, on the solver's own first model."""
    expected = TABLE[released.tree.name].split()
    for scope, letters in zip(SCOPES, expected, strict=True):
        asked = questions(released, scope)
        assert [question.obligation for question in asked] == list(OBLIGATIONS)
        assert solve(cover_text(asked[0]), RLIMIT).verdict == "sat"
        answers = [(question, solve(question.text, RLIMIT)) for question in asked]
        assert "".join(LETTERS[answer.verdict] for _, answer in answers) == letters
        for question, answer in answers:
            if answer.verdict == "sat":
                inputs = inputs_of(question.reading, answer.model)
                assert replay(released, question.obligation, inputs) is not None


@pytest.mark.parametrize("released", RELEASES[3:], indirect=True)
def test_the_managers_checkpoint_predicate_agrees_with_cpython(released: Subject) -> None:
    reading = released.read(Sizes(grid=8, read_grid=8, unit=2))
    generator = random.Random(3)
    exported = []
    for _ in range(2000):
        start, offered = 2 * generator.randrange(12), generator.randint(1, 30)
        total = start + offered + generator.randrange(2)
        model: dict[str, int | bool] = {
            **{"computed": start, "offered": offered, "budget": offered, "total": total},
            **{"prompt": total - generator.randrange(2), "alignment": generator.choice((1, 4, 6))},
            **{"junction": generator.randrange(40), "checkpoints": True},
            **{word: generator.random() < 0.5 for word in ("drop", "fine", "exact_junction")},
        }
        lifted = concrete(reading.domain, model, reading.words["exported"])
        assert lifted == released.run(inputs_of(reading, model)).exported
        exported.append(lifted)
    assert 200 < sum(exported) < 1800


@pytest.mark.parametrize("released", RELEASES, indirect=True)
def test_the_lifted_splitter_agrees_with_cpython(released: Subject) -> None:
    scopes: tuple[tuple[Scope, int], ...] = ((EVERYWHERE, 2000), (EQUAL, 2000), (UNEQUAL, 2000))
    for scope, samples in scopes:
        reading: Reading = released.read(scope)
        splitter = extract(released.tree, SPLITTER)
        found = agreement(reading.lifted[0], splitter, samples, seed=7)
        assert found.mismatches == ()
        assert found.defined > samples // 2


def test_the_oldest_release_is_broken_by_small_examples() -> None:
    """Each example is shown with its inputs and the splitter's answer, and replays."""
    report = judge(open_release("vllm==0.26.0"), "vllm==0.26.0")
    rows = {(row.obligation, row.domain): row for row in report.rows}
    assert len(rows) == len(OBLIGATIONS) * len(SCOPES)
    assert all(row.replayed == (row.verdict == "refuted locally") for row in report.rows)
    unaligned = rows["midblock", EVERYWHERE.label]
    assert (unaligned.inputs["grid"], unaligned.inputs["total"]) == (2, 3)
    assert (unaligned.inputs["computed"], unaligned.result) == (1, 2)
    assert unaligned.minimal
    livelock = rows["progress", EQUAL.label]
    assert (livelock.inputs["offered"], livelock.inputs["budget"], livelock.result) == (1, 1, 0)
    assert report.refused == ()
    assert report.lifted[0].file == "vllm/v1/core/sched/scheduler.py"


@pytest.mark.parametrize("released", ["vllm==0.26.0"], indirect=True)
def test_a_large_example_is_polished_to_a_small_one(released: Subject) -> None:
    large: dict[str, object] = {
        **{"grid": 1600, "read_grid": 1600, "unit": 16, "scheduler_block": 1600},
        **{"computed": 49_000, "local_hit": 37, "external_hit": 3, "offered": 600},
        **{"prompt": 49_699, "total": 49_700, "junction": 6789, "budget": 9000, "threshold": 8500},
        **{"drop": True, "fine": True},
    }
    found = replay(released, "midblock_strict", large)
    assert found is not None
    small = polish(released, "midblock_strict", large)
    assert replay(released, "midblock_strict", small) is not None
    words = ("local_hit", "external_hit", "junction", "threshold", "fine")
    assert not any(small[word] for word in words)
    assert (small["computed"], small["offered"], small["total"]) == (1599, 2, 1601)
    assert cost(small) < cost(large) // 5

"""The goals can fail: a splitter that answers anything breaks each of them, in every scope."""

import pytest

from truehit.proofs.lift import SourceTree, Unsupported
from truehit.proofs.releases import goals, judge
from truehit.proofs.releases.chunk import SPLITTER, Chunk
from truehit.proofs.releases.questions import DEFINED, GOALS, questions
from truehit.proofs.releases.replay import inputs_of, replay
from truehit.proofs.releases.scope import EVERYWHERE, SCOPES, Scope
from truehit.proofs.releases.subject import completed, subject
from truehit.proofs.solve import solve

SCHEDULER = "vllm/v1/core/sched/scheduler.py"
RLIMIT = 5_000_000


def tree(body: str) -> SourceTree:
    """A tree whose splitter has this body."""
    text = "class Scheduler:\n    def _mamba_block_aligned_split(\n"
    text += "        self, request, num_new_tokens, num_new_local_computed_tokens=0,\n"
    text += "        num_external_computed_tokens=0,\n    ):\n"
    return SourceTree("sample", {SCHEDULER: text + body})


def chunk(**words: object) -> Chunk:
    """A chunk at block 8, unit 2, with the given words."""
    sizes = {"grid": 8, "read_grid": 8, "unit": 2, "scheduler_block": 8}
    given = {"computed": 0, "offered": 30, "prompt": 40, "total": 40, "budget": 30}
    asked = completed({**sizes, **given, **words})
    answer = {"scheduled": words.get("scheduled", 8), "exported": words.get("exported", False)}
    return Chunk(**asked, **answer)  # type: ignore[arg-type]


# Goal, whether it holds, and the words that make it so.
CASES: tuple[tuple[str, bool, dict[str, object]], ...] = (
    ("range", True, {"scheduled": 0}),
    ("range", True, {"scheduled": 30}),
    ("range", False, {"scheduled": 31}),
    ("range", False, {"scheduled": -1}),
    ("endalign", True, {"scheduled": 0, "computed": 3}),
    ("endalign", True, {"scheduled": 16}),
    ("endalign", False, {"scheduled": 15}),
    ("endalign", True, {"scheduled": 30, "computed": 10}),
    ("endalign", True, {"scheduled": 5, "budget": 7}),
    ("endalign", True, {"scheduled": 5, "threshold": 7}),
    ("endalign", False, {"scheduled": 5, "budget": 8}),
    ("endalign", False, {"scheduled": 7, "computed": 4, "budget": 7}),
    ("endalign", True, {"scheduled": 13, "junction": 13, "exact_junction": True}),
    ("endalign", False, {"scheduled": 13, "junction": 13}),
    ("endalign", True, {"scheduled": 22, "prompt": 23, "total": 40, "fine": True}),
    ("endalign", False, {"scheduled": 22, "prompt": 23, "total": 40}),
    ("endalign", True, {"scheduled": 20, "prompt": 23, "total": 40, "fine": True, "drop": True}),
    ("endalign", False, {"scheduled": 20, "prompt": 23, "total": 40, "fine": True}),
    ("endalign", True, {"scheduled": 18, "prompt": 23, "total": 40, "fine": True, "lookahead": 4}),
    ("midblock_strict", True, {"scheduled": 30}),
    ("midblock_strict", True, {"scheduled": 5, "computed": 3}),
    ("midblock_strict", False, {"scheduled": 6, "computed": 3}),
    ("midblock", True, {"scheduled": 5, "local_hit": 3}),
    ("midblock", False, {"scheduled": 6, "external_hit": 3}),
    ("midblock", True, {"scheduled": 6, "computed": 3, "exported": True}),
    ("oneboundary", True, {"scheduled": 15}),
    ("oneboundary", False, {"scheduled": 16}),
    ("oneboundary", True, {"scheduled": 12, "computed": 3}),
    ("oneboundary", False, {"scheduled": 13, "computed": 3}),
    ("progress", True, {"scheduled": 0, "offered": 5}),
    ("progress", False, {"scheduled": 0, "offered": 8}),
    ("progress", False, {"scheduled": 0, "offered": 5, "budget": 5}),
    ("progress", False, {"scheduled": 0, "offered": 5, "threshold": 5}),
    ("progress", False, {"scheduled": 0, "offered": 5, "computed": 35}),
    ("progress", True, {"scheduled": 1, "offered": 8}),
)


@pytest.mark.parametrize(("goal", "holds", "words"), CASES)
def test_a_goal_says_what_it_says(goal: str, holds: bool, words: dict[str, object]) -> None:
    assert GOALS[goal](chunk(**words)) is holds


@pytest.mark.parametrize(
    "words",
    [
        *({word: -1} for word in ("computed", "local_hit", "external_hit", "junction")),
        *({word: -1} for word in ("lookahead", "threshold", "prompt")),
        *({"offered": 0}, {"total": 39}, {"computed": 40}, {"computed": 11}, {"budget": 29}),
        *({"alignment": 0}, {"fine": True, "scheduler_block": 2}),
    ],
)
def test_the_premise_leaves_out_what_no_scheduler_offers(words: dict[str, object]) -> None:
    assert goals.premise(chunk())
    assert not goals.premise(chunk(**words))


ANYTHING = tree("        return self.anything + 0\n")
SAFE = tree(
    """
        start = (
            request.num_computed_tokens
            + num_new_local_computed_tokens
            + num_external_computed_tokens
        )
        boundary = (start // self.cache_config.block_size + 1) * self.cache_config.block_size
        return min(num_new_tokens, boundary - start)
"""
)


@pytest.mark.parametrize("scope", SCOPES, ids=lambda scope: scope.label)
def test_a_free_answer_breaks_every_goal(scope: Scope) -> None:
    verdicts = {
        question.obligation: solve(question.text, RLIMIT).verdict
        for question in questions(subject(ANYTHING), scope)
    }
    assert verdicts == {name: "sat" for name in GOALS} | {DEFINED: "unsat"}


def test_an_input_without_a_word_is_shown_by_its_path() -> None:
    report = judge(ANYTHING, "sample")
    row = next(row for row in report.rows if row.obligation == "range")
    assert row.verdict == "refuted locally"
    assert row.result == row.inputs.get("self.anything", 0)


def test_a_splitter_that_stops_at_every_boundary_keeps_the_boundaries() -> None:
    verdicts = {
        question.obligation: solve(question.text, RLIMIT).verdict
        for question in questions(subject(SAFE), EVERYWHERE)
    }
    kept = {"range", "midblock", "midblock_strict", "oneboundary", "progress", "defined"}
    assert {name for name, verdict in verdicts.items() if verdict == "unsat"} == kept


def test_a_divisor_that_can_be_zero_is_undefined_and_replayed() -> None:
    judged = subject(tree("        return num_new_tokens // request.num_computed_tokens\n"))
    asked = next(q for q in questions(judged, SCOPES[1]) if q.obligation == DEFINED)
    answer = solve(asked.text, RLIMIT)
    assert answer.verdict == "sat"
    example = replay(judged, DEFINED, inputs_of(asked.reading, answer.model))
    assert example is not None
    assert example.scheduled is None
    assert example.inputs.get("computed", 0) == 0


def test_what_the_lifter_refuses_is_executed_and_named() -> None:
    loop = tree(
        """
        end = 0
        while end < num_new_tokens:
            end += 1
        return end
"""
    )
    report = judge(loop, "sample")
    assert all("While" in line and f"{SCHEDULER}:8" in line for line in report.refused)
    assert len(report.refused) == len(SCOPES)
    verdicts = {row.obligation: row.verdict for row in report.rows}
    assert verdicts["range"] == verdicts["progress"] == verdicts[DEFINED] == "checked"
    assert verdicts["midblock"] == verdicts["oneboundary"] == "refuted locally"
    assert all(row.domain.startswith("checked up to block 4") for row in report.rows)


def test_what_can_be_neither_lifted_nor_executed_is_unknown() -> None:
    strange = tree("        return self.planner.plan(request)\n")
    report = judge(strange, "sample")
    assert {row.verdict for row in report.rows} == {"unknown"}
    assert all("planner" in row.domain for row in report.rows)


def test_a_tree_without_a_splitter() -> None:
    with pytest.raises(Unsupported, match="no module of"):
        judge(SourceTree("sample", {}), "sample")
    with pytest.raises(Unsupported, match=SPLITTER.split(".")[-1]):
        judge(SourceTree("sample", {SCHEDULER: "class Scheduler:\n    pass\n"}), "sample")

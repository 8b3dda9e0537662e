"""A comparison says equal only what is proved equal, new only what was silent before, and shows
differences by their smallest input. Trees, findings and runs are made up; git and solvers run."""

import os
import subprocess
import venv
from dataclasses import replace
from pathlib import Path

import pytest

from truehit.adapters.vllm.audit.report import FindingRecord, KnownRecord
from truehit.adapters.vllm.compare import words
from truehit.adapters.vllm.compare.compare import added
from truehit.adapters.vllm.compare.findings import Matched, changed_defects, match
from truehit.adapters.vllm.compare.laws import Judged, Shown, Side, new_and_gone
from truehit.adapters.vllm.compare.library import Behaviour, Kept, Listed, Seen, behaviour, summed
from truehit.adapters.vllm.compare.markdown import markdown
from truehit.adapters.vllm.compare.report import (
    BehaviourRecord,
    CompareRecord,
    MatchedFinding,
    RuleRow,
)
from truehit.adapters.vllm.compare.rules import compare_rules
from truehit.adapters.vllm.compare.subjects import open_side
from truehit.adapters.vllm.driver import Driven
from truehit.adapters.vllm.layout import Layout
from truehit.adapters.vllm.problems import BuildError
from truehit.proofs.lift import SourceTree
from truehit.spec.geometry import Geometry, Group, Kind
from truehit.spec.scenario import Request, Scenario
from truehit.spec.tokens import Segment
from truehit.spec.trace import EngineError, Event, Lookup, Publish, Schedule

FILE = "vllm/v1/core/sched/scheduler.py"
SPLITTER = """
class Scheduler:
    def _mamba_block_aligned_split(self, request, num_new_tokens: int) -> int:
        start = request.num_computed_tokens
        block = self.cache_config.block_size
        end = start + num_new_tokens
        if end < request.num_prompt_tokens:
            end = end // block * block
        return max(end - start, 0)
"""
ALIGN = "            end = end // block * block"
REWRITTEN = SPLITTER.replace(ALIGN, "            end -= end % block")
SHIFTED = SPLITTER.replace("if end <", "if end <=")
AHEAD = SPLITTER.replace("start + num_new_tokens", "start + num_new_tokens - LOOK").replace(
    "LOOK", "self.num_hash_lookahead_tokens"
)
LOOP = SPLITTER.replace(ALIGN, "            while end % block:\n                end -= 1")


def tree(text: str, file: str = FILE) -> SourceTree:
    return SourceTree("made up", {file: text})


def rules(base: str, head: str) -> list[RuleRow]:
    return compare_rules(tree(base), tree(head))


def test_another_text_of_the_same_rule_is_proved_a_no_op() -> None:
    rows = rules(SPLITTER, REWRITTEN)
    assert [row.verdict for row in rows] == ["proved"] * len(rows)
    assert words.rule(rows[0]) == "proved a no-op for all unit | alignment | block"


def test_a_shifted_bound_is_shown_by_the_smallest_input() -> None:
    first = rules(SPLITTER, SHIFTED)[0]
    assert (first.verdict, first.minimal) == ("differ", True)
    assert words.rule(first) == (
        "they differ for all unit | alignment | block; smallest input: "
        "block 2, unit 1, offered 1, prompt 1, total 1, budget 1: base 1, head 0"
    )


def test_a_word_that_one_side_reads_is_neutral_first_and_then_free() -> None:
    shared, whole = rules(SPLITTER, AHEAD)[:2]
    assert (shared.verdict, shared.domain.split(", ")[-1]) == ("proved", "without lookahead")
    assert (whole.verdict, whole.inputs["lookahead"]) == ("differ", 1)


def test_a_text_that_raises_differs_from_one_that_answers() -> None:
    broken = SPLITTER.replace("        end =", "        assert start == 0\n        end =", 1)
    first = rules(SPLITTER, broken)[0]
    assert first.outcome is not None and first.inputs["computed"] == 1
    assert (first.verdict, first.domain, first.outcome.head) == (
        "differ",
        "all unit | alignment | block",
        "raises",
    )


@pytest.mark.parametrize(
    ("base", "verdict", "answers"),
    [(SPLITTER, "checked", None), (SHIFTED, "differ", ("0", "1"))],
)
def test_what_cannot_be_lifted_is_executed(
    base: str, verdict: str, answers: tuple[str, str] | None
) -> None:
    (row,) = rules(base, LOOP)
    assert row.verdict == verdict
    assert "blocks up to 4, executed in" in row.domain and "while" in row.reason.lower()
    assert answers == (None if row.outcome is None else (row.outcome.base, row.outcome.head))


def test_a_tree_without_a_splitter_is_not_compared() -> None:
    (row,) = rules(SPLITTER, "class Scheduler:\n    pass\n")
    assert row.verdict == "not compared"
    assert words.rule(row).startswith("not compared: ") and "split" in row.reason


def finding(class_: str, law: str, cause: str) -> FindingRecord:
    return FindingRecord(
        law=law,
        violation_class=class_,
        sentence=f"{law} is broken",
        certainty="replayed on the real scheduler",
        cause=cause,
        heals=[cause],
        avoid=[],
        repairs=[],
        scenario={"name": cause},
        story=[],
        test=None,
        scenario_number=1,
        seconds_to_find=None,
    )


def told(matched: Matched) -> dict[str, list[str]]:
    sides = {"new": matched.new, "gone": matched.gone, "unchanged": matched.unchanged}
    return {side: [one.cause for one in found] for side, found in sides.items()}


def test_only_what_is_silent_on_the_other_side_is_new_or_gone() -> None:
    both = finding("waste", "reach", "drafts")
    base = [both, finding("stall", "progress", "priorities"), finding("waste", "joint", "drafts")]
    head = [both, finding("corrupt", "grid", "checkpoints"), finding("corrupt", "seed", "a window")]

    def silent_on_base(one: FindingRecord) -> str | None:
        return None if one.cause == "a window" else "silent"

    def silent_on_head(one: FindingRecord) -> str | None:
        return None if one.law == "joint" else "silent"

    matched = match(base, head, on_base=silent_on_base, on_head=silent_on_head)
    assert told(matched) == {
        "new": ["checkpoints"],
        "gone": ["priorities"],
        "unchanged": ["drafts", "a window", "drafts"],
    }
    assert matched.new[0].evidence == "silent"


def test_a_repair_is_one_mechanism_whatever_law_shows_it() -> None:
    base = [finding("corrupt", "grid", "state-grid"), finding("waste", "reach", "drafts")]
    head = [finding("corrupt", "neutrality", "state-grid"), finding("waste", "joint", "drafts")]
    matched = match(base, head, lambda one: "silent", lambda one: "silent")
    assert told(matched) == {"new": ["drafts"], "gone": ["drafts"], "unchanged": ["state-grid"]}


def known(**status: str) -> list[KnownRecord]:
    named = {name.replace("_", "-"): word for name, word in status.items()}
    return [KnownRecord(defect=n, status=word, evidence="") for n, word in named.items()]


def test_defects_that_appear_and_vanish_have_their_class() -> None:
    changes = changed_defects(
        known(S1_grid="refuses", S2="present", S3="clean", S4="present"),
        known(S1_grid="present", S2="clean", S3="opt-in", S4="present"),
    )
    assert [(c.defect, c.violation_class, c.appears, c.vanishes) for c in changes] == [
        ("S1-grid", "corrupt", True, False),
        ("S2", "waste", False, True),
        ("S3", "waste", False, False),
    ]
    record = replace_record(defects=changes)
    assert record.new_classes == {"corrupt"}
    assert words.summary(record) == "new: 1 corrupt; gone: 1 waste; unchanged: nothing"


SCENARIO = Scenario(
    "made up",
    Geometry(
        (Group("attention", Kind.FULL_ATTENTION, 4), Group("state", Kind.RECURRENT_STATE, 4)),
        hash_unit_tokens=4,
    ),
    (Request("a", (Segment("doc", 10),)),),
)
RUN: tuple[Event, ...] = (
    Lookup(1, "a", 9, (), 4, 0, 4),
    Schedule(1, "a", 4, 8, 6, 10),
    Publish(1, "a", "state", ((8, 3),)),
    Publish(1, "a", "attention", ((4, 1), (8, 2))),
    Schedule(2, "a", 8, 8, 2, 10),
    Schedule(3, "a", 8, 10, 2, 10),
    Schedule(4, "a", 10, 11, 1, 10),
    Lookup(5, "a", 9, (), 8, 0, 8),
)


def test_behaviour_is_prefill_ends_states_and_the_first_hit() -> None:
    seen = behaviour(Driven(SCENARIO, {"version": "1"}, RUN))
    assert seen == Behaviour(None, None, {"a": Kept("8 10", "8", "4")})
    refused = behaviour(Driven(SCENARIO, {}, (EngineError(0, "no such geometry"),)))
    assert refused == Behaviour("no such geometry", None, {})
    failed = behaviour(Driven(SCENARIO, {"version": "1"}, (*RUN, EngineError(6, "died"))))
    assert failed == replace(seen, fault="died")


def test_differences_are_counted_by_request_and_shown_by_scenario() -> None:
    kept = Kept("8 10", "8", "4")
    base = Behaviour(None, None, {"a": kept, "b": kept})
    head = Behaviour(None, None, dict.fromkeys("ab", replace(kept, carve="10", hit="0")))
    refusing = Behaviour("too small", None, {})
    one, other = Listed("one", SCENARIO), Listed("other", SCENARIO)
    record = summed([Seen(one, base, head), Seen(other, refusing, base), Seen(one, base, base)])
    assert record.changes == {"carve": 2, "hit": 2, "start": 1}
    assert record.refused == {"base": 1}
    assert [(c.scenario, c.request, c.aspect, c.base, c.head) for c in record.first] == [
        ("one", "a", "carve", "8 10", "10"),
        ("one", "a", "hit", "4", "0"),
        ("other", "", "start", "refuses", "starts"),
    ]
    assert words.behaviour(record) == (
        "2 of 3 scenarios driven on both, 4 requests; refused 1 by base; "
        "differ: carve 2, hit 2, start 1"
    )
    assert set(record.files) == {"one", "other"}


def test_a_law_that_only_one_side_breaks_is_new_or_gone_behind_what_is_known() -> None:
    shown = [Shown(Listed("drawn 3", SCENARIO), "a", "a sentence")]
    served = frozenset({("drawn 3", "a")})
    commit, grid, reach = ("corrupt", "commit"), ("corrupt", "grid"), ("waste", "reach")
    plain = Judged(
        (),
        Side({grid: shown, commit: shown, reach: shown}, served),
        Side({grid: shown, commit: shown}, served),
    )
    mended = Judged(
        ("state-grid",),
        Side({}, served),
        Side({commit: shown, reach: shown, grid: shown}, served),
    )
    base = [finding(*commit, "state-grid"), finding(*grid, "drafts")]
    new, gone = new_and_gone([plain, mended], base, [])
    assert [(one.violation_class, one.law) for one in new] == [commit, reach]
    assert [(one.violation_class, one.law) for one in gone] == [reach]
    assert new[0].evidence == (
        "drawn 3 with state-grid mended; no drawn scenario breaks it so on the base"
    )
    assert gone[0].evidence == "drawn 3; no drawn scenario breaks it so on the head"
    stuck = Judged((), Side({}, frozenset({("drawn 3", "b")})), Side({commit: shown}, served))
    assert new_and_gone([stuck], [], []) == ([], [])
    assert added(new[:1], new) == new
    assert added([], new) == new


QUIET = CompareRecord(
    base="vllm==1",
    head="vllm==2",
    seed=0,
    scenarios=(1, 1),
    steps=(1, 1),
    new=[],
    gone=[],
    unchanged=[],
    defects=[],
    behaviour=BehaviourRecord(
        scenarios=1, driven_on_both=1, requests=1, refused={}, changes={}, first=[], files={}
    ),
    rules=[],
)


def replace_record(**changes: object) -> CompareRecord:
    return QUIET.model_copy(update=changes)


def test_markdown_is_safe_in_a_table_and_leads_with_what_is_new() -> None:
    new = MatchedFinding(
        violation_class="corrupt",
        law="grid",
        cause="",
        sentence="a|b <c>",
        evidence="silent on the base",
        scenario={},
    )
    text = markdown(replace_record(new=[new], unchanged=[new]))
    assert text.startswith("### truehit: `vllm==1` → `vllm==2`\n\n**new: 1 corrupt; gone: nothing;")
    assert "- **corrupt, grid**: a\\|b &lt;c> (silent on the base)" in text
    assert "<details><summary>Unchanged: 1</summary>" in text
    assert "New" not in markdown(QUIET)


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    """A cache whose dependencies are an environment without packages."""
    found = Layout(tmp_path / "cache", "key")
    venv.create(found.dependencies, with_pip=False, symlinks=True)
    return found


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Two commits, the first one tagged, and a change that is in neither."""
    folder = tmp_path / "checkout"
    (folder / "vllm").mkdir(parents=True)
    git(folder, "init", "--quiet")
    for number, text in enumerate(("'first'\n", "'second'\n")):
        (folder / "vllm" / "__init__.py").write_text(text, encoding="utf-8")
        git(folder, "add", ".")
        git(folder, "commit", "--quiet", "--message", text)
        if not number:
            git(folder, "tag", "v0.33.0")
    (folder / "vllm" / "__init__.py").write_text("'third'\n", encoding="utf-8")
    return folder


def git(folder: Path, *arguments: str) -> str:
    who = ("-c", "user.name=somebody", "-c", "user.email=somebody@example.invalid")
    kept = {name: text for name, text in os.environ.items() if not name.startswith("GIT_")}
    done = subprocess.run(
        ["git", *who, *arguments], cwd=folder, env=kept, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def quiet(line: str) -> None:
    """Progress that nobody reads."""


@pytest.mark.parametrize(
    ("commit", "text", "version"),
    [("v0.33.0", "'first'\n", "0.33.0"), ("HEAD", "'second'\n", "0.33.0+1.g")],
)
def test_a_commit_is_opened_beside_the_checkout(
    checkout: Path, layout: Layout, commit: str, text: str, version: str
) -> None:
    before = git(checkout, "status", "--porcelain")
    found = open_side(f"{checkout}@{commit}", quiet, layout)
    assert (found.package / "__init__.py").read_text(encoding="utf-8") == text
    assert found.package.is_relative_to(layout.root)
    assert found.version is not None and found.version.startswith(version)
    assert found.name == f"{checkout}@{git(checkout, 'rev-parse', f'{commit}^{{commit}}')[:10]}"
    assert git(checkout, "status", "--porcelain") == before
    assert (checkout / "vllm" / "__init__.py").read_text(encoding="utf-8") == "'third'\n"


def test_a_path_is_what_lies_there(checkout: Path, layout: Layout) -> None:
    found = open_side(str(checkout), quiet, layout)
    assert found.package == checkout / "vllm"
    assert found.name == str(checkout)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{0}@v9", "has no commit 'v9'"),
        ("{0}@--since=now", "has no commit '--since=now'"),
        ("{0}/nowhere@v0.33.0", "neither a release nor a folder"),
        ("0.33.0", "write vllm==0.33.0"),
    ],
)
def test_what_names_no_side_is_one_line(
    checkout: Path, layout: Layout, text: str, said: str
) -> None:
    with pytest.raises(BuildError, match=said) as raised:
        open_side(text.format(checkout), quiet, layout)
    assert "\n" not in str(raised.value)


def test_a_commit_without_the_package_is_refused(checkout: Path, layout: Layout) -> None:
    git(checkout, "rm", "-r", "--quiet", "--force", "vllm")
    git(checkout, "commit", "--quiet", "--message", "gone")
    with pytest.raises(BuildError, match="holds no folder vllm"):
        open_side(f"{checkout}@HEAD", quiet, layout)
    assert not list(layout.root.glob("commits/*"))

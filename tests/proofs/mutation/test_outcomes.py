"""What is accepted and what is not: survivors, claims, laws that stay silent."""

from pathlib import Path

import pytest

import truehit
from truehit.proofs.mutation.baseline import obligations_of
from truehit.proofs.mutation.fault import Fault
from truehit.proofs.mutation.judges import Asked, ask, drawn, judges, kept_sentence, shows
from truehit.proofs.mutation.outcome import Outcome, outcome, problem, score
from truehit.proofs.mutation.report import as_json, exit_code, lines, problems, rewritten
from truehit.proofs.mutation.run import Result, Wanted, chosen

ROOT = Path(__file__).parents[3]
PACKAGE = Path(truehit.__file__).parent
PLAIN = Fault("reference/pool.py", "a", "b", "pool: one")
EXCUSED = Fault("reference/pool.py", "a", "b", "pool: two", equivalent="nobody looks")


def of(fault: Fault, kind: str) -> Outcome:
    return outcome(fault, fault.what, (kind, "golden", "G000-01: 3, not 4", 0.5))


@pytest.mark.parametrize(
    ("fault", "kind", "status", "code"),
    [
        (PLAIN, "caught", "caught", 0),
        (PLAIN, "tested", "tested", 0),
        (PLAIN, "survived", "survived", 1),
        (PLAIN, "invalid", "invalid", 2),
        (EXCUSED, "survived", "equivalent", 0),
        (EXCUSED, "caught", "wrong claim", 1),
        (EXCUSED, "tested", "wrong claim", 1),
    ],
)
def test_status_and_exit_code(fault: Fault, kind: str, status: str, code: int) -> None:
    found = of(fault, kind)
    assert found.status == status
    assert exit_code(Result([found], [])) == code
    assert (problem(found) is None) == (code == 0)


def test_a_wrong_claim_says_who_saw_what() -> None:
    assert problem(of(EXCUSED, "caught")) == (
        "reference/pool.py: pool: two: claimed to be equivalent, but golden saw G000-01: 3, not 4"
    )


def test_a_generated_fault_that_does_not_load_is_only_counted() -> None:
    fault = Fault("reference/pool.py", "a", "b", "pool: f", line=1, operator="negation")
    assert exit_code(Result([of(fault, "invalid")], [])) == 0


def test_a_law_that_does_not_name_its_fault_is_a_problem() -> None:
    result = Result([of(PLAIN, "caught")], [("pool: one", "conservation")])
    assert problems(result) == ["pool: one: the law conservation says nothing of it"]
    assert exit_code(result) == 1


def test_the_score_is_of_what_can_be_noticed() -> None:
    kinds = ("caught", "caught", "caught", "survived")
    assert score([*(of(PLAIN, kind) for kind in kinds), of(EXCUSED, "survived")]) == 75.0


def test_tables_and_pages_have_the_figures() -> None:
    result = Result([of(PLAIN, "caught"), of(EXCUSED, "survived")], [])
    assert any(line.split()[:4] == ["reference", "pool", "2", "1"] for line in lines(result, 1.0))
    rooms = as_json(result, 1.0)["parts"][0]["rooms"]
    assert rooms[0] | {"planted": "2", "equivalent": "1", "score": "100.0%"} == rooms[0]
    page = "a\n<!-- figures -->\nformer\n<!-- end of figures -->\nb\n"
    text = rewritten(page, result, 1.0)
    assert "| reference pool | 2 | 1 | 0 | 1 |" in text and "nobody looks" in text
    assert "former" not in text and text.startswith("a\n") and text.endswith("b\n")
    with pytest.raises(ValueError, match="marks"):
        rewritten("nothing", result, 1.0)


# --- the judges -----------------------------------------------------------------------------------


def test_judges_are_content_with_the_oracle_as_it_is() -> None:
    assert [drawn(seed) for seed in range(6)] == [None] * 6
    assert shows("scratch-left") is None
    assert kept_sentence(ROOT / "tests/regressions/test_scratch_left.py").startswith("request r1:")


def test_the_first_judge_that_notices_something_is_named(tmp_path: Path) -> None:
    for path in (ROOT / "tests/regressions").glob("test_*.py"):
        text = path.read_text(encoding="utf-8").replace("state@6", "state@7")
        (tmp_path / path.name).write_text(text, encoding="utf-8")
    asked = [judge for judge in judges(Asked(tmp_path, (), None)) if judge.name == "regressions"]
    found = ask(asked)
    assert found is not None and found[0] == "regressions"
    assert "state@6 but holds nothing (step 1)', not" in found[1]


def test_only_obligations_that_lift_the_function_are_asked() -> None:
    text = (PACKAGE / "reference/rules/lookup.py").read_text(encoding="utf-8")
    line = text[: text.index("def lookup_cap")].count("\n") + 1
    behind = {
        "one": [("truehit/reference/rules/lookup.py", line)],
        "two": [("truehit/reference/rules/lookup.py", line + 5)],
        "three": [("truehit/reference/rules/plan.py", line)],
    }
    cap = Fault("reference/rules/lookup.py", "max(total - 1, 0)", "total", "lookup: cap")
    assert obligations_of(cap, text, behind) == ("one",)
    outside = Fault("reference/rules/lookup.py", "import dataclass", "import *", "lookup: top")
    assert obligations_of(outside, text, behind) == ("one", "two")


def test_faults_are_chosen_by_subject_and_words() -> None:
    wanted = Wanted(PACKAGE, ROOT, ("spec",), per_mille=0, words="law grid")
    names = [name for name, _ in chosen(wanted)]
    assert len(names) >= 5 and all(name.startswith("law grid: ") for name in names)
    more = chosen(Wanted(PACKAGE, ROOT, ("spec",), per_mille=1000))
    assert len(more) > 1000

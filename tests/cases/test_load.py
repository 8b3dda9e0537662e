"""A file that is no case is refused in one line; a scenario that must be refused is."""

import re
from pathlib import Path

import pytest

from truehit.proofs.cases import Refusal, load_cases, load_refusals
from truehit.proofs.cases.case import CaseError
from truehit.spec.scenario_file import ScenarioError, scenario_from_json

GOOD = """\
report: R02
lesson: what it teaches
derivation: why it is so
scenario:
  schema: 1
  name: small
  geometry:
    groups:
      - {name: full, kind: full_attention, block_tokens: 16}
      - {name: state, kind: recurrent_state, block_tokens: 16}
    hash_unit_tokens: 16
  requests:
    - {name: doc, segments: ["doc:20"]}
expect:
  hits: {doc: 0}
wrong:
  - {rules: v-pre, breaks: [reach]}
"""

MISTAKES = {
    "report: R02": ("report: '2'", "bad.yaml: report: String should match pattern '^R\\d\\d$'"),
    "hits:": ("hit:", "bad.yaml: : Value error, 'hit' is no facet; one of hits, "),
    ", breaks: [reach]": (
        "",
        "bad.yaml: wrong.0: Value error, v-pre shows 0 wrong values and breaks 0 laws; 1 works",
    ),
    "lesson: what it teaches\n": ("", "bad.yaml: lesson: Field required"),
    "hash_unit_tokens: 16": (
        "hash_unit_tokens: 5",
        "bad.yaml: scenario.geometry.hash_unit_tokens: is 5: it does not divide",
    ),
}


def test_a_good_file_is_a_case(tmp_path: Path) -> None:
    (tmp_path / "good.yaml").write_text(GOOD, encoding="utf-8")
    (case,) = load_cases(tmp_path)
    assert (case.name, case.report, case.scenario.name) == ("good", "R02", "small")
    assert [(c.rules, c.breaks) for c in case.wrong] == [("v-pre", ("reach",))]


@pytest.mark.parametrize("part", MISTAKES)
def test_a_bad_file_is_refused_in_one_line(tmp_path: Path, part: str) -> None:
    mistake, sentence = MISTAKES[part]
    assert part in GOOD
    (tmp_path / "bad.yaml").write_text(GOOD.replace(part, mistake), encoding="utf-8")
    with pytest.raises(CaseError) as caught:
        load_cases(tmp_path)
    assert str(caught.value).startswith(sentence)
    assert "\n" not in str(caught.value)


def test_a_folder_without_cases_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CaseError, match="holds 0 cases; 1 works"):
        load_cases(tmp_path)


@pytest.mark.parametrize("refusal", load_refusals(), ids=lambda refusal: refusal.name)
def test_a_scenario_that_must_be_refused_is(refusal: Refusal) -> None:
    with pytest.raises(ScenarioError) as caught:
        scenario_from_json(refusal.scenario)
    assert caught.value.path == refusal.path
    numbers = tuple(int(number) for number in re.findall(r"\d+", caught.value.sentence))
    assert numbers == refusal.numbers

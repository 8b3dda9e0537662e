"""The second solver: asked again about small texts, complete in its record, loud to disagree."""

import pickle

import pytest

from truehit.proofs.obligations import ask, recorded
from truehit.proofs.obligations.catalogue import BY_NAME, OBLIGATIONS
from truehit.proofs.prove import Disagreement, prove_one
from truehit.proofs.second import solve_again
from truehit.proofs.solve import text_sha256

SMALL = ("plan-provenance", "plan-uniqueness", "decode-held", "decode-boundary", "seed-column")
LEAST_SHARE = 0.9
"""cvc5 has no count of work to stop at: what it leaves open depends on the machine."""


def test_every_proof_is_recorded() -> None:
    known = recorded.read()
    texts = [text for obligation in OBLIGATIONS for text in ask.texts(obligation)]
    missing = [text for text in texts if text_sha256(text) not in known]
    assert missing == []
    decided = [text for text in texts if known[text_sha256(text)] == "unsat"]
    assert len(decided) >= LEAST_SHARE * len(texts)
    assert set(known.values()) <= {"unsat", "unknown"}


@pytest.mark.parametrize("name", SMALL)
def test_the_second_solver_agrees_now(name: str) -> None:
    for text in ask.texts(BY_NAME[name]):
        assert solve_again(text).verdict == "unsat"


def test_the_second_solver_finds_a_wrong_rule_too() -> None:
    obligation = BY_NAME["plan-provenance"]
    found = ask.control(obligation, obligation.controls[0])
    assert found.verdict == "refuted"
    assert solve_again(found.text).verdict == "sat"


def test_a_disagreement_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    (text,) = ask.texts(BY_NAME["seed-column"])
    monkeypatch.setattr(recorded, "read", lambda: {text_sha256(text): "sat"})
    with pytest.raises(Disagreement, match="z3 says unsat, cvc5 says sat"):
        prove_one("seed-column")


def test_a_disagreement_crosses_processes() -> None:
    sent = pickle.loads(pickle.dumps(Disagreement("one", "abcdef", "unsat", "sat")))
    assert str(sent) == "one: z3 says unsat, cvc5 says sat to text abcdef"


def test_an_answer_that_is_not_recorded_is_not_claimed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorded, "read", lambda: {})
    assert prove_one("seed-column").solvers["cvc5"] == "1 of 1 not recorded"

"""Every obligation is proved, every wrong rule it names is refuted, every case is possible."""

import pytest

from truehit.proofs.obligations.catalogue import BY_NAME, OBLIGATIONS
from truehit.proofs.obligations.obligation import Obligation
from truehit.proofs.prove import prove_all, prove_one

LAWS = {
    "provenance",
    "uniqueness",
    "grid",
    "seed",
    "reach",
    "joint",
    "admission",
    "commit",
    "progress",
    "ownership",
    "retirement",
}


@pytest.mark.parametrize("name", BY_NAME)
def test_obligation_holds(name: str) -> None:
    result = prove_one(name)
    assert result.verdict == "proved"
    assert [c for c in result.controls if c[1] != "refuted"] == []
    assert [c for c in result.covers if c[1] != "satisfied"] == []
    assert result.havoc == "refuted"
    assert result.holds
    assert result.solvers["z3"] == "proved"
    assert result.lifted and result.rlimit > 0


@pytest.mark.parametrize("obligation", OBLIGATIONS, ids=lambda o: o.name)
def test_obligation_is_complete(obligation: Obligation) -> None:
    assert obligation.controls and obligation.covers and obligation.encodings
    assert obligation.domain and obligation.subject
    assert obligation.law in LAWS


def test_names_are_unique() -> None:
    assert len(BY_NAME) == len(OBLIGATIONS)


def test_every_rule_law_has_an_obligation() -> None:
    assert {obligation.law for obligation in OBLIGATIONS} == LAWS


def test_results_arrive_in_order_with_progress() -> None:
    seen: list[str] = []
    names = ("seed-column", "plan-length", "admit-reservation")
    results = prove_all(lambda result: seen.append(result.name), names)
    assert [result.name for result in results] == seen == list(names)


def test_the_same_question_costs_the_same() -> None:
    first, second = prove_one("plan-provenance"), prove_one("plan-provenance")
    assert (first.text_sha256, first.rlimit) == (second.text_sha256, second.rlimit)


def test_nothing_to_prove_is_an_error() -> None:
    with pytest.raises(ValueError, match="no obligation"):
        prove_all(names=())

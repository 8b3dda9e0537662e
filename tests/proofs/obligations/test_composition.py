"""What one proof assumes is what another guarantees: the same functions, not two alike."""

from truehit.proofs.obligations.catalogue import BY_NAME
from truehit.proofs.obligations.obligation import Function, Obligation
from truehit.spec.predicates import decode, plan, split, table

GUARANTEES: dict[Function, str] = {
    split.suits_table: "splitter-suits-table",
    plan.is_plan: "table-plan-premise",
    plan.is_prefill_plan: "table-plan-premise",
}
"""Predicates that are assumed of a rule's answer, and the obligation that proves them of it."""


def premises(*names: str) -> set[Function]:
    return {function for name in names for function in BY_NAME[name].premise}


def test_what_the_table_assumes_of_a_chunk_is_what_the_splitter_guarantees() -> None:
    assert split.suits_table in premises("table-step", "table-plan-premise")
    assert split.suits_table in BY_NAME["splitter-suits-table"].goal


def test_what_the_plan_assumes_of_a_table_is_what_the_table_guarantees() -> None:
    for name, obligation in BY_NAME.items():
        if name.startswith("plan-"):
            assert {plan.is_plan, plan.is_prefill_plan} <= set(obligation.premise), name
    assert set(BY_NAME["table-plan-premise"].goal) == {plan.is_plan, plan.is_prefill_plan}


def test_every_assumption_about_an_answer_is_guaranteed_somewhere() -> None:
    for assumed, name in GUARANTEES.items():
        assert assumed in BY_NAME[name].goal
        assert not assumes_an_answer(BY_NAME[name], assumed)


def assumes_an_answer(obligation: Obligation, assumed: Function) -> bool:
    """The obligation that proves a predicate does not assume it."""
    return assumed in obligation.premise


def test_the_composed_proof_assumes_nothing_of_the_chunk() -> None:
    assumed = set(BY_NAME["table-composed"].premise)
    assert split.suits_table not in assumed
    assert {split.is_prefill, split.has_positions} <= assumed
    assert set(BY_NAME["splitter-suits-table"].premise) <= assumed


def test_decode_assumes_of_columns_what_tokens_guarantee() -> None:
    assert set(BY_NAME["decode-columns"].goal) == {decode.columns_close, decode.low_in_reach}
    called = set(decode.is_decode_plan.__code__.co_names)
    assert {"columns_close", "low_in_reach"} <= called
    assert decode.is_decode_plan in premises("decode-current", "decode-held", "decode-length")


def test_the_prefill_leaves_what_the_decode_starts_from() -> None:
    assert table.table_at in premises("decode-base", "table-step", "table-composed")

"""All obligations about our own rules, and which of them refutes which historic rule set."""

from collections.abc import Iterator

from truehit.proofs.obligations import decode, plan, reach, single, slots, split, table, visible
from truehit.proofs.obligations.obligation import Control, Obligation
from truehit.reference.ruleset import DEFAULT

OBLIGATIONS: tuple[Obligation, ...] = (
    *split.OBLIGATIONS,
    *plan.OBLIGATIONS,
    *table.OBLIGATIONS,
    *decode.OBLIGATIONS,
    *reach.OBLIGATIONS,
    *single.OBLIGATIONS,
    *visible.OBLIGATIONS,
    *slots.OBLIGATIONS,
)
BY_NAME: dict[str, Obligation] = {obligation.name: obligation for obligation in OBLIGATIONS}


def historic(obligation: Obligation) -> Iterator[Control]:
    """The controls of an obligation that are rule sets, not mutants of our own making."""
    return (control for control in obligation.controls if control.rules is not DEFAULT)


def refuters(rule_set_name: str) -> tuple[tuple[Obligation, Control], ...]:
    """The obligations that have a rule set among their controls; empty if none has."""
    return tuple(
        (obligation, control)
        for obligation in OBLIGATIONS
        for control in historic(obligation)
        if control.rules.name == rule_set_name
    )

"""commit as a small automaton: the writing step, the steps in flight, any later reading step."""

from truehit.proofs.obligations import mutants
from truehit.proofs.obligations.obligation import Control, Cover, Encoding, Obligation, Step
from truehit.reference.rules import visible
from truehit.reference.ruleset import RULE_SETS
from truehit.spec.predicates import visible as goals


def known_before(read_step: int, in_flight: int) -> int:
    """The step that is known complete when the reader's step begins."""
    return visible.complete_step(read_step - 1, in_flight)


def too_much_known_before(read_step: int, in_flight: int) -> int:
    """The same, by a rule that knows too much."""
    return mutants.too_much_known(read_step - 1, in_flight)


def several(in_flight: int, known_step: int) -> bool:
    return in_flight > 2 and known_step >= 0


def earliest(read_step: int, visible_from: int, in_flight: int) -> bool:
    """The first reader, with several steps in flight."""
    return read_step == visible_from and in_flight > 1


VISIBLE = Step(("visible_from",), visible.first_lookup)
KNOWN = Step(("known_step",), known_before)

OBLIGATIONS = (
    Obligation(
        "commit-order",
        "commit",
        "all steps and any number of steps in flight; a step that fails or whose request is "
        "preempted is known not to have run before any lookup could return its keys",
        (Encoding("all integers"),),
        (goals.is_write, goals.is_lookup),
        (VISIBLE, KNOWN),
        (goals.written_before, goals.outcome_known),
        ("visible_from",),
        (
            Control(
                "schedule-time-keys",
                RULE_SETS["schedule-time-keys"],
                (Step(("visible_from",), visible.first_lookup_at_schedule),),
            ),
            Control(
                "deferred by one step",
                steps=(Step(("visible_from",), visible.first_lookup_deferred),),
            ),
        ),
        (Cover("the first reader, steps in flight", earliest),),
    ),
    Obligation(
        "commit-known",
        "commit",
        "what is known complete when a step begins; any number of steps in flight",
        (Encoding("all integers"),),
        (),
        (KNOWN,),
        (goals.knows_just,),
        ("known_step",),
        (Control("too_much_known", steps=(Step(("known_step",), too_much_known_before),)),),
        (Cover("several steps in flight", several),),
    ),
)

"""reach and joint: what is kept is what a lookup of the same, a longer or a sibling prompt hits.

Every state position named here is materialised by `splitter-coverage`.
"""

from truehit.proofs.obligations import mutants
from truehit.proofs.obligations.landing import (
    CAP,
    DOMAIN,
    DROPPING,
    ENCODINGS,
    LANDING,
    LATER_LANDING,
    LEGAL,
    NO_DROP,
    OFFER,
    ONE_UNIT,
    PAIR,
    RESUME,
    UNEQUAL,
    group_steps,
    landing_of,
    shared_bound,
    unequal,
)
from truehit.proofs.obligations.obligation import (
    Control,
    Cover,
    Encoding,
    Function,
    Obligation,
    Step,
)
from truehit.reference import decide
from truehit.reference.rules import lookup, retain
from truehit.reference.ruleset import RULE_SETS
from truehit.spec.predicates import keep as keep_goals
from truehit.spec.predicates import lookup as goals
from truehit.spec.units import floor_to

KEPT_NAMES = {"prompt": "shared"}
KEPT = (
    Step(("replay",), retain.replay_reachable, KEPT_NAMES),
    Step(("extend",), retain.extend_reachable, KEPT_NAMES),
)
PREMISE: tuple[Function, ...] = (goals.is_lookup,)


def keeping(name: str, margin: Function, encoding: Encoding) -> Control:
    """A historic retention rule: the boundary, and a margin below it."""
    steps = (
        Step(("replay",), retain.replay_boundary, KEPT_NAMES),
        Step(("extend",), margin, KEPT_NAMES),
    )
    return Control(name, RULE_SETS[name], steps, encoding)


BOUNDARY_ONLY = keeping("boundary-only", retain.no_margin, DROPPING)
STATE_BLOCK = keeping("margin-state-block", retain.margin_state_block, PAIR)
OWN_BIT = keeping("margin-own-bit", retain.margin_own_bit, DROPPING)


def whole_offer(candidate: int) -> int:
    """The default: the state group is searched up to the offer itself."""
    return candidate


SEARCH = Step(("searched",), whole_offer, {"candidate": "landing"})
PRUNED = Control(
    "pruned-lookup",
    RULE_SETS["pruned-lookup"],
    (
        Step(
            ("searched",), lookup.pruned_candidate, {"candidate": "landing", "block": "state_block"}
        ),
    ),
)
PRUNED_LATER = (
    Step(
        ("later_landing",),
        lookup.pruned_candidate,
        {"candidate": "landing", "block": "state_block"},
    ),
)
RAISED = Control(
    "raised-candidate",
    RULE_SETS["raised-candidate"],
    (Step(("searched",), lookup.raised_candidate, {"candidate": "landing"}),),
    DROPPING,
)
RETRY = Step(("retried",), decide.resume_limit, {"candidate": "position", "limit": "cap"})
UNDROPPED = Control(
    "undropped",
    steps=(Step(("resume",), mutants.undropped, {"match": "match", "limit": "cap"}),),
    encoding=DROPPING,
)


# --- interesting cases ------------------------------------------------------------------------


def hits_something(landing: int) -> bool:
    return landing > 0


def ends_on_alignment(total: int, alignment: int, landing: int) -> bool:
    """A prompt that ends on the alignment, and hits."""
    return total % alignment == 0 and landing > 0


def loses_to_drop(landing: int, total: int, alignment: int) -> bool:
    """The drop costs a whole alignment unit."""
    return landing > 0 and landing + alignment < total


COVERS = (
    Cover("a hit", hits_something),
    Cover("a prompt that ends on the alignment", ends_on_alignment),
    Cover("a hit that the drop lowers", loses_to_drop, DROPPING),
)

OBLIGATIONS = (
    Obligation(
        "reach-offer",
        "reach",
        "a sibling that shares any number of tokens is offered what the formula says; " + DOMAIN,
        ENCODINGS,
        PREMISE,
        (*LANDING, *OFFER),
        (goals.lands_on, goals.recomputes_one),
        ("landing",),
        (UNDROPPED, Control("uncapped", steps=(Step(("cap",), mutants.uncapped),))),
        COVERS,
    ),
    Obligation(
        "reach-resend",
        "reach",
        "an unchanged prompt lands on a position that its first send kept; " + DOMAIN,
        ENCODINGS,
        (*PREMISE, goals.is_resend),
        (*LANDING, *LEGAL, *KEPT),
        (keep_goals.keeps_landing,),
        ("replay", "extend"),
        (BOUNDARY_ONLY, STATE_BLOCK, OWN_BIT),
        COVERS,
    ),
    Obligation(
        "reach-extension",
        "reach",
        "a longer prompt lands on a position that the shorter one kept; " + DOMAIN,
        ENCODINGS,
        (*PREMISE, goals.is_extension),
        (*LANDING, *LEGAL, *KEPT),
        (keep_goals.keeps_landing,),
        ("replay", "extend"),
        (BOUNDARY_ONLY, STATE_BLOCK),
        COVERS[:1],
    ),
    Obligation(
        "reach-later",
        "reach",
        "what one lookup is offered stays in reach of every later one that shares as much: a kept "
        "junction is hit by the next sibling; " + DOMAIN,
        ENCODINGS,
        (*PREMISE, goals.is_later),
        (*LANDING, *LATER_LANDING),
        (goals.lands_no_lower,),
        ("later_landing",),
        (Control("pruned_candidate", steps=PRUNED_LATER),),
        COVERS[:2],
    ),
    Obligation(
        "reach-sibling-periodic",
        "reach",
        "under dense or interval retention a sibling is within one period of its offer of a kept "
        "position; all lengths, units, alignments and periods that are multiples of them, one "
        "group dropping or none",
        (
            Encoding(
                "unit | period, one group drops",
                ("unit", "period"),
                ONE_UNIT | {"drop": "unit"},
                fixed={"other_drop": 0, "lookahead": 0},
            ),
            Encoding(
                "unit | period, no drop, any lookahead", ("unit", "period"), ONE_UNIT, fixed=NO_DROP
            ),
            *(
                Encoding(
                    f"{e.words}, period {3 * int(e.fixed['alignment'])}",
                    fixed={**e.fixed, "period": 3 * int(e.fixed["alignment"])},
                )
                for pair in UNEQUAL
                for e in unequal(*pair)
            ),
        ),
        PREMISE,
        (
            *LANDING,
            Step(("position",), floor_to, {"position_tokens": "landing", "unit_tokens": "period"}),
            Step(("published",), retain.is_published),
        ),
        (keep_goals.keeps_near,),
        ("published",),
        (Control("named_only", steps=(Step(("published",), mutants.named_only),)),),
        COVERS[:2],
    ),
    Obligation(
        "reach-kept-aligned",
        "reach",
        "kept positions are inside the prompt and positions a hit can have; " + DOMAIN,
        ENCODINGS,
        (keep_goals.is_prompt,),
        (
            Step(("prompt_cap",), goals.most_reused, {"total": "prompt"}),
            Step(("legal",), goals.offer_of, {"shared": "prompt", "limit": "prompt_cap"}),
            Step(("extension",), goals.offer_of, {"shared": "prompt", "limit": "prompt"}),
            Step(("replay",), retain.replay_reachable),
            Step(("extend",), retain.extend_reachable),
        ),
        (keep_goals.keeps_aligned, keep_goals.keeps_inside),
        ("replay", "extend"),
        (Control("keeps_last_token", steps=(Step(("replay",), mutants.keeps_last_token),)),),
        (Cover("something is kept", keep_goals.keeps_something, DROPPING),),
    ),
    Obligation(
        "reach-partial-key",
        "reach",
        "fine hits: a page key at a kept position plus the drop is inside the match of a resend or "
        "of an extension, and lands there; all lengths and units, no lookahead with the drop",
        (
            Encoding(
                "fine, the group drops",
                ("unit",),
                ONE_UNIT | {"drop": "unit"},
                fixed={"other_drop": 0, "lookahead": 0},
            ),
            Encoding("fine, no drop, any lookahead", ("unit",), ONE_UNIT, fixed=NO_DROP),
        ),
        (*PREMISE, goals.is_match),
        (
            *CAP,
            Step(("match_most",), lookup.match_limit),
            Step(("bound",), shared_bound),
            *OFFER,
            Step(("key",), goals.partial_key, {"position": "expected"}),
            RESUME,
            Step(("landing",), landing_of, {"resume_other": "resume"}),
        ),
        (goals.keys_reached, goals.lands_on),
        ("resume",),
        (Control("undropped", steps=(Step(("resume",), mutants.undropped, {"limit": "cap"}),)),),
        (Cover("a hit", hits_something),),
    ),
    Obligation(
        "joint-search",
        "joint",
        "the state group is searched up to exactly what attention offers; " + DOMAIN,
        ENCODINGS,
        PREMISE,
        (*LANDING, SEARCH),
        (goals.searches_offer,),
        ("searched",),
        (PRUNED, RAISED),
        COVERS,
    ),
    Obligation(
        "joint-retry",
        "joint",
        "a group asked again about a position it can resume at keeps it, so the joint hit is an "
        "intersection; " + DOMAIN,
        ENCODINGS,
        (*PREMISE, goals.is_candidate),
        (*CAP, *group_steps("", {}), RETRY),
        (goals.accepts,),
        ("retried",),
        (Control("drop-every-retry", RULE_SETS["drop-every-retry"], encoding=DROPPING),),
        (Cover("a lowered candidate", goals.is_lowered),),
    ),
)

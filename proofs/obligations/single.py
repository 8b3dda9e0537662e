"""Rules of one line each: the seed column, publication, pages, admission with reservations."""

from truehit.proofs.obligations import mutants
from truehit.proofs.obligations.obligation import Control, Cover, Encoding, Obligation, Step
from truehit.reference.rules import admit, retain, seed
from truehit.reference.ruleset import RULE_SETS
from truehit.spec.predicates import admit as admit_goals
from truehit.spec.predicates import keep as keep_goals
from truehit.spec.predicates import seed as seed_goals

INTEGERS = Encoding("all integers")


def owed_after(owed: int, whole: int, needed: int) -> int:
    """What is owed once the request is admitted and its first step has taken its blocks."""
    return owed + whole - needed


def free_after(free: int, needed: int) -> int:
    """What is free then."""
    return free - needed


def is_admitted(admitted: bool) -> bool:
    """The rule said yes."""
    return admitted


# --- interesting cases ------------------------------------------------------------------------


def on_boundary(position: int, block: int) -> bool:
    return position % block == 0


def periodic_only(position: int, replay: int, extend: int, junction: int, published: bool) -> bool:
    return published and position != replay and position != extend and position != junction


def grows(taken: int, held: int) -> bool:
    return taken > 1 and held > 1


def beside_others(owed: int, admitted: bool, later: int) -> bool:
    return admitted and owed > 0 and later > 0


def fills_pool(free: int, owed: int, whole: int) -> bool:
    return owed > 0 and whole + owed == free


def fills_now(free: int, needed: int, admitted: bool) -> bool:
    return admitted and needed == free and needed > 0


COLUMN = Step(("column",), seed.seed_column)
ADMITTED = Step(("admitted",), admit.fits_to_the_end)
NOW = Step(("admitted",), admit.fits_now)
AFTER = (Step(("owed_after",), owed_after), Step(("free_after",), free_after))
PUBLISHED = Step(("published",), retain.is_published)
PAGES = Step(("taken",), admit.pages_needed)
IN_PAGES = dict.fromkeys(("held", "taken", "column"), "block")
BLOCKS = Encoding("all blocks", ("block",), counted=IN_PAGES)

OBLIGATIONS = (
    Obligation(
        "seed-column",
        "seed",
        "all state blocks and positions above 0, aligned or not",
        (BLOCKS,),
        (seed_goals.is_resume,),
        (COLUMN,),
        (seed_goals.seeds_column,),
        ("column",),
        (
            Control(
                "seed-minimum-block",
                RULE_SETS["seed-minimum-block"],
                (Step(("column",), seed.seed_column, {"block": "minimum_block"}),),
                Encoding("minimum block 4 of 8", fixed={"block": 8, "minimum_block": 4}),
            ),
        ),
        (Cover("a position on a boundary", on_boundary),),
    ),
    Obligation(
        "keep-publication",
        "reach",
        "what gets a key is what the splitter takes for kept; all positions and periods",
        (
            Encoding("all periods", ("period",)),
            Encoding("no period", fixed={"period": 0}),
        ),
        (),
        (PUBLISHED,),
        (keep_goals.keeps_alike,),
        ("published",),
        (Control("published_below", steps=(Step(("published",), mutants.published_below),)),),
        (Cover("a periodic position", periodic_only),),
    ),
    Obligation(
        "admit-pages",
        "admission",
        "pages of one attention group; all blocks, lengths and pages held",
        (BLOCKS,),
        (admit_goals.is_growth,),
        (PAGES,),
        (admit_goals.pages_cover, admit_goals.pages_tight),
        ("taken",),
        (
            Control("pages_floored", steps=(Step(("taken",), mutants.pages_floored),)),
            Control("pages_padded", steps=(Step(("taken",), mutants.pages_padded),)),
        ),
        (Cover("several pages", grows),),
    ),
    Obligation(
        "admit-reservation",
        "admission",
        "with full-sequence reservation: once admitted, every later step of every admitted request "
        "fits, by induction over admissions and steps; a request never holds more than its whole "
        "(plan-retirement, decode-length, admit-pages)",
        (INTEGERS,),
        (
            admit_goals.is_admission,
            admit_goals.promises_kept,
            is_admitted,
            admit_goals.is_later_step_after,
        ),
        (ADMITTED, *AFTER),
        (admit_goals.first_step_fits, admit_goals.later_step_fits),
        ("admitted",),
        (Control("fits_now", steps=(Step(("admitted",), admit.fits_now),)),),
        (Cover("beside another request", beside_others),),
    ),
    Obligation(
        "admit-lets-in",
        "progress",
        "with full-sequence reservation: a request that fits beside everything owed is admitted",
        (INTEGERS,),
        (admit_goals.is_admission, admit_goals.room_for_all),
        (ADMITTED,),
        (admit_goals.lets_in,),
        ("admitted",),
        (Control("one_block_spare", steps=(Step(("admitted",), mutants.one_block_spare),)),),
        (Cover("to the last block", fills_pool),),
    ),
    Obligation(
        "admit-now",
        "admission",
        "without reservation: a step is admitted if and only if its blocks are there",
        (INTEGERS,),
        (admit_goals.is_admission,),
        (NOW,),
        (admit_goals.admits_exactly,),
        ("admitted",),
        (Control("one_block_spare", steps=(Step(("admitted",), mutants.one_block_spare),)),),
        (Cover("to the last block", fills_now),),
    ),
)

"""The splitter: range, progress, grid, mid-block, coverage of kept positions, checkpoints, cost.

One chunk of a prefill, from any start, so the proofs speak of every chunk of every prefill. The end
is final: budget, threshold and encoder limits are inside `offered`.
"""

from collections.abc import Mapping

from truehit.proofs.obligations import mutants
from truehit.proofs.obligations.obligation import (
    Control,
    Cover,
    Encoding,
    Function,
    Obligation,
    Step,
)
from truehit.reference import decide
from truehit.reference.rules import split
from truehit.reference.ruleset import RULE_SETS, BackOff, RuleSet
from truehit.spec.predicates import split as goals
from truehit.spec.predicates.keep import kept_at

UNPERIODIC = {"period": 0, "period_stop": 0}
PLAIN = {"checkpoint_alignment": 0}
EXPORTING = Encoding(
    "dense or interval, checkpoint alignment | grid | period",
    ("checkpoint_alignment", "grid", "period"),
)
PERIODIC = Encoding(
    "dense or interval, no checkpoints, grid | period", ("grid", "period"), fixed=PLAIN
)
EXPORTING_REACH = Encoding(
    "retention 0, checkpoint alignment | grid", ("checkpoint_alignment", "grid"), fixed=UNPERIODIC
)
REACH = Encoding("retention 0, no checkpoints, all grids", ("grid",), fixed=UNPERIODIC | PLAIN)
UNEQUAL = tuple(
    Encoding(
        f"grid {grid}, checkpoints every {every}, period {period}",
        fixed={"grid": grid, "checkpoint_alignment": every, "period": period},
    )
    for grid, every, period in ((1648, 64, 84048), (16, 6, 48), (12, 8, 24))
)
ENCODINGS = (EXPORTING, PERIODIC, EXPORTING_REACH, REACH, *UNEQUAL)
WITH_UNIT = Encoding("hash unit | grid", ("hash_unit", "grid"), fixed=UNPERIODIC | PLAIN)
WITH_MINIMUM = Encoding(
    "hash unit = minimum block | grid",
    ("minimum_block", "grid"),
    sizes={"hash_unit": "minimum_block"},
    fixed=UNPERIODIC | PLAIN,
)
SIZES = (
    "all state blocks B; retention 0, or dense or interval with any multiple of B for a period; "
    "no checkpoints, or any checkpoint alignment that divides B, or 64 in 1648, 6 in 16, 8 in 12; "
    "all starts, offers, prompts, kept positions and junctions"
)
CHUNKS = f"one prefill chunk, hence every one; {SIZES}"


def period_stop(start: int, period: int) -> int:
    """The periodic stop as the oracle asks for it."""
    return split.period_stop_after(start, period) if period else 0


def backs_off(rules: RuleSet, dropping: bool) -> bool:
    """The back-off of release splitters as the oracle asks for it."""
    return dropping and rules.back_off is BackOff.ONE_BLOCK


def our_chunk(q: split.SplitQuery) -> tuple[int, int]:
    """The default splitter's two answers."""
    end = split.chunk_end(q)
    return end, split.checkpoint(q, end)


STOP = Step(("period_stop",), period_stop)
BACK = Step(("backing_off",), backs_off)
CHUNK = Step(("end", "exported"), our_chunk)
SPLIT = (STOP, BACK, CHUNK)
PREMISE: tuple[Function, ...] = (goals.is_prefill, goals.has_positions)
OTHER = ("other_end", "other_exported")
OTHER_DROP = {name: f"other_{name}" for name in ("dropping", "backing_off", "boundary", "margin")}


def historic(name: str, encoding: Encoding, rename: Mapping[str, str]) -> Control:
    """A rule set's splitter as the oracle calls it."""
    chunk = Step(CHUNK.results, decide.chunk, rename)
    return Control(name, RULE_SETS[name], (chunk,), encoding)


BELOW_LAST = historic("aligned-below-last", WITH_UNIT, {})
MISALIGNED = historic("stop-from-misaligned", WITH_UNIT, {})
BACK_OFF = historic("one-block-back-off", WITH_UNIT, {})
EVERY_BOUNDARY = historic("v-hard", WITH_UNIT, {})
MINIMUM = historic("minimum-block-grid", WITH_MINIMUM, {"grid": "minimum_block"})


def mutant(function: Function, encoding: Encoding | None = None) -> Control:
    """A control of our own making."""
    return Control(function.__name__, steps=(Step(CHUNK.results, function),), encoding=encoding)


# --- interesting cases ------------------------------------------------------------------------


def exports_checkpoint(exported: int) -> bool:
    return exported > 0


def starts_inside(start: int, end: int, grid: int) -> bool:
    """From the middle of a block up to its end."""
    return start % grid != 0 and end % grid == 0


def stays_inside(start: int, end: int, prefill_end: int, grid: int) -> bool:
    """A block wider than the offer: the chunk starts and ends inside it."""
    return (
        start % grid != 0 and end % grid != 0 and end < prefill_end and end // grid == start // grid
    )


def ends_kept(end: int, prefill_end: int, replay: int) -> bool:
    return end == replay and end < prefill_end


def floors(start: int, offered: int, end: int, prefill_end: int) -> bool:
    """Offered tokens are given up for the grid."""
    return end < start + offered and end < prefill_end


def spans_blocks(start: int, end: int, grid: int) -> bool:
    return end > start + grid + grid


COVERS = (
    Cover("exports a checkpoint", exports_checkpoint),
    Cover("from inside a block to its end", starts_inside, REACH),
    Cover("a block wider than the offer", stays_inside, REACH),
    Cover("ends at a kept position", ends_kept, REACH),
    Cover("floored to the grid", floors, REACH),
    Cover("several blocks in one chunk", spans_blocks, REACH),
)


def about_chunk(
    name: str, law: str, goal: Function, controls: tuple[Control, ...], covers: tuple[Cover, ...]
) -> Obligation:
    """An obligation about any chunk, in all encodings."""
    return Obligation(
        name, law, CHUNKS, ENCODINGS, PREMISE, SPLIT, (goal,), CHUNK.results, controls, covers
    )


OBLIGATIONS = (
    about_chunk(
        "splitter-range", "progress", goals.within_offer, (mutant(mutants.one_too_far),), COVERS
    ),
    about_chunk(
        "splitter-progress",
        "progress",
        goals.progresses,
        (MISALIGNED, BACK_OFF, mutant(mutants.floor_and_defer)),
        COVERS[2:3],
    ),
    about_chunk("splitter-grid", "grid", goals.ends_well, (BELOW_LAST, MINIMUM), COVERS[3:5]),
    about_chunk(
        "splitter-mid-block",
        "grid",
        goals.stays_in_block,
        (BELOW_LAST, MINIMUM, mutant(mutants.exports_anywhere)),
        COVERS[1:3],
    ),
    about_chunk(
        "splitter-coverage",
        "grid",
        goals.passes_nothing_kept,
        (MISALIGNED, BACK_OFF, mutant(mutants.passes_stops)),
        (COVERS[0], COVERS[3], COVERS[5]),
    ),
    about_chunk(
        "splitter-checkpoint",
        "grid",
        goals.exports_kept,
        (mutant(mutants.exports_last_token),),
        COVERS[:1],
    ),
    about_chunk(
        "splitter-suits-table",
        "provenance",
        goals.suits_table,
        (BELOW_LAST, MINIMUM, mutant(mutants.exports_anywhere), mutant(mutants.floor_and_defer)),
        COVERS[:2],
    ),
    Obligation(
        "splitter-drop-independence",
        "grid",
        f"one prefill chunk cut twice, with and without a dropping group; {SIZES}",
        ENCODINGS,
        PREMISE,
        (
            *SPLIT,
            Step(("other_backing_off",), backs_off, {"dropping": "other_dropping"}),
            Step(OTHER, our_chunk, OTHER_DROP),
        ),
        (goals.same_chunk,),
        OTHER,
        (
            Control(
                "one-block-back-off",
                BACK_OFF.rules,
                (*BACK_OFF.steps, Step(OTHER, decide.chunk, OTHER_DROP)),
                WITH_UNIT,
            ),
        ),
        COVERS[:2],
    ),
    Obligation(
        "splitter-equal-geometry",
        "grid",
        "one prefill chunk on the state block and on the minimum block where the two are equal: "
        "a no-op; all blocks, retention 0 or periodic",
        (
            WITH_MINIMUM,
            Encoding("minimum | grid | period", ("minimum_block", "grid", "period"), fixed=PLAIN),
        ),
        (*PREMISE, goals.grids_equal),
        (*SPLIT, Step(OTHER, our_chunk, {"grid": "minimum_block"})),
        (goals.same_chunk,),
        OTHER,
        (
            Control(
                "floors_to_hash_unit",
                steps=(Step(OTHER, mutants.floors_to_hash_unit),),
                encoding=Encoding(
                    "hash unit | minimum block",
                    ("hash_unit", "minimum_block", "grid"),
                    fixed=UNPERIODIC | PLAIN,
                ),
            ),
        ),
        (
            Cover("from inside a block to its end", starts_inside),
            Cover("a block wider than the offer", stays_inside),
        ),
    ),
    Obligation(
        "splitter-cost",
        "progress",
        "a prefill chunk that starts on the grid and ends neither at a kept position nor at the "
        f"prefill's end uses all but less than one block of its offer; {SIZES}",
        ENCODINGS,
        (*PREMISE, goals.starts_on_grid),
        (*SPLIT, Step(("kept",), kept_at, {"position": "end"})),
        (goals.uses_offer,),
        ("end", "exported"),
        (
            EVERY_BOUNDARY,
            mutant(mutants.one_block_short),
        ),
        COVERS[3:5],
    ),
    Obligation(
        "splitter-cost-dense",
        "progress",
        "with kept positions on the grid (coarse hits) and at least a block offered, a prefill "
        f"from the grid has no more chunks than blocks; {SIZES}",
        ENCODINGS,
        (*PREMISE, goals.starts_on_grid, goals.kept_on_grid, goals.offers_block),
        SPLIT,
        (goals.block_each_chunk,),
        CHUNK.results,
        (
            MINIMUM,
            Control(
                "floors_to_hash_unit",
                steps=(Step(CHUNK.results, mutants.floors_to_hash_unit),),
                encoding=WITH_UNIT,
            ),
        ),
        (COVERS[0], COVERS[3]),
    ),
    Obligation(
        "splitter-period-stop",
        "grid",
        "the next multiple of a period above a position; all periods, positions from 0",
        (Encoding("all periods", ("period",)),),
        (goals.is_prefill,),
        (Step(("stop",), split.period_stop_after),),
        (goals.next_multiple,),
        ("stop",),
        (Control("this_period_stop", steps=(Step(("stop",), mutants.this_period_stop),)),),
        (
            Cover(
                "starts on a multiple",
                goals.starts_on_grid,
                Encoding("equal", ("period",), sizes={"grid": "period"}),
            ),
        ),
    ),
)

"""Which decision a named rule set makes where: the engine's own table.

The default is the design; every other name is a historic defect or a released variant, kept so that
a planted bug shows in both engines alike. Each value is the index in its family."""

from dataclasses import dataclass
from typing import Any

SPLIT_KEPT, SPLIT_BELOW_LAST, SPLIT_MISALIGNED, SPLIT_EVERY_BOUNDARY, SPLIT_RETENTION = range(5)
GRID_STATE, GRID_MINIMUM = range(2)
SCRATCH_MOVES, SCRATCH_LEFT = range(2)
ESTIMATE_PLAN, ESTIMATE_COUNTS_SCRATCH = range(2)
KEEP_REACHABLE, KEEP_BOUNDARY, KEEP_ALIGNMENT, KEEP_STATE_BLOCK, KEEP_OWN_BIT = range(5)
CANDIDATE_OFFER, CANDIDATE_PRUNED, CANDIDATE_RAISED = range(3)
DROP_ONCE, DROP_EVERY_RETRY = range(2)
VISIBLE_COMMIT, VISIBLE_DEFERRED, VISIBLE_SCHEDULE = range(3)


@dataclass(frozen=True, slots=True)
class Rules:
    """One value a decision; the defaults are the design."""

    split: int = SPLIT_KEPT
    split_grid: int = GRID_STATE
    backs_off: bool = False
    scratch: int = SCRATCH_MOVES
    estimate: int = ESTIMATE_PLAN
    keep: int = KEEP_REACHABLE
    seed_grid: int = GRID_STATE
    candidate: int = CANDIDATE_OFFER
    drop: int = DROP_ONCE
    visible: int = VISIBLE_COMMIT


def _released(split: int, keep: int = KEEP_BOUNDARY, **others: Any) -> Rules:
    """What released schedulers have in common: keys are filed when scheduled, readers wait."""
    return Rules(split=split, keep=keep, visible=VISIBLE_DEFERRED, **others)


RULES: dict[str, Rules] = {
    "default": Rules(),
    "aligned-below-last": Rules(split=SPLIT_BELOW_LAST, backs_off=True),
    "minimum-block-grid": Rules(split=SPLIT_MISALIGNED, split_grid=GRID_MINIMUM),
    "stop-from-misaligned": Rules(split=SPLIT_MISALIGNED),
    "one-block-back-off": Rules(split=SPLIT_MISALIGNED, backs_off=True),
    "scratch-left": Rules(scratch=SCRATCH_LEFT),
    "scratch-counted": Rules(estimate=ESTIMATE_COUNTS_SCRATCH),
    "boundary-only": Rules(keep=KEEP_BOUNDARY),
    "margin-state-block": Rules(keep=KEEP_STATE_BLOCK),
    "margin-own-bit": Rules(keep=KEEP_OWN_BIT),
    "margin-alignment": Rules(keep=KEEP_ALIGNMENT),
    "seed-minimum-block": Rules(seed_grid=GRID_MINIMUM),
    "pruned-lookup": Rules(candidate=CANDIDATE_PRUNED),
    "drop-every-retry": Rules(drop=DROP_EVERY_RETRY),
    "raised-candidate": Rules(candidate=CANDIDATE_RAISED),
    "schedule-time-keys": Rules(visible=VISIBLE_SCHEDULE),
    "v-pre": _released(SPLIT_BELOW_LAST, backs_off=True),
    "v-post": _released(SPLIT_MISALIGNED, backs_off=True),
    "v-post-minimum-grid": _released(SPLIT_MISALIGNED, backs_off=True, split_grid=GRID_MINIMUM),
    "v-post-scratch-left": _released(SPLIT_MISALIGNED, backs_off=True, scratch=SCRATCH_LEFT),
    "v-hard": _released(SPLIT_EVERY_BOUNDARY),
    "v-hard-back-off": _released(SPLIT_EVERY_BOUNDARY, backs_off=True),
    "v-hard-reach": _released(SPLIT_EVERY_BOUNDARY, KEEP_ALIGNMENT),
    "v-ret": _released(SPLIT_RETENTION, KEEP_ALIGNMENT),
    "v-post-reach": _released(SPLIT_MISALIGNED, KEEP_ALIGNMENT, backs_off=True),
    "v-post-reach-scratch-left": _released(
        SPLIT_MISALIGNED, KEEP_ALIGNMENT, backs_off=True, scratch=SCRATCH_LEFT
    ),
    "v-post-reach-scratch-counted": _released(
        SPLIT_MISALIGNED, KEEP_ALIGNMENT, backs_off=True, estimate=ESTIMATE_COUNTS_SCRATCH
    ),
    "v-post-margin-state-block": _released(SPLIT_MISALIGNED, KEEP_STATE_BLOCK, backs_off=True),
}
